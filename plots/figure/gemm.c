/* Rate of matrix products, R = 2 m n k / t: square ones against their size, and skinny ones (a
 * small inner dimension, as phantom parallelism's compressors have) against k. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "plots/measured.h"
#include "plots/scale.h"

enum { WIDTH_PX = 1350, HEIGHT_PX = 520, CURVES_MAX = 8, SKINNY_MAX = 64, OUTER_MIN = 256 };
static const struct fr_box square_box = {80, 80, 420, 310}, skinny_box = {700, 80, 420, 310};

typedef bool (*belongs)(const struct fr_measured_gemm *g);

static bool is_square(const struct fr_measured_gemm *g) { return g->m == g->n && g->n == g->k; }

static bool is_skinny(const struct fr_measured_gemm *g) {
    return g->k <= SKINNY_MAX && g->m >= OUTER_MIN && g->n >= OUTER_MIN;
}

/* The selection where there are too many curves. */
static bool is_even_skinny(const struct fr_measured_gemm *g) {
    return is_skinny(g) && g->m == g->n;
}

static double rate_GFLOP_per_s(const struct fr_measured_gemm *g) {
    return 2.0 * (double)g->m * (double)g->n * (double)g->k / g->median_s / 1e9;
}

static int order(int64_t a, int64_t b) { return FR_ORDER(a, b); }

/* Curves follow each other, and k ascends on each; a square shape's k is its size. */
static int compare(const void *left, const void *right) {
    const struct fr_measured_gemm *a = left, *b = right;
    int dtypes = strcmp(a->dtype, b->dtype), m = order(a->m, b->m), n = order(a->n, b->n);
    if (dtypes) return dtypes;
    if (is_square(a) != is_square(b)) return is_square(a) ? -1 : 1;
    if (is_square(a)) m = n = 0;
    if (m || n) return m ? m : n;
    int k = order(a->k, b->k);
    return k ? k : FR_ORDER(a->median_s, b->median_s);
}

static bool same_curve(const struct fr_measured_gemm *a, const struct fr_measured_gemm *b) {
    return strcmp(a->dtype, b->dtype) == 0 &&
           (is_square(a) ? is_square(b) : !is_square(b) && a->m == b->m && a->n == b->n);
}

static int compare_counts(const void *left, const void *right) {
    const int64_t *a = left, *b = right;
    return order(*a, *b);
}

/* x axis over every k of the panel, y axis from 0. */
static fr_status add_axes(struct fr_picture *p, const struct fr_measured *measured, belongs in,
                          const char *x_label, struct fr_error *err) {
    int64_t *k = fr_calloc((size_t)measured->n_gemms + 1, sizeof *k);
    int n = 0, distinct = 0;
    double highest = 0;
    if (!k) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int i = 0; i < measured->n_gemms; i++) {
        if (!in(&measured->gemms[i])) continue;
        k[n++] = measured->gemms[i].k;
        highest = fmax(highest, rate_GFLOP_per_s(&measured->gemms[i]));
    }
    fr_sort_items(k, n, sizeof *k, compare_counts);
    for (int i = 0; i < n; i++)
        if (i == 0 || k[i] != k[i - 1]) k[distinct++] = k[i];
    fr_scale_counts(p, k, distinct, 10);
    fr_scale_linear(p, "y", 1.1 * highest);
    fr_picture_axis_label(p, "x", x_label);
    fr_picture_axis_label(p, "y", "rate [GFLOP/s]");
    free(k);
    return FR_OK;
}

static void name_curve(const struct fr_measured_gemm *g, char *out, size_t capacity) {
    char m[24], n[24];
    if (is_square(g))
        snprintf(out, capacity, "square, %s", g->dtype);
    else
        snprintf(out, capacity, "m = %s, n = %s, %s",
                 fr_scale_number((double)g->m, 15, m, sizeof m),
                 fr_scale_number((double)g->n, 15, n, sizeof n), g->dtype);
}

static void add_curves(struct fr_picture *p, const struct fr_measured *measured, belongs in) {
    const struct fr_measured_gemm *before = NULL;
    char name[80] = "";
    int block = 0, n_curves = 0;
    for (int i = 0; i < measured->n_gemms; i++) {
        const struct fr_measured_gemm *g = &measured->gemms[i];
        if (!in(g)) continue;
        if (!before || !same_curve(before, g)) {
            if (n_curves == CURVES_MAX) break;
            block = fr_picture_block(p);
            name_curve(g, name, sizeof name);
            fr_picture_curve(p, block, name,
                             "using 1:2 with linespoints lc rgb '%s' pt %d ps 0.9 lw 1.6",
                             fr_picture_colour(n_curves + 1), fr_picture_point(n_curves));
            n_curves++;
        }
        FR_ROW(p, (double)g->k, rate_GFLOP_per_s(g));
        before = g;
    }
}

