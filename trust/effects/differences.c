#include "trust/effects/differences.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "base/sort.h"
#include "models/plan/plan.h"

/* Standard deviations of the difference of two plans' errors, in logarithms.  Measured: non-negative least squares on
 * the squared differences of groups of measured plans of one problem under presets.  The sources are vTrain, BLOOM,
 * MPT, DGXC, SimuMax and Megatron's selective recomputation.  Brackets hold the range with one source left out, pairs
 * or sources having equal weight.  Assumed: too few pairs differ in it. */
enum { CHANGE, DOUBLING };
static const struct row {
    double size;
    int counts;
} rows[FR_PLAN_KEYS] = {
    [FR_PLAN_KEY_tp] = {0.09, DOUBLING},              /* measured (0.06 to 0.10) */
    [FR_PLAN_KEY_micro_batch] = {0.06, DOUBLING},     /* measured (0.04 to 0.07) */
    [FR_PLAN_KEY_pp] = {0.04, DOUBLING},              /* measured (0 to 0.06) */
    [FR_PLAN_KEY_chunks] = {0.02, DOUBLING},          /* assumed; measured 0 to 0.024 */
    [FR_PLAN_KEY_cp] = {0.04, DOUBLING},              /* assumed; measured 0 to 0.024 */
    [FR_PLAN_KEY_ep] = {0.04, DOUBLING},              /* assumed; measured 0 to 0.024 */
    [FR_PLAN_KEY_dp] = {0.01, DOUBLING},              /* assumed, of ranks */
    [FR_PLAN_KEY_attention] = {0.05, CHANGE},         /* assumed */
    [FR_PLAN_KEY_offload] = {0.05, CHANGE},           /* assumed */
    [FR_PLAN_KEY_zero] = {0.03, CHANGE},              /* assumed; measured 0 to 0.024 */
    [FR_PLAN_KEY_zero_exchange] = {0.03, CHANGE},     /* assumed, as ZeRO */
    [FR_PLAN_KEY_reshard] = {0.03, CHANGE},           /* assumed, as ZeRO */
    [FR_PLAN_KEY_gradient_sync] = {0.03, CHANGE},     /* assumed, as ZeRO */
    [FR_PLAN_KEY_recompute] = {0.03, CHANGE},         /* assumed; measured 0 to 0.024 */
    [FR_PLAN_KEY_schedule] = {0.03, CHANGE},          /* assumed; measured 0 to 0.024 */
    [FR_PLAN_KEY_sequence_parallel] = {0.03, CHANGE}, /* assumed */
    [FR_PLAN_KEY_method] = {0.09, CHANGE},            /* assumed, as another tp */
    [FR_PLAN_KEY_layer_tp] = {0.09, CHANGE},          /* assumed, as another tp */
    [FR_PLAN_KEY_ghost] = {0.03, DOUBLING},           /* assumed */
    [FR_PLAN_KEY_backward_scope] = {0.03, CHANGE},    /* assumed */
    [FR_PLAN_KEY_gradient_stages] = {0.03, CHANGE},   /* assumed */
    [FR_PLAN_KEY_gradient_ranks] = {0.03, CHANGE},    /* assumed */
    [FR_PLAN_KEY_codec] = {0.03, CHANGE},             /* assumed */
    [FR_PLAN_KEY_iterations] = {0, CHANGE},           /* how many, not how long */
};
static const double rest = 0.01; /* assumed: of a key without a row a change */

static bool counts_not(int key) { return key == FR_PLAN_KEY_iterations; }

double fr_differ_size(int key, bool *doubling) {
    *doubling = rows[key].counts == DOUBLING;
    return counts_not(key) ? 0 : rows[key].size > 0 ? rows[key].size : rest;
}

static int64_t whole(const struct fr_plan_key *key, const struct fr_plan *plan) {
    int64_t value;
    memcpy(&value, (const char *)plan + key->offset, sizeof value);
    return value;
}

/* A degree, or a whole number that may be left open. */
static bool is_whole(int key) {
    return rows[key].counts == DOUBLING || key == FR_PLAN_KEY_global_batch ||
           key == FR_PLAN_KEY_etp;
}

/* With what stands for it where it was left open; experts that are divided as all else is differ in nothing more. */
static int64_t number_of(const struct fr_workload *model, const struct fr_plan *plan, int key) {
    int64_t value = whole(&fr_plan_keys[key], plan);
    if (key == FR_PLAN_KEY_dp) return fr_plan_ranks(plan);
    if (key == FR_PLAN_KEY_etp) return value == plan->tp ? 0 : value;
    if (value > 0) return value;
    return key == FR_PLAN_KEY_global_batch  ? model->global_batch
           : key == FR_PLAN_KEY_micro_batch ? model->micro_batch
                                            : 0;
}

