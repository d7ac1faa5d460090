/* Published benchmarks of collectives: each form fitted to a part of what was measured and
 * compared with the rest.
 *
 *   sizes/...  every second size of each rank count is held out
 *   ranks/...  the largest rank count in each layout (ranks per node) is held out
 *
 * Rows that differ in tool, version, system, library or setup are never pooled.  Rows of one node alone predict
 * nothing for several. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/data.h"
#include "calibrate/fit/fitter.h"
#include "calibrate/fit/parts.h"
#include "calibrate/samples/collection.h"
#include "calibrate/samples/import.h"
#include "studies/held_out.h"
#include "trust/numbers/statistics.h"

enum { SIZES_MIN = 8, SIZES_MIN_RANKS = 5 };

static fr_status read_folder(const char *name, const struct fr_importer *importer,
                             struct fr_samples *samples, int *refused, struct fr_error *err) {
    char path[512];
    char **files = NULL;
    size_t count = 0;
    struct fr_text notes = {0};
    const struct fr_import_options options = {0};
    fr_status status = FR_OK;
    if (!fr_data_find(name, path, sizeof path)) return FR_OK;
    FR_TRY(fr_folder_list(path, ".txt", &files, &count, err));
    for (size_t i = 0; i < count && status == FR_OK; i++) {
        status = fr_import_file(importer, files[i], &options, samples, &notes, err);
        if (status != FR_ERR_INPUT) continue;
        status = FR_OK; /* forerun import says why; the rest is still worth fitting */
        (*refused)++;
    }
    fr_text_free(&notes);
    fr_folder_free(files, count);
    return status;
}

static fr_status read_all(struct fr_samples *samples, int *refused, struct fr_error *err) {
    char path[512];
    for (int i = 0; fr_importers[i]; i++)
        FR_TRY(read_folder(fr_importers[i]->spelling, fr_importers[i], samples, refused, err));
    return fr_data_find("collectives", path, sizeof path)
               ? fr_collections_read(path, samples, err)
               : FR_OK;
}

/* "alcf-polaris-a100-2-18-5-setup", short enough for a row's name. */
static void slug(const char *name, int index, char *out, size_t capacity) {
    size_t used = 0, words = 0;
    fr_line_addf(out, capacity, &used, "%02d-", index + 1);
    for (const char *at = name; *at && used + 2 < capacity && words < 40; at++) {
        bool keep = isalnum((unsigned char)*at);
        if (!keep && out[used - 1] == '-') continue;
        out[used++] = keep ? (char)tolower((unsigned char)*at) : '-';
        words++;
    }
    while (used > 0 && out[used - 1] == '-') used--;
    out[used] = '\0';
}

static fr_held_place place_of(const struct fr_fit_point *point, const struct fr_series *series,
                              const struct fr_samples *samples) {
    bool gpu = series->gpu;
    if (series->source > 0) gpu = gpu || *samples->source[series->source - 1].device;
    return gpu                ? point->level > 0 ? FR_HELD_GPU_NODES : FR_HELD_GPU_NODE
           : point->level > 0 ? FR_HELD_CPU_NODES
                              : FR_HELD_CPU_NODE;
}

static bool inside(const struct fr_price *price, const struct fr_fit_point *point) {
    struct fr_group group = fr_fit_group(point);
    double low_s = 0, high_s = 0;
    fr_price_interval(price, &group, point->size_B, fr_fit_price_s(price, point), &low_s,
                      &high_s);
    return point->time_s >= low_s && point->time_s <= high_s;
}

static fr_status judge(const struct fr_fit_op *op, const struct fr_fit_point *out, int n_out,
                       double *scratch, struct fr_held_case *held_out) {
    int covered = 0;
    held_out->n = n_out;
    for (int f = FR_FIT_LOG; f < FR_FIT_FORMS; f++) {
        struct fr_fit_quality quality = {0};
        const struct fr_price *price = &op->candidate[f].price;
        held_out->median[f] = held_out->p90[f] = NAN;
        if (!price->form) continue;
        for (int i = 0; i < n_out; i++) {
            scratch[i] = fr_fit_price_s(price, &out[i]);
            scratch[n_out + i] = out[i].time_s;
        }
        FR_TRY(fr_fit_measure(scratch, scratch + n_out, n_out, &quality));
        held_out->median[f] = quality.median;
        held_out->p90[f] = quality.p90;
    }
    held_out->median[FR_FIT_BEST] = held_out->median[op->chosen];
    held_out->p90[FR_FIT_BEST] = held_out->p90[op->chosen];
    for (int i = 0; i < n_out; i++)
        covered += inside(&op->candidate[FR_FIT_SIMILARITY].price, &out[i]);
    held_out->coverage = (double)covered / n_out;
    return FR_OK;
}