static fr_status draw_panel(struct fr_picture *p, const struct fr_measured *measured,
                            belongs in, const struct fr_box *box, const char *heading,
                            const char *x_label, struct fr_error *err) {
    int n = 0;
    for (int i = 0; i < measured->n_gemms; i++) n += in(&measured->gemms[i]);
    if (n == 0) return FR_OK;
    fr_picture_panel(p, box, heading);
    FR_TRY(add_axes(p, measured, in, x_label, err));
    fr_picture_key(p, box->left + box->width + 15, box->top);
    add_curves(p, measured, in);
    fr_picture_plotted(p);
    return FR_OK;
}

static int count(const struct fr_measured *measured, belongs in, int *n_curves) {
    const struct fr_measured_gemm *before = NULL;
    int n = 0;
    *n_curves = 0;
    for (int i = 0; i < measured->n_gemms; i++) {
        const struct fr_measured_gemm *g = &measured->gemms[i];
        if (!in(g)) continue;
        *n_curves += !before || !same_curve(before, g);
        before = g;
        n++;
    }
    return n;
}

/* The title names a point that is drawn: the fastest. */
static void add_title(struct fr_picture *p, const struct fr_measured *measured,
                      belongs skinny) {
    const struct fr_measured_gemm *best = NULL;
    char rate[40], m[24], n[24], k[24];
    for (int i = 0; i < measured->n_gemms; i++) {
        const struct fr_measured_gemm *g = &measured->gemms[i];
        if (!is_square(g) && !skinny(g)) continue;
        if (!best || rate_GFLOP_per_s(g) > rate_GFLOP_per_s(best)) best = g;
    }
    fr_scale_number((double)best->m, 15, m, sizeof m);
    fr_scale_number((double)best->n, 15, n, sizeof n);
    fr_scale_number((double)best->k, 15, k, sizeof k);
    fr_text_addf(&p->title, "Matrix products: %s GFLOP/s at %s x %s x %s, %s, is the fastest",
                 fr_scale_number(rate_GFLOP_per_s(best), 4, rate, sizeof rate), m, k, n,
                 best->dtype);
}

static void add_texts(struct fr_picture *p, const struct fr_measured *measured, int n_drawn,
                      belongs skinny) {
    add_title(p, measured, skinny);
    if (n_drawn < measured->n_gemms)
        fr_text_addf(&p->note,
                     "%d of %d products drawn: square ones, and those of small k with "
                     "m and n at least %d.",
                     n_drawn, measured->n_gemms, OUTER_MIN);
    fr_text_addf(&p->footer, "%s", fr_text_get(&measured->footer));
}

static fr_status draw_all(struct fr_picture *p, const struct fr_measured *measured,
                          const struct fr_json *root, struct fr_error *err) {
    int n_curves = 0;
    belongs skinny = is_skinny;
    fr_sort_items(measured->gemms, measured->n_gemms, sizeof *measured->gemms, compare);
    int n_square = count(measured, is_square, &n_curves);
    int n_skinny = count(measured, skinny, &n_curves);
    if (n_curves > CURVES_MAX) {
        skinny = is_even_skinny;
        n_skinny = count(measured, skinny, &n_curves);
    }
    if (n_square + n_skinny == 0)
        return fr_json_fail(root, err, "holds no square or skinny product (\"gemm\")");
    add_texts(p, measured, n_square + n_skinny, skinny);
    FR_TRY(draw_panel(p, measured, is_square, &square_box, "square, m = n = k", "n", err));
    return draw_panel(p, measured, skinny, &skinny_box, "skinny, m x k times k x n", "k", err);
}

static fr_status draw(struct fr_picture *p, const struct fr_json *roots, int n_inputs,
                      struct fr_error *err) {
    struct fr_measured measured = {0};
    (void)n_inputs;
    fr_status status = fr_measured_read(roots, &measured, err);
    if (status == FR_OK) status = draw_all(p, &measured, roots, err);
    fr_measured_free(&measured);
    return status;
}

const struct fr_figure fr_figure_gemm = {
    .name = "gemm",
    .summary = "rate of square and of skinny matrix products",
    .inputs = "one result of forerun fit --json",
    .size_px = {WIDTH_PX, HEIGHT_PX},
    .stacks = true,
    .one_input = true,
    .draw = draw,
};
