#include "calibrate/fit/fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "calibrate/fit/parts.h"
#include "trust/numbers/statistics.h"

const char *const fr_fit_form_names[] = {"best",      "log",        "segments",
                                         "algorithm", "similarity", NULL};

/* Add the points of a series; an operation that an earlier series brought is refused, since two
 * setups must not be pooled and only one can be the cluster's. */
static fr_status take_series(const struct fr_samples *samples,
                             const struct fr_series_list *list, int series,
                             struct fr_fit_result *result, struct fr_error *err) {
    struct fr_fit_point *points = NULL;
    int n = 0;
    fr_status status = fr_fit_medians(samples, list, series, &points, &n);
    struct fr_fit_point *grown =
        fr_realloc(result->points, (size_t)(result->n_points + n) + 1, sizeof *grown);
    if (grown) result->points = grown;
    if (!grown && status == FR_OK) status = FR_ERR_NOMEM;
    for (int i = 0; i < n && status == FR_OK; i++) {
        struct fr_fit_op *op = &result->ops[points[i].op];
        const char *name = list->items[series].name;
        if (op->n_points == 0) {
            snprintf(op->series, sizeof op->series, "%.255s", name);
            op->gpu = list->items[series].gpu || fr_fit_is_card(samples);
        } else if (strncmp(op->series, name, sizeof op->series - 1) != 0) {
            status = fr_fail(
                err, FR_ERR_INPUT, NULL,
                "%s was measured in two series, which must not be pooled: \"%.200s\" "
                "and \"%.200s\"; choose one with --series TEXT. A TEXT that names both joins "
                "those of one cluster that differ in versions alone",
                fr_op_names[points[i].op], op->series, name);
            break;
        }
        op->n_points++;
        result->points[result->n_points++] = points[i];
    }
    free(points);
    return status;
}

static bool has_text(const char *name, const char *wanted) {
    return !wanted || strstr(name, wanted) != NULL;
}

static fr_status take_all(const struct fr_samples *samples,
                          const struct fr_fit_options *options, struct fr_fit_result *result,
                          struct fr_error *err) {
    struct fr_series_list list = {0};
    int taken = 0;
    fr_status status = fr_series_find(samples, &list);
    if (status == FR_OK && options->series) fr_series_join(samples, &list, options->series);
    for (int i = 0; i < list.count && status == FR_OK; i++) {
        if (!has_text(list.items[i].name, options->series)) continue;
        status = take_series(samples, &list, i, result, err);
        taken++;
    }
    if (status == FR_OK && options->series && taken == 0)
        status = fr_fail(err, FR_ERR_USAGE, "--series",
                         "no series has \"%.80s\" in its name; the first is \"%.300s\"",
                         options->series, list.count ? list.items[0].name : "");
    fr_series_free(&list);
    return status;
}

static int by_op(const void *x, const void *y) {
    const struct fr_fit_point *a = x, *b = y;
    if (a->op != b->op) return FR_ORDER(a->op, b->op);
    if (a->level != b->level) return FR_ORDER(a->level, b->level);
    if (a->n_ranks != b->n_ranks) return FR_ORDER(a->n_ranks, b->n_ranks);
    if (a->n_nodes != b->n_nodes) return FR_ORDER(a->n_nodes, b->n_nodes);
    return FR_ORDER(a->size_B, b->size_B);
}

/* A table must be one that a cluster file may state: an operation's points come by level, ranks and nodes. */
static fr_status check_sizes(const struct fr_fit_op *op, struct fr_error *err) {
    int sizes = 1;
    for (int i = 1; i < op->n_points; i++) {
        const struct fr_fit_point *x = &op->points[i], *last = x - 1;
        bool same = x->level == last->level && x->n_ranks == last->n_ranks &&
                    x->n_nodes == last->n_nodes;
        sizes = same ? sizes + 1 : 1;
        if (sizes > FR_SIMILARITY_SIZES_MAX)
            return fr_fail(err, FR_ERR_INPUT, NULL,
                           "%s over %" PRId64 " ranks was measured at more than %d sizes, "
                           "which is what a table holds: leave some out, or choose another "
                           "--form",
                           fr_op_names[x->op], x->n_ranks, FR_SIMILARITY_SIZES_MAX);
    }
    return FR_OK;
}

