/* Published times of matrix products: every second shape fitted, the others predicted, and the
 * other way round, so that every shape is predicted once by a fit that has not seen it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/csv.h"
#include "base/data.h"
#include "base/sort.h"
#include "calibrate/fit/scatter.h"
#include "studies/reproduce.h"
#include "trust/numbers/statistics.h"

enum { SHAPES_MIN = 10, GROUPS_MAX = 64, LAYOUTS_MAX = 32, SKINNY = 128 };
static const double TARGET = 0.10;

/* Processors with too few shapes to determine a fit (13 each): the distance is stated, not tuned
 * away. */
static const char *const few[] = {"iPhone_6", "iPhone_7"};

/* Columns of a table; a shape may be a batch. */
struct table {
    const char *file, *processor, *m, *n, *k, *batch, *time;
    double unit_s;
    const char *kind[3];   /* what makes a kernel of its own: precision, output type */
    const char *layout[2]; /* what is transposed */
};
static const struct table tables[] = {
    {"gemm/deepbench_gemm.csv",
     "processor",
     "M",
     "N",
     "K",
     NULL,
     "time_ms",
     1e-3,
     {"mode", "precision", NULL},
     {"transA", "transB"}},
    {"gemm/simumax_matmul_efficiency.csv",
     "gpu",
     "m",
     "n",
     "k",
     "b",
     "derived_time_us",
     1e-6,
     {"op", "out_dtype", NULL},
     {"layout", "accumulate"}},
};

struct group {
    char processor[64], kind[96];
    char layouts[LAYOUTS_MAX][24];
    int n_layouts;
    struct fr_scatter_point *points;
    double *predicted_s;
    int n;
};

struct groups {
    struct group items[GROUPS_MAX];
    int count;
};

static const char *cell(const struct fr_csv *csv, int row, const char *column) {
    const char *text = column ? fr_csv_get(csv, row, column) : NULL;
    return text ? text : "";
}

static struct group *find_group(struct groups *groups, const char *processor,
                                const char *kind) {
    for (int i = 0; i < groups->count; i++)
        if (!strcmp(groups->items[i].processor, processor) &&
            !strcmp(groups->items[i].kind, kind))
            return &groups->items[i];
    if (groups->count == GROUPS_MAX) return NULL;
    struct group *group = &groups->items[groups->count++];
    snprintf(group->processor, sizeof group->processor, "%s", processor);
    snprintf(group->kind, sizeof group->kind, "%s", kind);
    return group;
}

static int find_layout(struct group *group, const char *name) {
    for (int i = 0; i < group->n_layouts; i++)
        if (strcmp(group->layouts[i], name) == 0) return i;
    if (group->n_layouts == LAYOUTS_MAX) return 0;
    snprintf(group->layouts[group->n_layouts], sizeof group->layouts[0], "%s", name);
    return group->n_layouts++;
}

static fr_status take_row(const struct table *t, const struct fr_csv *csv, int row,
                          struct groups *groups, struct fr_error *err) {
    char processor[64], kind[96] = "", layout[24];
    size_t used = 0;
    snprintf(processor, sizeof processor, "%.63s", cell(csv, row, t->processor));
    for (int i = 0; i < 3 && t->kind[i]; i++)
        fr_line_addf(kind, sizeof kind, &used, "%s%s", used ? " " : "",
                     cell(csv, row, t->kind[i]));
    snprintf(layout, sizeof layout, "%.10s %.10s", cell(csv, row, t->layout[0]),
             cell(csv, row, t->layout[1]));
    struct group *group = find_group(groups, processor, kind);
    if (!group) return FR_OK;
    double batch = strtod(cell(csv, row, t->batch), NULL),
           m = strtod(cell(csv, row, t->m), NULL);
    struct fr_scatter_point p = {.m = (int64_t)(m * (batch > 1 ? batch : 1)),
                                 .n = (int64_t)strtod(cell(csv, row, t->n), NULL),
                                 .k = (int64_t)strtod(cell(csv, row, t->k), NULL),
                                 .layout = find_layout(group, layout),
                                 .time_s = strtod(cell(csv, row, t->time), NULL) * t->unit_s};
    if (p.m < 1 || p.n < 1 || p.k < 1 || !(p.time_s > 0) || !isfinite(p.time_s))
        return fr_csv_fail(csv, row, NULL, err, "expected a shape and a time above 0");
    struct fr_scatter_point *grown =
        fr_realloc(group->points, (size_t)group->n + 1, sizeof *grown);
    if (!grown) return fr_fail(err, FR_ERR_NOMEM, csv->name, "out of memory");
    group->points = grown;
    group->points[group->n++] = p;
    return FR_OK;
}

static fr_status read_tables(struct groups *groups, struct fr_error *err) {
    char path[512];
    fr_status status = FR_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == FR_OK; i++) {
        struct fr_csv csv = {0};
        if (!fr_data_find(tables[i].file, path, sizeof path)) continue;
        status = fr_csv_read(path, &csv, err);
        for (int row = 0; row < csv.n_rows && status == FR_OK; row++)
            status = take_row(&tables[i], &csv, row, groups, err);
        fr_csv_free(&csv);
    }
    return status;
}

/* Layout by layout, so that each half holds every layout. */
static int by_shape(const void *x, const void *y) {
    const struct fr_scatter_point *a = x, *b = y;
    if (a->layout != b->layout) return FR_ORDER(a->layout, b->layout);
    if (a->m != b->m) return FR_ORDER(a->m, b->m);
    if (a->n != b->n) return FR_ORDER(a->n, b->n);
    if (a->k != b->k) return FR_ORDER(a->k, b->k);
    return FR_ORDER(a->time_s, b->time_s);
}

