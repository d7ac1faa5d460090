/* Stands in for libcudnn.so.9: takes graphs apart, checks that all is finished, named and given, and spends what the law of
 * fake.h says of the attention that it finds.  Another graph has no kernel. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/measure/device/cuda/attention.h"
#include "tests/calibrate/fake_cuda/fake.h"

#define DECLARE(result, name, arguments) result name arguments;
FR_DNN_FUNCTIONS(DECLARE)
#undef DECLARE

enum { BAD_PARAM = 2000, VALUES_MAX = 40, ATTRIBUTES_MAX = 12, WORKSPACE_B = 1 << 20 };

struct attribute {
    int name, type;
    int64_t n;
    unsigned char bytes[8 * VALUES_MAX];
};
struct descriptor {
    int kind;
    bool finished;
    int n;
    struct attribute attribute[ATTRIBUTES_MAX];
};
struct cudnnContext {
    int some;
};

#define MAY_FAIL()                                                                             \
    do {                                                                                       \
        unsigned code_ = fake_fault(__func__);                                                 \
        if (code_) return code_;                                                               \
    } while (0)

size_t cudnnGetVersion(void) { return 91900; }

const char *cudnnGetErrorString(cudnnStatus_t code) {
    (void)code;
    return "a fault on demand";
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
    static struct cudnnContext some;
    MAY_FAIL();
    *handle = &some;
    return 0;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
    (void)handle;
    MAY_FAIL();
    return 0;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
    MAY_FAIL();
    return handle && stream ? 0 : BAD_PARAM;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t kind,
                                           cudnnBackendDescriptor_t *made) {
    MAY_FAIL();
    struct descriptor *d = calloc(1, sizeof *d);
    d->kind = (int)kind;
    *made = d;
    return 0;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
    free(descriptor); /* also where it says that it failed, so that no test leaks */
    MAY_FAIL();
    return 0;
}

static size_t size_of(int type) {
    bool wide = type == FR_DNN_IS_HANDLE || type == FR_DNN_IS_INT64 ||
                type == FR_DNN_IS_POINTER || type == FR_DNN_IS_DESCRIPTOR;
    return wide ? 8 : type == FR_DNN_IS_BOOLEAN || type == FR_DNN_IS_CHAR ? 1 : 4;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t n,
                                       const void *values) {
    struct descriptor *d = descriptor;
    MAY_FAIL();
    if (!d || d->finished || d->n == ATTRIBUTES_MAX || n < 1 || n > VALUES_MAX || !values)
        return BAD_PARAM;
    struct attribute *a = &d->attribute[d->n++];
    a->name = (int)name, a->type = (int)type, a->n = n;
    memcpy(a->bytes, values, (size_t)n * size_of(a->type));
    return 0;
}

static const struct attribute *get(const struct descriptor *d, int name) {
    for (int i = 0; d && i < d->n; i++)
        if (d->attribute[i].name == name) return &d->attribute[i];
    return NULL;
}

static int64_t number(const struct descriptor *d, int name, int i) {
    const struct attribute *a = get(d, name);
    int64_t value = 0;
    int narrow = 0;
    if (!a || i >= a->n) return 0;
    if (size_of(a->type) == 8) {
        memcpy(&value, a->bytes + 8 * i, 8);
        return value;
    }
    memcpy(&narrow, a->bytes + (size_t)i * size_of(a->type), size_of(a->type));
    return narrow;
}

static const struct descriptor *at(const struct descriptor *d, int name, int i) {
    return (const struct descriptor *)(uintptr_t)number(d, name, i);
}

/* A descriptor is whole when all that it names is finished. */
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
    struct descriptor *d = descriptor;
    MAY_FAIL();
    if (!d || d->finished) return BAD_PARAM;
    for (int i = 0; i < d->n; i++)
        for (int k = 0; d->attribute[i].type == FR_DNN_IS_DESCRIPTOR && k < d->attribute[i].n;
             k++) {
            const struct descriptor *named = at(d, d->attribute[i].name, k);
            if (!named || !named->finished) return BAD_PARAM;
        }
    if (d->kind == FR_DNN_TENSOR &&
        (!get(d, FR_DNN_TENSOR_NAME) || get(d, FR_DNN_TENSOR_SIZES)->n != FR_DNN_AXES ||
         get(d, FR_DNN_TENSOR_STRIDES)->n != FR_DNN_AXES))
        return BAD_PARAM;
    d->finished = true;
    return 0;
}

/* Tensors that operations of the graph name. */
typedef void seen_fn(const struct descriptor *tensor, void *context);

static void each_tensor(const struct descriptor *graph, seen_fn *seen, void *context) {
    for (int i = 0; i < get(graph, FR_DNN_GRAPH_OPERATIONS)->n; i++) {
        const struct descriptor *o = at(graph, FR_DNN_GRAPH_OPERATIONS, i);
        for (int k = 0; k < o->n; k++) {
            const struct descriptor *t = at(o, o->attribute[k].name, 0);
            if (o->attribute[k].type == FR_DNN_IS_DESCRIPTOR && t->kind == FR_DNN_TENSOR)
                seen(t, context);
        }
    }
}