/* Points are sorted by op, so each op's are a stretch of the array. */
static fr_status fit_operations(struct fr_fit_result *result, fr_fit_form form,
                                struct fr_error *err) {
    const struct fr_fit_point *at = result->points;
    if (result->n_points > 0)
        fr_sort_items(result->points, (size_t)result->n_points, sizeof *result->points, by_op);
    for (int i = 0; i < FR_OP_COUNT; i++) {
        struct fr_fit_op *op = &result->ops[i];
        if (op->n_points == 0) continue;
        op->points = at;
        at += op->n_points;
        FR_TRY(fr_fit_operation(op, form));
        if (op->chosen == FR_FIT_SIMILARITY) FR_TRY(check_sizes(op, err));
    }
    return FR_OK;
}

void fr_fit_miss(struct fr_fit_result *result, const char *what) {
    enum { MOST = sizeof result->missing / sizeof *result->missing };
    if (result->n_missing == MOST) return;
    snprintf(result->missing[result->n_missing++], sizeof *result->missing, "%.95s", what);
}

/* Other people's benchmarks measure no processor, ours where it was not asked to, is simulated or was
 * cut short: it is the base's, or not known. */
static fr_status find_device(const struct fr_samples *samples,
                             const struct fr_fit_options *options,
                             struct fr_fit_result *result) {
    bool products = false, memory = false; /* what is no stream says nothing of the bandwidth */
    for (size_t i = 0; i < samples->n_memory && !memory; i++)
        memory = samples->memory[i].kernel == FR_TRAFFIC_STREAM;
    for (int i = 0; i < FR_DTYPE_COUNT; i++) products = products || result->gemm[i].n_m > 0;
    result->has_device = products && memory;
    if (samples->n_source > 0 || options->base || result->has_device) return FR_OK;
    if (!products && samples->n_memory + samples->n_kernel > 0)
        fr_fit_miss(result, "matrix products: the device is not known");
    if (!memory && samples->n_gemm + samples->n_kernel > 0)
        fr_fit_miss(result, "memory bandwidth: the device is not known");
    return FR_OK;
}

/* Tables of products, and what interrupts them. */
static fr_status fit_products(const struct fr_samples *samples, struct fr_fit_result *result) {
    FR_TRY(fr_fit_interruptions(samples, &result->speed));
    for (int i = 0; i < FR_DTYPE_COUNT; i++)
        FR_TRY(fr_fit_gemm_table(samples, &result->speed, (fr_dtype)i, &result->gemm[i]));
    FR_TRY(fr_fit_gemm_from_memory(samples, &result->speed, &result->gemm[FR_FP32],
                                   &result->from_memory));
    if (result->gemm[FR_FP32].n_m > 0)
        FR_TRY(fr_fit_gemm_adds(samples, &result->speed, &result->adds));
    for (int t = FR_TRANSPOSED_A; t <= FR_TRANSPOSED_B; t++)
        FR_TRY(fr_fit_gemm_transposed(samples, &result->speed, (fr_transposed)t,
                                      &result->gemm[FR_FP32], &result->transposed[t]));
    return FR_OK;
}

