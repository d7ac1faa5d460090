#include "calibrate/measure/device/cuda/dnn_graph.h"
#include "calibrate/measure/device/cuda/remedy.h"

#include <stdbool.h>
#include <string.h>

enum { ALIGN_B = 16, ROW_AXIS = 2, COLUMN_AXIS = 3 };

/* The graph fails with the call @p what, unless it has failed before. */
static bool holds(struct fr_dnn_graph *g, cudnnStatus_t code, const char *what) {
    if (g->status != FR_OK) return false;
    if (code == FR_DNN_OK) return true;
    bool lacks = code / 1000 == FR_DNN_NOT_SUPPORTED / 1000;
    g->status = fr_fail(g->err, lacks ? FR_ERR_UNSUPPORTED : FR_ERR_EXTERNAL, "cuDNN",
                        "%s: %s, code %u%s", what, g->api->cudnnGetErrorString(code), code,
                        fr_remedy(FR_REMEDY_DNN, code));
    return false;
}

static cudnnBackendDescriptor_t make(struct fr_dnn_graph *g, int kind) {
    cudnnBackendDescriptor_t made = NULL;
    if (g->status != FR_OK) return NULL;
    if (g->n_made == FR_DNN_MADE_MAX) {
        g->status = fr_fail(g->err, FR_ERR_EXTERNAL, "cuDNN", "the graph is too large");
        return NULL;
    }
    if (!holds(g,
               g->api->cudnnBackendCreateDescriptor((cudnnBackendDescriptorType_t)kind, &made),
               "cudnnBackendCreateDescriptor"))
        return NULL;
    g->made[g->n_made++] = made;
    return made;
}

static void set(struct fr_dnn_graph *g, cudnnBackendDescriptor_t of, int name, int type,
                int64_t n, const void *values) {
    if (g->status != FR_OK) return;
    holds(g,
          g->api->cudnnBackendSetAttribute(of, (cudnnBackendAttributeName_t)name,
                                           (cudnnBackendAttributeType_t)type, n, values),
          "cudnnBackendSetAttribute");
}

static void set_one(struct fr_dnn_graph *g, cudnnBackendDescriptor_t of, int name, int type,
                    int value) {
    set(g, of, name, type, 1, &value);
}

static void set_tensor(struct fr_dnn_graph *g, cudnnBackendDescriptor_t of, int name,
                       cudnnBackendDescriptor_t tensor) {
    if (tensor) set(g, of, name, FR_DNN_IS_DESCRIPTOR, 1, &tensor);
}

static void finish(struct fr_dnn_graph *g, cudnnBackendDescriptor_t of) {
    if (g->status == FR_OK) holds(g, g->api->cudnnBackendFinalize(of), "cudnnBackendFinalize");
}

static struct fr_dnn_tensor tensor(struct fr_dnn_graph *g, int64_t name, int type,
                                   const int64_t size[FR_DNN_AXES],
                                   const int64_t stride[FR_DNN_AXES], int flag) {
    struct fr_dnn_tensor made = {.descriptor = make(g, FR_DNN_TENSOR)};
    const int64_t align_B = ALIGN_B;
    const bool yes = true;
    memcpy(made.size, size, sizeof made.size);
    memcpy(made.stride, stride, sizeof made.stride);
    set(g, made.descriptor, FR_DNN_TENSOR_NAME, FR_DNN_IS_INT64, 1, &name);
    set_one(g, made.descriptor, FR_DNN_TENSOR_TYPE, FR_DNN_IS_DATA_TYPE, type);
    set(g, made.descriptor, FR_DNN_TENSOR_SIZES, FR_DNN_IS_INT64, FR_DNN_AXES, size);
    set(g, made.descriptor, FR_DNN_TENSOR_STRIDES, FR_DNN_IS_INT64, FR_DNN_AXES, stride);
    set(g, made.descriptor, FR_DNN_TENSOR_ALIGNMENT, FR_DNN_IS_INT64, 1, &align_B);
    if (flag) set(g, made.descriptor, flag, FR_DNN_IS_BOOLEAN, 1, &yes);
    finish(g, made.descriptor);
    return made;
}

struct fr_dnn_tensor fr_dnn_stored(struct fr_dnn_graph *g, int64_t name, int type,
                                   const int64_t size[FR_DNN_AXES],
                                   const int64_t stride[FR_DNN_AXES]) {
    return tensor(g, name, type, size, stride, 0);
}

struct fr_dnn_tensor fr_dnn_value(struct fr_dnn_graph *g, int64_t name) {
    static const int64_t one[FR_DNN_AXES] = {1, 1, 1, 1};
    return tensor(g, name, FR_DNN_FP32, one, one, FR_DNN_TENSOR_IS_VALUE);
}