struct run {
    struct fr_reproduction *r;
    const struct fr_samples *samples;
    const struct fr_series *series;
    const char *slug;
    struct fr_fit_point *training, *out;
    double *scratch;
    struct fr_held_cases *cases;
};

/* Rows of a case: a form each. */
static void report(const struct run *run, const char *kind, const struct fr_fit_point *point,
                   const struct fr_held_case *held_out, const struct fr_fit_op *op) {
    char where[48] = "";
    if (strcmp(kind, "ranks") == 0)
        snprintf(where, sizeof where, "/p=%lld", (long long)point->n_ranks);
    for (int f = FR_FIT_LOG; f < FR_FIT_FORMS; f++) {
        char note[240];
        if (isnan(held_out->median[f])) continue;
        snprintf(note, sizeof note, "median error; p90 %.1f %%, %d held out%s; %s%s",
                 100 * held_out->p90[f], held_out->n,
                 f == (int)op->chosen ? ", the form chosen" : "",
                 fr_held_place_names[held_out->place],
                 f == FR_FIT_SIMILARITY ? held_out->coverage < 1
                                              ? ", some outside 90 % interval"
                                              : ", all inside 90 % interval"
                                        : "");
        fr_reproduce_add(run->r, FR_ROLE_PREDICTED, NAN, held_out->median[f], "1", 0, note,
                         "%s/%s/%s%s/%s", kind, run->slug, fr_op_names[point->op], where,
                         fr_fit_form_names[f]);
    }
}

static fr_status one_case(const struct run *run, const char *kind, int n_training, int n_out) {
    struct fr_fit_op op = {
        .points = run->training, .n_points = n_training, .gpu = run->series->gpu};
    struct fr_held_cases *cases = run->cases;
    struct fr_held_case *held_out = &cases->items[cases->count];
    if (n_training == 0 || n_out == 0 || cases->count == cases->capacity) return FR_OK;
    fr_status status = fr_fit_operation(&op, FR_FIT_BEST);
    if (status == FR_OK) status = judge(&op, run->out, n_out, run->scratch, held_out);
    if (status == FR_OK) {
        held_out->place = place_of(&run->out[0], run->series, run->samples);
        report(run, kind, &run->out[0], held_out, &op);
        cases->count++;
    }
    fr_fit_operation_free(&op);
    return status;
}

static bool same_curve(const struct fr_fit_point *a, const struct fr_fit_point *b) {
    return a->op == b->op && a->level == b->level && a->n_ranks == b->n_ranks &&
           a->n_nodes == b->n_nodes;
}

static int curve_end(const struct fr_fit_point *points, int first, int n) {
    int stop = first + 1;
    while (stop < n && same_curve(&points[first], &points[stop])) stop++;
    return stop;
}

/* Every second size of each rank count. */
static fr_status sizes(const struct run *run, const struct fr_fit_point *points, int n) {
    int n_training = 0, n_out = 0;
    for (int first = 0, stop; first < n; first = stop) {
        stop = curve_end(points, first, n);
        if (stop - first < SIZES_MIN) continue;
        for (int i = first; i < stop; i++)
            if ((i - first) % 2)
                run->out[n_out++] = points[i];
            else
                run->training[n_training++] = points[i];
    }
    return one_case(run, "sizes", n_training, n_out);
}

static bool same_layout(const struct fr_fit_point *a, const struct fr_fit_point *b) {
    struct fr_group x = fr_fit_group(a), y = fr_fit_group(b);
    return a->level == b->level && (a->level == 0 || x.ranks_per_node == y.ranks_per_node);
}