struct found {
    const struct descriptor *named[FR_ATTENTION_NAMES];
};

static void note(const struct descriptor *tensor, void *context) {
    struct found *found = context;
    int64_t name = number(tensor, FR_DNN_TENSOR_NAME, 0);
    if (name > 0 && name < FR_ATTENTION_NAMES) found->named[name] = tensor;
}

/* Sizes agree: heads of keys serve whole numbers of those of queries, of as many values each. */
static bool is_attention(const struct found *f) {
    const struct descriptor *q = f->named[FR_ATTENTION_Q], *k = f->named[FR_ATTENTION_K];
    if (!q || !k || !f->named[FR_ATTENTION_V] || !f->named[FR_ATTENTION_O] ||
        !f->named[FR_ATTENTION_STATS] || !f->named[FR_ATTENTION_SCALE])
        return false;
    return number(q, FR_DNN_TENSOR_SIZES, 3) == number(k, FR_DNN_TENSOR_SIZES, 2) &&
           number(q, FR_DNN_TENSOR_SIZES, 2) == number(k, FR_DNN_TENSOR_SIZES, 3) &&
           number(q, FR_DNN_TENSOR_SIZES, 1) % number(k, FR_DNN_TENSOR_SIZES, 1) == 0 &&
           number(q, FR_DNN_TENSOR_STRIDES, 3) == 1;
}

static double time_of(const struct found *f) {
    const struct descriptor *q = f->named[FR_ATTENTION_Q];
    bool backward = f->named[FR_ATTENTION_DQ] != NULL,
         causal = f->named[FR_ATTENTION_MASKED] != NULL;
    double sequence = (double)number(q, FR_DNN_TENSOR_SIZES, 2),
           width = (double)number(q, FR_DNN_TENSOR_SIZES, 3), keys = sequence;
    if (causal) keys /= 2;
    double flop = 4 * (double)number(q, FR_DNN_TENSOR_SIZES, 0) *
                  (double)number(q, FR_DNN_TENSOR_SIZES, 1) * sequence * keys * width;
    double time_s = flop * (1 + FAKE_HALF_KEYS / keys) / (FAKE_FLASH * FAKE_PEAK);
    if (backward) return 2.5 * time_s / FAKE_BACKWARD;
    return width < FAKE_EXPONENTIALS ? time_s * FAKE_EXPONENTIALS / width : time_s;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t capacity,
                                       int64_t *n, void *values) {
    const struct descriptor *d = descriptor;
    struct found found = {{NULL}};
    (void)type, (void)capacity;
    MAY_FAIL();
    if (!d || !d->finished) return BAD_PARAM;
    if (d->kind == FR_DNN_PLAN && name == FR_DNN_PLAN_WORKSPACE_B) {
        *(int64_t *)values = WORKSPACE_B;
        return 0;
    }
    if (d->kind != FR_DNN_HEURISTIC || name != FR_DNN_HEURISTIC_RESULTS) return BAD_PARAM;
    const struct descriptor *graph = at(d, FR_DNN_HEURISTIC_GRAPH, 0);
    each_tensor(graph, note, &found);
    *n = is_attention(&found);
    if (*n == 0) return 0;
    struct descriptor *first = *(void **)values;
    first->n = 1;
    first->attribute[0] = (struct attribute){
        .name = FR_DNN_HEURISTIC_GRAPH, .type = FR_DNN_IS_DESCRIPTOR, .n = 1};
    memcpy(first->attribute[0].bytes, &graph, sizeof graph);
    first->finished = true;
    return 0;
}

struct given {
    const struct descriptor *variants;
    bool all;
};

static void is_given(const struct descriptor *tensor, void *context) {
    struct given *given = context;
    int64_t name = number(tensor, FR_DNN_TENSOR_NAME, 0);
    bool found = get(tensor, FR_DNN_TENSOR_IS_VIRTUAL) != NULL;
    for (int i = 0; i < get(given->variants, FR_DNN_VARIANT_NAMES)->n; i++)
        found = found || (number(given->variants, FR_DNN_VARIANT_NAMES, i) == name &&
                          number(given->variants, FR_DNN_VARIANT_POINTERS, i) != 0);
    given->all = given->all && found;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t variants) {
    struct given given = {variants, true};
    struct found found = {{NULL}};
    MAY_FAIL();
    if (!handle || !((struct descriptor *)plan)->finished) return BAD_PARAM;
    const struct descriptor *configuration = at(plan, FR_DNN_PLAN_CONFIGURATION, 0),
                            *graph = at(configuration, FR_DNN_HEURISTIC_GRAPH, 0);
    each_tensor(graph, is_given, &given);
    if (!given.all || number(variants, FR_DNN_VARIANT_WORKSPACE, 0) == 0) return BAD_PARAM;
    each_tensor(graph, note, &found);
    fake_spend(time_of(&found), FAKE_PRODUCT);
    return 0;
}