void fr_differ_point_of(const struct fr_workload *model, const struct fr_plan *plan,
                        struct fr_differ_point *point) {
    const struct fr_plan plain = fr_plan_default();
    memset(point, 0, sizeof *point);
    for (int k = 0; k < FR_PLAN_KEYS; k++) {
        const struct fr_plan_key *key = &fr_plan_keys[k];
        bool unread = fr_plan_missing_of(key->needs, model, plan);
        const struct fr_plan *from = unread ? &plain : plan;
        if (counts_not(k)) continue;
        if (is_whole(k)) {
            int64_t value = unread ? whole(key, &plain) : number_of(model, plan, k);
            point->value[k] = (uint64_t)value;
            point->log2_of[k] = value > 0 ? log2((double)value) : 0;
        } else {
            char word[FR_PLAN_WORD];
            key->type->text(key, from, word, sizeof word);
            point->value[k] = fr_digest_bytes(FR_DIGEST_START, word, strlen(word));
        }
    }
}

static bool differs(const struct fr_differ_point *a, const struct fr_differ_point *b, int k) {
    return a->value[k] != b->value[k];
}

double fr_differ_variance(const struct fr_differ_point *a, const struct fr_differ_point *b) {
    double sum = 0;
    bool other = false, doubling;
    for (int k = 0; k < FR_PLAN_KEYS; k++) {
        if (!differs(a, b, k)) continue;
        double size = fr_differ_size(k, &doubling);
        sum += size * size * (doubling ? fabs(a->log2_of[k] - b->log2_of[k]) : 1);
        other = true;
    }
    return other ? sum + 2 * FR_DIFFER_RUN * FR_DIFFER_RUN : 0;
}

double fr_differ_distance(const struct fr_differ_point *a, const struct fr_differ_point *b) {
    return sqrt(fmax(0, fr_differ_variance(a, b) - 2 * FR_DIFFER_RUN * FR_DIFFER_RUN));
}

/* ---- as draws ---------------------------------------------------------------------------------- */

/* Values of a key, or whole plans, in an order of their own. */
struct value {
    double log2_of;
    uint64_t word;
};

static int by_value(const void *x, const void *y) {
    const struct value *a = x, *b = y;
    if (a->log2_of != b->log2_of) return FR_ORDER(a->log2_of, b->log2_of);
    return FR_ORDER(a->word, b->word);
}

static struct value value_of(const struct fr_differ_point *p, int k) {
    if (k < FR_PLAN_KEYS) return (struct value){p->log2_of[k], p->value[k]};
    return (struct value){0, fr_digest_bytes(FR_DIGEST_START, p->value, sizeof p->value)};
}

/* Those that differ, in order.  @return how many */
static int values_of(const struct fr_differ_point *points, int n, int k, struct value *values) {
    int kept = 0;
    for (int i = 0; i < n; i++) values[i] = value_of(&points[i], k);
    fr_sort_items(values, (size_t)n, sizeof *values, by_value);
    for (int i = 0; i < n; i++)
        if (kept == 0 || by_value(&values[kept - 1], &values[i]) != 0)
            values[kept++] = values[i];
    return kept;
}

static int place_of(const struct value *values, const struct value *one) {
    int at = 0;
    while (by_value(&values[at], one) != 0) at++;
    return at;
}

/* Size of key @p k, or beyond them of a run's own error. */
static double size_of(int k, bool *doubling) {
    *doubling = false;
    return k < FR_PLAN_KEYS ? fr_differ_size(k, doubling) : FR_DIFFER_RUN * sqrt(2);
}

/* Where a key has several values: a column a value, or a step between two. */
static int columns_of(int k, int values) {
    bool doubling;
    return values < 2 || !(size_of(k, &doubling) > 0) ? 0 : doubling ? values - 1 : values;
}

/* Row of a plan that has value @p at. */
static void fill(int k, const struct value *values, int count, int at, double *row) {
    bool doubling;
    double size = size_of(k, &doubling);
    if (!doubling) row[at] = size / sqrt(2);
    for (int step = 0; doubling && step < count - 1 && step < at; step++)
        row[step] = size * sqrt(values[step + 1].log2_of - values[step].log2_of);
}

double *fr_differ_matrix(const struct fr_differ_point *points, int n, int *terms) {
    struct value *values = fr_malloc((size_t)n + 1, sizeof *values);
    double *matrix = NULL;
    int width = 0, at = 0;
    *terms = 0;
    if (!values) return NULL;
    for (int k = 0; k <= FR_PLAN_KEYS; k++)
        width += columns_of(k, values_of(points, n, k, values));
    matrix = fr_calloc((size_t)n * (size_t)width + 1, sizeof *matrix);
    for (int k = 0; matrix && k <= FR_PLAN_KEYS; k++) {
        int count = values_of(points, n, k, values), columns = columns_of(k, count);
        for (int i = 0; i < n && columns > 0; i++) {
            const struct value one = value_of(&points[i], k);
            fill(k, values, count, place_of(values, &one), matrix + i * width + at);
        }
        at += columns;
    }
    free(values);
    *terms = width;
    return matrix;
}