/* The largest rank count of the layout of points[first]. */
static fr_status ranks(const struct run *run, const struct fr_fit_point *points, int n,
                       int first) {
    int64_t largest = 0;
    int n_training = 0, n_out = 0;
    for (int at = 0, stop; at < n; at = stop) {
        stop = curve_end(points, at, n);
        if (stop - at < SIZES_MIN_RANKS || !same_layout(&points[first], &points[at])) continue;
        if (at < first) return FR_OK; /* this layout was done */
        if (points[at].n_ranks > largest) largest = points[at].n_ranks;
    }
    for (int at = 0, stop; at < n; at = stop) {
        stop = curve_end(points, at, n);
        if (stop - at < SIZES_MIN_RANKS || !same_layout(&points[first], &points[at])) continue;
        for (int i = at; i < stop; i++)
            if (points[i].n_ranks == largest)
                run->out[n_out++] = points[i];
            else
                run->training[n_training++] = points[i];
    }
    return one_case(run, "ranks", n_training, n_out);
}

static fr_status operation(struct run *run, const struct fr_fit_point *points, int n,
                           struct fr_held_cases *by_sizes, struct fr_held_cases *by_ranks) {
    run->cases = by_sizes;
    FR_TRY(sizes(run, points, n));
    run->cases = by_ranks;
    for (int first = 0; first < n; first = curve_end(points, first, n))
        FR_TRY(ranks(run, points, n, first));
    return FR_OK;
}

static fr_status one_series(struct run *run, const struct fr_series_list *list, int index,
                            struct fr_held_cases *by_sizes, struct fr_held_cases *by_ranks) {
    struct fr_fit_point *points = NULL;
    int n = 0;
    char name[56];
    fr_status status = fr_fit_medians(run->samples, list, index, &points, &n);
    run->series = &list->items[index];
    slug(run->series->name, index, name, sizeof name);
    run->slug = name;
    run->training = fr_calloc((size_t)n + 1, sizeof *run->training);
    run->out = fr_calloc((size_t)n + 1, sizeof *run->out);
    run->scratch = fr_calloc(2 * (size_t)n + 2, sizeof *run->scratch);
    if (!run->training || !run->out || !run->scratch) status = FR_ERR_NOMEM;
    for (int first = 0, stop; first < n && status == FR_OK; first = stop) {
        for (stop = first + 1; stop < n && points[stop].op == points[first].op;) stop++;
        status = operation(run, points + first, stop - first, by_sizes, by_ranks);
    }
    free(points);
    free(run->training);
    free(run->out);
    free(run->scratch);
    return status;
}

static fr_status compare(struct fr_reproduction *r, const struct fr_samples *samples,
                         struct fr_series_list *list, struct fr_held_cases *by_sizes,
                         struct fr_held_cases *by_ranks) {
    struct run run = {.r = r, .samples = samples};
    FR_TRY(fr_series_find(samples, list));
    for (int i = 0; i < list->count; i++) FR_TRY(one_series(&run, list, i, by_sizes, by_ranks));
    fr_held_summarise(r, by_sizes, by_ranks);
    return FR_OK;
}

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    struct fr_samples samples = {0};
    struct fr_series_list list = {0};
    struct fr_held_cases by_sizes = {fr_calloc(FR_HELD_CASES_MAX, sizeof(struct fr_held_case)),
                                     0, FR_HELD_CASES_MAX};
    struct fr_held_cases by_ranks = {fr_calloc(FR_HELD_CASES_MAX, sizeof(struct fr_held_case)),
                                     0, FR_HELD_CASES_MAX};
    int refused = 0;
    fr_status status = by_sizes.items && by_ranks.items ? FR_OK : FR_ERR_NOMEM;
    if (status == FR_OK) status = read_all(&samples, &refused, err);
    if (status == FR_OK && samples.n_collective == 0)
        fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, NAN, 0, "1", 0,
                         "skipped: no shared/data above this folder and none in FORERUN_DATA",
                         "skipped");
    else if (status == FR_OK)
        status = compare(r, &samples, &list, &by_sizes, &by_ranks);
    if (status == FR_ERR_NOMEM) fr_fail(err, status, NULL, "out of memory");
    free(by_sizes.items);
    free(by_ranks.items);
    fr_series_free(&list);
    fr_samples_free(&samples);
    return status;
}

const struct fr_paper fr_paper_collectives = {
    .name = "collectives",
    .title = "published benchmarks of collectives, a part held out and predicted",
    .run = run,
};
