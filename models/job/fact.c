#include "models/job/fact.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/text.h"
#include "models/plan/key.h"

static bool take_gradients(struct fr_workload *w, double number) {
    w->gradient_dtype = number > 0 ? FR_FP32 : FR_BF16;
    return true;
}

static bool take_scaling(struct fr_workload *w, double number) {
    (void)number;
    w->fp8_blocks = true;
    return true;
}

static bool take_weights(struct fr_workload *w, double number) {
    (void)number;
    w->weight_dtype = FR_FP8;
    return true;
}

static bool take_attention(struct fr_workload *w, double number) {
    (void)number;
    return w->narrow_attention = true;
}

static bool take_logits(struct fr_workload *w, double number) {
    (void)number;
    return w->narrow_logits = true;
}

static bool take_document(struct fr_workload *w, double number) {
    if (w->transformer.sequence <= (int64_t)number) return false;
    w->transformer.document = (int64_t)number;
    return true;
}

#define PLAN(name)                                                                             \
    .key = #name, .kind = FR_FACT_PLAN, .plan_key = FR_PLAN_KEY_##name,                        \
    .value = FR_VALUE_COUNT, .dtype = FR_DTYPE_COUNT
#define MODEL(name, function, only, low, high)                                                 \
    .key = name, .kind = FR_FACT_MODEL, .plan_key = -1, .model = function, .word = only,       \
    .least = low, .most = high, .value = FR_VALUE_COUNT, .dtype = FR_DTYPE_COUNT
#define DEVICE(name, field, width)                                                             \
    .key = name, .kind = FR_FACT_DEVICE, .plan_key = -1,                                       \
    .offset = offsetof(struct fr_device, field), .value = width
#define NUMBER(name, low, high, field, width)                                                  \
    DEVICE(name, field, width), .least = low, .most = high, .dtype = FR_DTYPE_COUNT
#define OWN(name, low, high, field) NUMBER(name, low, high, field, FR_VALUE_COUNT), .own = true
#define SHARE(name, field, width) NUMBER(name, 1e-6, 1, field, width)
#define TIME(name, high, field, width)                                                         \
    NUMBER(name, 0, high, field, width), .is_quantity = true, .quantity = FR_QUANTITY_TIME
#define SIZE(name, high, field)                                                                \
    NUMBER(name, 0, high, field, FR_VALUE_COUNT), .is_quantity = true,                         \
                                                  .quantity = FR_QUANTITY_SIZE
#define BYTES(name, high, field)                                                               \
    OWN(name, 0, high, field), .is_quantity = true, .quantity = FR_QUANTITY_SIZE
#define SECONDS(name, high, field)                                                             \
    OWN(name, 0, high, field), .is_quantity = true, .quantity = FR_QUANTITY_TIME
#define SOFTWARE(name, low, high)                                                              \
    .key = name, .kind = FR_FACT_SOFTWARE, .plan_key = -1, .least = low, .most = high,         \
    .value = FR_VALUE_COUNT, .dtype = FR_DTYPE_COUNT
#define PRODUCT(name, of)                                                                      \
    DEVICE(name, gemm[of].tiles.efficiency, FR_VALUE_EFFICIENCY), .least = 1e-6, .most = 1,    \
                                                                  .dtype = of
#define GROUPS(name, of)                                                                       \
    DEVICE(name, gemm[of].tiles.grouped, FR_VALUE_COUNT), .least = 1e-6, .most = 1, .dtype = of

const struct fr_fact_row fr_facts[] = {
#define FR_FACT(code, row, text) {row, .help = text},
#include "models/job/fact_list.h"
#undef FR_FACT
};
enum {
#define FR_FACT(code, ...) ROW_##code,
#include "models/job/fact_list.h"
#undef FR_FACT
    ROWS
};
_Static_assert((int)ROWS <= (int)FR_CLUSTER_FACTS, "a cluster can hold every fact");
const int fr_fact_count = ROWS, fr_fact_drift = ROW_drift;

const char *const fr_fact_kinds[] = {"plan", "model", "device", "software", NULL};

const char *fr_fact_values(const struct fr_fact_row *row, char *out, size_t capacity) {
    char least[40], most[40];
    if (row->kind == FR_FACT_PLAN)
        return fr_plan_key_values(&fr_plan_keys[row->plan_key], out, capacity);
    if (row->word) {
        size_t used = 0;
        for (const char *at = row->word; *at; at += strcspn(at, "|"), at += *at == '|')
            fr_line_addf(out, capacity, &used, "%s%.*s", used ? ", " : "",
                         (int)strcspn(at, "|"), at);
    } else if (row->is_quantity)
        snprintf(out, capacity, "%s to %s",
                 fr_quantity_format(row->least, row->quantity, least, sizeof least),
                 fr_quantity_format(row->most, row->quantity, most, sizeof most));
    else
        snprintf(out, capacity, "%g to %g", row->least, row->most);
    return out;
}

int fr_fact_find(const char *key, const char **near) {
    static const char prefix[] = "runtime.";
    const char *known[FR_CLUSTER_FACTS + 1] = {NULL};
    if (strncmp(key, prefix, sizeof prefix - 1) == 0) key += sizeof prefix - 1;
    for (int i = 0; i < fr_fact_count; i++) {
        if (strcmp(fr_facts[i].key, key) == 0) return i;
        known[i] = fr_facts[i].key;
    }
    if (near) *near = fr_suggest(key, known);
    return -1;
}