static fr_status predict_half(struct group *group, int half, struct fr_scatter_point *inside,
                              struct fr_error *err) {
    struct fr_scatter fit = {0};
    int n = 0;
    for (int i = 0; i < group->n; i++)
        if (i % 2 != half) inside[n++] = group->points[i];
    fr_status status = fr_scatter_fit(inside, n, &fit, err);
    for (int i = half; i < group->n && status == FR_OK; i += 2)
        group->predicted_s[i] = fr_scatter_time_s(&fit, &group->points[i]);
    fr_scatter_free(&fit);
    return status;
}

static fr_status predict(struct group *group, struct fr_error *err) {
    struct fr_scatter_point *inside = fr_malloc((size_t)group->n, sizeof *inside);
    group->predicted_s = fr_calloc((size_t)group->n, sizeof *group->predicted_s);
    fr_status status = inside && group->predicted_s
                           ? FR_OK
                           : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_sort_items(group->points, (size_t)group->n, sizeof *group->points, by_shape);
    for (int half = 0; half < 2 && status == FR_OK; half++)
        status = predict_half(group, half, inside, err);
    free(inside);
    return status;
}

static bool skinny(const struct fr_scatter_point *p) {
    return p->m < SKINNY || p->n < SKINNY || p->k < SKINNY;
}

enum which { ALL, SQUARE, SKINNY_ONES, WHICH };
static const char *const which_names[] = {"all", "every-dimension-128-or-more", "skinny"};

static void slug(const char *name, char *out, size_t capacity) {
    size_t used = 0;
    for (; *name && used + 1 < capacity; name++) {
        bool keep = (*name >= '0' && *name <= '9') || (*name >= 'a' && *name <= 'z') ||
                    (*name >= 'A' && *name <= 'Z') || *name == '_';
        if (keep)
            out[used++] = *name;
        else if (used && out[used - 1] != '-')
            out[used++] = '-';
    }
    out[used] = '\0';
}

/* One row over the shapes of kind @p which of a processor; @p only NULL takes all its kernels. */
static bool has_few(const char *processor) {
    for (size_t i = 0; i < sizeof few / sizeof *few; i++)
        if (strcmp(few[i], processor) == 0) return true;
    return false;
}

static fr_status add_row(struct fr_reproduction *r, const struct groups *groups,
                         const char *processor, const struct group *only, enum which which,
                         struct fr_error *err) {
    char name[64], kind[40], note[160];
    size_t n = 0, capacity = 1;
    for (int i = 0; i < groups->count; i++) capacity += (size_t)groups->items[i].n;
    double *errors = fr_malloc(capacity, sizeof *errors);
    if (!errors) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int g = 0; g < groups->count; g++) {
        const struct group *group = &groups->items[g];
        if (strcmp(group->processor, processor) != 0 || (only && only != group)) continue;
        for (int i = 0; i < group->n && group->predicted_s; i++)
            if (which == ALL || skinny(&group->points[i]) == (which == SKINNY_ONES))
                errors[n++] = fabs(group->predicted_s[i] / group->points[i].time_s - 1);
    }
    if (n > 0) {
        fr_sort(errors, n);
        bool judged = !only && which == ALL;
        snprintf(note, sizeof note, "median error; p90 %.1f %%, %zu shapes%s",
                 100 * fr_sorted_quantile(errors, n, 0.9), n,
                 judged ? "; target: at most 0.1" : "");
        slug(processor, name, sizeof name);
        slug(only ? only->kind : "all-kernels", kind, sizeof kind);
        double median = fr_sorted_median(errors, n);
        if (judged && has_few(processor))
            snprintf(note, sizeof note, "median error over %zu shapes: too few to fit", n);
        fr_reproduce_add(
            r, judged && has_few(processor) ? FR_ROLE_NOT_EXPLAINED : FR_ROLE_PREDICTED, NAN,
            median, "1", 0, note, "%s/%s/%s", name, kind, which_names[which]);
        if (judged) fr_reproduce_judge(r, median <= TARGET);
    }
    free(errors);
    return FR_OK;
}

static fr_status add_rows(struct fr_reproduction *r, const struct groups *groups,
                          struct fr_error *err) {
    for (int g = 0; g < groups->count; g++) {
        const struct group *group = &groups->items[g];
        bool first = true;
        for (int k = 0; k < g; k++)
            first = first && strcmp(groups->items[k].processor, group->processor) != 0;
        for (int w = 0; w < WHICH; w++)
            FR_TRY(add_row(r, groups, group->processor, group, (enum which)w, err));
        for (int w = 0; first && w < WHICH; w++)
            FR_TRY(add_row(r, groups, group->processor, NULL, (enum which)w, err));
    }
    return FR_OK;
}

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    struct groups *groups = fr_calloc(1, sizeof *groups);
    if (!groups) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = read_tables(groups, err);
    for (int i = 0; i < groups->count && status == FR_OK; i++)
        if (groups->items[i].n >= SHAPES_MIN) status = predict(&groups->items[i], err);
    if (status == FR_OK) status = add_rows(r, groups, err);
    if (status == FR_OK && r->count == 0)
        fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, NAN, 0, "1", 0,
                         "skipped: no shared/data above this folder and none in FORERUN_DATA",
                         "skipped");
    for (int i = 0; i < groups->count; i++) {
        free(groups->items[i].points);
        free(groups->items[i].predicted_s);
    }
    free(groups);
    return status;
}

const struct fr_paper fr_paper_gemm = {
    .name = "gemm",
    .title = "published times of matrix products, half the shapes held out and predicted",
    .run = run,
};