/* Within the kernel alone, row by row. */
static struct fr_dnn_tensor within(struct fr_dnn_graph *g, int type,
                                   const int64_t size[FR_DNN_AXES]) {
    const int64_t stride[FR_DNN_AXES] = {size[1] * size[2] * size[3], size[2] * size[3],
                                         size[3], 1};
    return tensor(g, --g->last_name, type, size, stride, FR_DNN_TENSOR_IS_VIRTUAL);
}

static void append(struct fr_dnn_graph *g, cudnnBackendDescriptor_t operation) {
    finish(g, operation);
    if (g->status != FR_OK) return;
    if (g->n_operations == FR_DNN_OPERATIONS_MAX)
        g->status = fr_fail(g->err, FR_ERR_EXTERNAL, "cuDNN", "the graph is too large");
    else
        g->operation[g->n_operations++] = operation;
}

struct pointwise {
    int mode, type; /* of the arithmetic */
    int64_t axis;   /* of an index */
    cudnnBackendDescriptor_t x, b, t, y;
};

static void pointwise(struct fr_dnn_graph *g, const struct pointwise *p) {
    cudnnBackendDescriptor_t how = make(g, FR_DNN_POINTWISE);
    set_one(g, how, FR_DNN_POINTWISE_MODE, FR_DNN_IS_POINTWISE, p->mode);
    set_one(g, how, FR_DNN_POINTWISE_TYPE, FR_DNN_IS_DATA_TYPE, p->type);
    if (p->mode == FR_DNN_INDEX)
        set(g, how, FR_DNN_POINTWISE_AXIS, FR_DNN_IS_INT64, 1, &p->axis);
    finish(g, how);
    cudnnBackendDescriptor_t operation = make(g, FR_DNN_DO_POINTWISE);
    set_tensor(g, operation, FR_DNN_POINTWISE_HOW, how);
    set_tensor(g, operation, FR_DNN_POINTWISE_X, p->x);
    set_tensor(g, operation, FR_DNN_POINTWISE_B, p->b);
    set_tensor(g, operation, FR_DNN_POINTWISE_T, p->t);
    set_tensor(g, operation, FR_DNN_POINTWISE_Y, p->y);
    append(g, operation);
}

void fr_dnn_combine_to(struct fr_dnn_graph *g, int mode, struct fr_dnn_tensor x,
                       struct fr_dnn_tensor b, struct fr_dnn_tensor y) {
    pointwise(g, &(struct pointwise){.mode = mode,
                                     .type = FR_DNN_FP32,
                                     .x = x.descriptor,
                                     .b = b.descriptor,
                                     .y = y.descriptor});
}

struct fr_dnn_tensor fr_dnn_combine_as(struct fr_dnn_graph *g, int mode, struct fr_dnn_tensor x,
                                       struct fr_dnn_tensor b, int type) {
    struct fr_dnn_tensor y = within(g, type, x.size);
    fr_dnn_combine_to(g, mode, x, b, y);
    return y;
}

struct fr_dnn_tensor fr_dnn_combine(struct fr_dnn_graph *g, int mode, struct fr_dnn_tensor x,
                                    struct fr_dnn_tensor b) {
    return fr_dnn_combine_as(g, mode, x, b, FR_DNN_FP32);
}

struct fr_dnn_tensor fr_dnn_map(struct fr_dnn_graph *g, int mode, struct fr_dnn_tensor x) {
    return fr_dnn_combine(g, mode, x, (struct fr_dnn_tensor){.descriptor = NULL});
}

void fr_dnn_copy_to(struct fr_dnn_graph *g, struct fr_dnn_tensor x, struct fr_dnn_tensor y) {
    fr_dnn_combine_to(g, FR_DNN_IDENTITY, x, (struct fr_dnn_tensor){.descriptor = NULL}, y);
}

static struct fr_dnn_tensor number(struct fr_dnn_graph *g, struct fr_dnn_tensor x,
                                   int64_t axis) {
    struct fr_dnn_tensor y = within(g, FR_DNN_INT32, x.size);
    pointwise(g, &(struct pointwise){.mode = FR_DNN_INDEX,
                                     .type = FR_DNN_FP32,
                                     .axis = axis,
                                     .x = x.descriptor,
                                     .y = y.descriptor});
    return y;
}