static fr_status fit_all(const struct fr_samples *samples, const struct fr_fit_options *options,
                         struct fr_fit_result *result, struct fr_error *err) {
    FR_TRY(take_all(samples, options, result, err));
    if (samples->n_source > 0 && result->n_points == 0)
        return fr_fail(
            err, FR_ERR_INPUT, NULL,
            "the samples hold nothing to fit an operation to: only streams of messages, "
            "wrong results, in-place halves or sizes of 0");
    FR_TRY(fit_operations(result, options->form, err));
    FR_TRY(fr_fit_speed_make(samples, &result->speed));
    bool apart = false; /* others' products say nothing of this machine's speed */
    FR_TRY(fr_fit_card(samples, options, result));
    if (result->card.present) FR_TRY(fr_fit_attentions(samples, options, result, err));
    FR_TRY(fr_fit_singles_make(samples, options, result, &apart, err));
    if (!apart) FR_TRY(fit_products(samples, result));
    FR_TRY(find_device(samples, options, result));
    if (result->has_device) FR_TRY(fr_fit_device(samples, options, result, err));
    return fr_fit_levels(samples, result, err);
}

/* A host's name, "vm" or "login1", is none of a cluster. */
static void name_cluster(const struct fr_samples *samples, const struct fr_fit_options *options,
                         struct fr_fit_result *result) {
    const struct fr_provenance *p = &samples->provenance;
    const bool imported = strcmp(p->host, FR_HOST_IMPORTED) == 0;
    result->unnamed = !options->name && !*p->cluster && !imported;
    snprintf(result->name, sizeof result->name, "%.63s",
             options->name ? options->name
             : *p->cluster ? p->cluster
             : imported    ? p->host
                           : FR_FIT_UNNAMED);
}

fr_status fr_fit(const struct fr_samples *samples, const struct fr_fit_options *options,
                 struct fr_fit_result *result, struct fr_error *err) {
    *result = (struct fr_fit_result){.provenance = samples->provenance, .base = options->base};
    name_cluster(samples, options, result);
    fr_status status = fit_all(samples, options, result, err);
    if (status == FR_ERR_NOMEM) fr_fail(err, status, NULL, "the fit does not fit in memory");
    return status;
}

static double held_out_collectives(const struct fr_fit_result *result) {
    double error[FR_OP_COUNT];
    size_t n = 0;
    for (int i = 0; i < FR_OP_COUNT; i++) {
        const struct fr_fit_op *op = &result->ops[i];
        if (op->n_points > 0 && op->candidate[op->chosen].held_sizes.n > 0)
            error[n++] = op->candidate[op->chosen].held_sizes.median;
    }
    if (n == 0) return NAN;
    fr_sort(error, n);
    return fr_sorted_median(error, n);
}

double fr_fit_held_out(const struct fr_fit_result *result) {
    const struct fr_fit_gemm *single = &result->gemm[FR_FP32];
    double products = NAN;
    for (int i = FR_DTYPE_COUNT - 1; i >= 0; i--)
        if (result->gemm[i].quality.n > 0) products = result->gemm[i].quality.median;
    if (single->quality.n > 0) products = single->quality.median;
    for (int i = 0; i < FR_DTYPE_COUNT; i++)
        if (result->singles[i].held_out.n > 0)
            products = fmax(products, result->singles[i].held_out.median);
    return fmax(products, held_out_collectives(result));
}

double fr_fit_variation(const struct fr_fit_result *result) {
    const double NORMAL_DECILE = 1.2816;
    return hypot(result->speed.variation / NORMAL_DECILE, 0.5 * log1p(result->speed.lost));
}

void fr_fit_free(struct fr_fit_result *result) {
    for (int i = 0; i < FR_OP_COUNT; i++) fr_fit_operation_free(&result->ops[i]);
    for (int i = 0; i < FR_DTYPE_COUNT; i++) fr_fit_gemm_free(&result->gemm[i]);
    fr_fit_gemm_free(&result->from_memory);
    fr_fit_gemm_free(&result->adds);
    for (int t = 0; t < FR_TRANSPOSED_KINDS; t++) fr_fit_gemm_free(&result->transposed[t]);
    fr_fit_speed_free(&result->speed);
    free(result->points);
    *result = (struct fr_fit_result){0};
}
