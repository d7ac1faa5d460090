#include "models/iterations.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/method.h"
#include "topology/levels.h"

static const char *const keys[] = {"source", "table", NULL};
static const char *const row_keys[] = {"method", "tp", "ghost", "iterations", NULL};

static fr_status row_read(const struct fr_json *node, struct fr_iterations_row *row,
                          struct fr_error *err) {
    int method = 0;
    FR_TRY(fr_json_object(node, row_keys, err));
    FR_TRY(fr_json_get_choice(node, "method", true, fr_method_names, &method, err));
    row->method = fr_methods[method];
    FR_TRY(fr_json_get_integer(node, "tp", false, 1, FR_RANKS_MAX, &row->tp, err));
    FR_TRY(fr_json_get_integer(node, "ghost", false, 0, FR_RANKS_MAX, &row->ghost, err));
    return fr_json_get_number(node, "iterations", true, 1e-9, 1e15, &row->iterations, err);
}

fr_status fr_iterations_read(const struct fr_json *node, struct fr_workload *workload,
                             struct fr_error *err) {
    struct fr_json inside = fr_json_member(node, "table");
    const struct fr_json *table = fr_json_is_object(node) ? &inside : node;
    int64_t count = 1;
    if (fr_json_is_object(node)) FR_TRY(fr_json_object(node, keys, err));
    if (!fr_json_is_number(node)) {
        FR_TRY(fr_json_array(table, 1, FR_ITERATION_ROWS_MAX, err));
        count = fr_json_array_length(table);
    }
    workload->iterations = fr_calloc((size_t)count, sizeof *workload->iterations);
    if (!workload->iterations) return fr_json_fail(node, err, "does not fit in memory");
    workload->n_iterations = (int)count;
    if (fr_json_is_number(node)) /* one number: any method */
        return fr_json_number(node, 1e-9, 1e15, &workload->iterations[0].iterations, err);
    for (int64_t i = 0; i < count; i++) {
        struct fr_json row = fr_json_element(table, i);
        FR_TRY(row_read(&row, &workload->iterations[i], err));
    }
    return FR_OK;
}

/* Does the row speak of this method?  Exact methods train alike, so one stands for another. */
static bool same_method(const struct fr_iterations_row *row, const struct fr_method *method) {
    return !row->method || row->method == method || (row->method->exact && method->exact);
}

static bool any_or(int64_t row, int64_t asked) { return row == 0 || row == asked; }

/* The nearest rows on both sides along one coordinate. */
struct bracket {
    const struct fr_iterations_row *below, *above;
    int64_t below_at, above_at;
};

static void bracket_add(struct bracket *b, const struct fr_iterations_row *row, int64_t at,
                        int64_t asked) {
    if (at < asked && (!b->below || at > b->below_at)) b->below = row, b->below_at = at;
    if (at > asked && (!b->above || at < b->above_at)) b->above = row, b->above_at = at;
}

static bool bracket_value(const struct bracket *b, int64_t asked, double *iterations) {
    if (!b->below || !b->above || b->below_at < 1) return false;
    double share = log((double)asked / (double)b->below_at) /
                   log((double)b->above_at / (double)b->below_at);
    *iterations =
        b->below->iterations * pow(b->above->iterations / b->below->iterations, share);
    return true;
}

fr_iterations_origin fr_iterations_find(const struct fr_workload *workload,
                                        const struct fr_method *method, int64_t tp,
                                        int64_t ghost, double *iterations) {
    struct bracket same_tp = {0}, same_ghost = {0};
    for (int i = 0; i < workload->n_iterations; i++) {
        const struct fr_iterations_row *row = &workload->iterations[i];
        if (!same_method(row, method)) continue;
        bool tp_fits = any_or(row->tp, tp);
        bool ghost_fits = !method->uses_ghost || any_or(row->ghost, ghost);
        if (tp_fits && ghost_fits) {
            *iterations = row->iterations;
            return FR_ITERATIONS_GIVEN;
        }
        if (tp_fits) bracket_add(&same_tp, row, row->ghost, ghost);
        if (ghost_fits) bracket_add(&same_ghost, row, row->tp, tp);
    }
    if (bracket_value(&same_tp, ghost, iterations) ||
        bracket_value(&same_ghost, tp, iterations))
        return FR_ITERATIONS_INTERPOLATED;
    return FR_ITERATIONS_UNKNOWN;
}