struct fr_dnn_tensor fr_dnn_lower(struct fr_dnn_graph *g, struct fr_dnn_tensor x,
                                  struct fr_dnn_tensor other) {
    struct fr_dnn_tensor row = number(g, x, ROW_AXIS), column = number(g, x, COLUMN_AXIS);
    struct fr_dnn_tensor meets = within(g, FR_DNN_BOOLEAN, x.size);
    pointwise(g, &(struct pointwise){.mode = FR_DNN_AT_LEAST,
                                     .type = FR_DNN_BOOLEAN,
                                     .x = row.descriptor,
                                     .b = column.descriptor,
                                     .y = meets.descriptor});
    struct fr_dnn_tensor y = within(g, FR_DNN_FP32, x.size);
    pointwise(g, &(struct pointwise){.mode = FR_DNN_SELECT,
                                     .type = FR_DNN_FP32,
                                     .x = x.descriptor,
                                     .b = other.descriptor,
                                     .t = meets.descriptor,
                                     .y = y.descriptor});
    return y;
}

void fr_dnn_reduce_to(struct fr_dnn_graph *g, int mode, struct fr_dnn_tensor x,
                      struct fr_dnn_tensor y) {
    cudnnBackendDescriptor_t how = make(g, FR_DNN_REDUCTION);
    set_one(g, how, FR_DNN_REDUCTION_MODE, FR_DNN_IS_REDUCTION, mode);
    set_one(g, how, FR_DNN_REDUCTION_TYPE, FR_DNN_IS_DATA_TYPE, FR_DNN_FP32);
    finish(g, how);
    cudnnBackendDescriptor_t operation = make(g, FR_DNN_DO_REDUCTION);
    set_tensor(g, operation, FR_DNN_REDUCTION_HOW, how);
    set_tensor(g, operation, FR_DNN_REDUCTION_X, x.descriptor);
    set_tensor(g, operation, FR_DNN_REDUCTION_Y, y.descriptor);
    append(g, operation);
}

struct fr_dnn_tensor fr_dnn_reduce(struct fr_dnn_graph *g, int mode, struct fr_dnn_tensor x) {
    const int64_t size[FR_DNN_AXES] = {x.size[0], x.size[1], x.size[2], 1};
    struct fr_dnn_tensor y = within(g, FR_DNN_FP32, size);
    fr_dnn_reduce_to(g, mode, x, y);
    return y;
}

void fr_dnn_product_to(struct fr_dnn_graph *g, struct fr_dnn_tensor a, struct fr_dnn_tensor b,
                       struct fr_dnn_tensor c) {
    cudnnBackendDescriptor_t how = make(g, FR_DNN_MATMUL);
    set_one(g, how, FR_DNN_MATMUL_TYPE, FR_DNN_IS_DATA_TYPE, FR_DNN_FP32);
    finish(g, how);
    cudnnBackendDescriptor_t operation = make(g, FR_DNN_DO_MATMUL);
    set_tensor(g, operation, FR_DNN_MATMUL_HOW, how);
    set_tensor(g, operation, FR_DNN_MATMUL_A, a.descriptor);
    set_tensor(g, operation, FR_DNN_MATMUL_B, b.descriptor);
    set_tensor(g, operation, FR_DNN_MATMUL_C, c.descriptor);
    append(g, operation);
}

struct fr_dnn_tensor fr_dnn_product(struct fr_dnn_graph *g, struct fr_dnn_tensor a,
                                    struct fr_dnn_tensor b, int type) {
    const int64_t size[FR_DNN_AXES] = {a.size[0], a.size[1], a.size[2], b.size[3]};
    struct fr_dnn_tensor c = within(g, type, size);
    fr_dnn_product_to(g, a, b, c);
    return c;
}

struct fr_dnn_tensor fr_dnn_transposed(struct fr_dnn_graph *g, struct fr_dnn_tensor x,
                                       int type) {
    const int64_t size[FR_DNN_AXES] = {x.size[0], x.size[1], x.size[3], x.size[2]},
                  stride[FR_DNN_AXES] = {x.stride[0], x.stride[1], x.stride[3], x.stride[2]};
    struct fr_dnn_tensor y =
        tensor(g, --g->last_name, type, size, stride, FR_DNN_TENSOR_IS_VIRTUAL);
    cudnnBackendDescriptor_t operation = make(g, FR_DNN_DO_RESHAPE);
    set_tensor(g, operation, FR_DNN_RESHAPE_X, x.descriptor);
    set_tensor(g, operation, FR_DNN_RESHAPE_Y, y.descriptor);
    append(g, operation);
    return y;
}

/* A plan of one of the proposed configurations. @return whether it can be made within @p most_B */
static bool try_one(struct fr_dnn_graph *g, const struct fr_dnn_target *target,
                    cudnnBackendDescriptor_t configuration, int64_t most_B,
                    cudnnBackendDescriptor_t *plan, int64_t *workspace_B) {
    int64_t n = 0;
    *workspace_B = 0;
    *plan = make(g, FR_DNN_PLAN);
    set_tensor(g, *plan, FR_DNN_PLAN_CONFIGURATION, configuration);
    set_tensor(g, *plan, FR_DNN_PLAN_PROPERTIES, target->properties);
    if (target->handle) set(g, *plan, FR_DNN_PLAN_HANDLE, FR_DNN_IS_HANDLE, 1, &target->handle);
    if (g->status != FR_OK || g->api->cudnnBackendFinalize(*plan) != FR_DNN_OK) return false;
    holds(g,
          g->api->cudnnBackendGetAttribute(*plan, FR_DNN_PLAN_WORKSPACE_B, FR_DNN_IS_INT64, 1,
                                           &n, workspace_B),
          "cudnnBackendGetAttribute");
    return g->status == FR_OK && *workspace_B <= most_B;
}

static cudnnBackendDescriptor_t join(struct fr_dnn_graph *g,
                                     const struct fr_dnn_target *target) {
    cudnnBackendDescriptor_t graph = make(g, FR_DNN_GRAPH);
    if (target->handle)
        set(g, graph, FR_DNN_GRAPH_HANDLE, FR_DNN_IS_HANDLE, 1, &target->handle);
    set(g, graph, FR_DNN_GRAPH_OPERATIONS, FR_DNN_IS_DESCRIPTOR, g->n_operations, g->operation);
    finish(g, graph);
    return graph;
}

int64_t fr_dnn_propose(struct fr_dnn_graph *g, const struct fr_dnn_target *target,
                       cudnnBackendDescriptor_t candidate[FR_DNN_CANDIDATES]) {
    int64_t n = 0;
    cudnnBackendDescriptor_t graph = join(g, target), heuristic = make(g, FR_DNN_HEURISTIC);
    set_tensor(g, heuristic, FR_DNN_HEURISTIC_GRAPH, graph);
    set_tensor(g, heuristic, FR_DNN_HEURISTIC_PROPERTIES, target->properties);
    set_one(g, heuristic, FR_DNN_HEURISTIC_MODE, FR_DNN_IS_HEURISTIC, FR_DNN_MODE_A);
    finish(g, heuristic);
    for (int i = 0; i < FR_DNN_CANDIDATES; i++) candidate[i] = make(g, FR_DNN_CONFIGURATION);
    if (g->status != FR_OK) return 0;
    holds(g,
          g->api->cudnnBackendGetAttribute(heuristic, FR_DNN_HEURISTIC_RESULTS,
                                           FR_DNN_IS_DESCRIPTOR, FR_DNN_CANDIDATES, &n,
                                           candidate),
          "cudnnBackendGetAttribute");
    return n < FR_DNN_CANDIDATES ? n : FR_DNN_CANDIDATES;
}

fr_status fr_dnn_plan(struct fr_dnn_graph *g, const struct fr_dnn_target *target,
                      int64_t most_B, cudnnBackendDescriptor_t *plan, int64_t *workspace_B) {
    cudnnBackendDescriptor_t candidate[FR_DNN_CANDIDATES];
    int64_t n = fr_dnn_propose(g, target, candidate);
    for (int64_t i = 0; i < n && g->status == FR_OK; i++)
        if (try_one(g, target, candidate[i], most_B, plan, workspace_B)) return FR_OK;
    if (g->status != FR_OK) return g->status;
    return fr_fail(g->err, FR_ERR_UNSUPPORTED, "cuDNN",
                   "has no kernel for this attention on this device");
}

fr_status fr_dnn_variants(struct fr_dnn_graph *g, int n, const int64_t *names,
                          void *const *pointers, void *workspace,
                          cudnnBackendDescriptor_t *variants) {
    *variants = make(g, FR_DNN_VARIANTS);
    set(g, *variants, FR_DNN_VARIANT_NAMES, FR_DNN_IS_INT64, n, names);
    set(g, *variants, FR_DNN_VARIANT_POINTERS, FR_DNN_IS_POINTER, n, pointers);
    set(g, *variants, FR_DNN_VARIANT_WORKSPACE, FR_DNN_IS_POINTER, 1, &workspace);
    finish(g, *variants);
    return g->status;
}

void fr_dnn_release(struct fr_dnn_graph *g) {
    while (g->n_made > 0) g->api->cudnnBackendDestroyDescriptor(g->made[--g->n_made]);
    g->n_operations = 0;
    g->status = FR_OK;
}
