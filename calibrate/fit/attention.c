/* Fused attention of an accelerator.  A kernel's rate saturates with the keys K that a query meets, as the model prices it
 * (models/price/operation.c):
 *
 *      t = 4 b h s d K (1 + half_keys / K) / (flash peak)        backward 2.5 times the flop at `backward` of the share,
 *                                                                half of which it reaches at `backward_keys`
 *
 * K is s, of causal attention s / 2.  Each pass by least squares of relative errors over heads of at least 96 values;
 * narrower ones say below which width exponentials take longer than products. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/fit/parts.h"
#include "models/job/cluster.h"
#include "trust/numbers/statistics.h"

enum { POINTS_MAX = 128, NARROW = 96 };

struct point {
    struct fr_sample_attention of; /* time_s: the median */
    double keys, s_per_flop;
};

bool fr_fit_is_same_attention(const struct fr_sample_attention *a,
                              const struct fr_sample_attention *b) {
    return a->kernel == b->kernel && a->dtype == b->dtype && a->batch == b->batch &&
           a->sequence == b->sequence && a->heads == b->heads && a->kv_heads == b->kv_heads &&
           a->width == b->width && a->causal == b->causal && a->pass == b->pass;
}

static double keys_of(const struct fr_sample_attention *a) {
    return (double)a->sequence * (a->causal ? 0.5 : 1);
}

double fr_fit_attention_flop(const struct fr_sample_attention *a) {
    static const double passes[] = {1, 2.5};
    return 4 * (double)a->batch * (double)a->heads * (double)a->sequence * (double)a->width *
           keys_of(a) * passes[a->pass];
}

/* The medians of all points, in the order in which points were first met. */
static int find_points(const struct fr_samples *samples, struct point *points,
                       double *scratch) {
    int n = 0;
    for (size_t i = 0; i < samples->n_attention; i++) {
        const struct fr_sample_attention *a = &samples->attention[i];
        size_t taken = 0;
        int k = 0;
        while (k < n && !fr_fit_is_same_attention(&points[k].of, a)) k++;
        if (k < n || n == POINTS_MAX) continue;
        for (size_t j = i; j < samples->n_attention; j++)
            if (fr_fit_is_same_attention(&samples->attention[j], a))
                scratch[taken++] = samples->attention[j].time_s;
        fr_sort(scratch, taken);
        points[n] = (struct point){.of = *a, .keys = keys_of(a)};
        points[n].of.time_s = fr_sorted_median(scratch, taken);
        points[n].s_per_flop = points[n].of.time_s / fr_fit_attention_flop(a);
        n++;
    }
    return n;
}

static bool is_of(const struct point *p, int kernel, int pass) {
    return p->of.kernel == kernel && p->of.pass == pass && p->of.width >= NARROW;
}

/* s_per_flop = a + c / K of a pass; a = 0: it was not measured.  `bends`: its points say how it saturates. */
struct line {
    double a, c;
    bool bends;
};

/* That line over the passes of @p kernel, relative errors; c >= 0.  @return how many there were */
static int fit_line(const struct point *points, int n, int kernel, int pass,
                    struct line *line) {
    double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
    int used = 0;
    for (int i = 0; i < n; i++) {
        if (!is_of(&points[i], kernel, pass)) continue;
        double y = points[i].s_per_flop, x = 1 / points[i].keys, weight = 1 / (y * y);
        w += weight, wx += weight * x, wxx += weight * x * x;
        wy += weight * y, wxy += weight * x * y;
        used++;
    }
    if (used == 0) return 0;
    double det = w * wxx - wx * wx;
    line->bends = used > 2 && det > 1e-9 * w * wxx;
    line->c = line->bends ? fmax(0, (w * wxy - wx * wy) / det) : 0;
    line->a = (wy - line->c * wx) / w;
    if (!(line->a > 0)) line->a = wy / w, line->c = 0;
    return used;
}

/* Median of measured over said, and the deviation of the logarithm about it, over the points of a kernel and pass. */
static double ratio(const struct point *points, int n, int kernel, int pass, double a, double c,
                    double *spread) {
    double found[POINTS_MAX], square = 0;
    size_t used = 0;
    for (int i = 0; i < n; i++)
        if (is_of(&points[i], kernel, pass))
            found[used++] = points[i].s_per_flop / (a + c / points[i].keys);
    *spread = 0;
    if (used == 0) return 0;
    fr_sort(found, used);
    double middle = fr_sorted_median(found, used);
    for (size_t i = 0; i < used; i++) square += pow(log(found[i] / middle), 2);
    if (used > 1) *spread = sqrt(square / (double)(used - 1));
    return middle;
}

/* Width below which a forward kernel waits for exponentials, by the narrowest heads below NARROW; 0: none was seen to wait. */
static double exponentials(const struct point *points, int n, double a, double c) {
    static const double slower =
        1.02; /* than the law of wide heads by more than their scatter */
    double found[POINTS_MAX];
    int64_t narrowest = NARROW;
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        const struct point *p = &points[i];
        if (p->of.kernel != FR_SAMPLE_FLASH || p->of.pass != 0 || p->of.width > narrowest ||
            p->of.width == NARROW)
            continue;
        if (p->of.width < narrowest) used = 0;
        narrowest = p->of.width;
        found[used++] = p->s_per_flop / (a + c / p->keys);
    }
    if (used == 0) return 0;
    fr_sort(found, used);
    double ratio = fr_sorted_median(found, used);
    return ratio > slower ? fmin((double)narrowest * ratio, 1024) : 0;
}

static double peak_of(const struct fr_device *device) {
    for (int d = FR_BF16; d <= FR_FP16; d++)
        if (device->gemm[d].form && device->gemm[d].peak_flop_per_s > 0)
            return device->gemm[d].peak_flop_per_s;
    return 0;
}

/* The backward pass.  Points of one length, or two, say how much slower it is than forward, and not how it saturates:
 * then it does so as the forward pass. */
static struct line fit_backward(const struct point *points, int n, int kernel,
                                struct line forward) {
    struct line line = {0};
    double ignored = 0;
    if (fit_line(points, n, kernel, 1, &line) == 0 || line.bends) return line;
    double slower = ratio(points, n, kernel, 1, forward.a, forward.c, &ignored);
    return (struct line){slower * forward.a, slower * forward.c, false};
}

/* FlashAttention-2 saturates as today's kernel does, each pass at a share of its own:
 *     flash / flash_2 = r_f    flash_2_backward / backward = r_f / r_b      r  times over today's same pass
 * Where today's kernel was not measured, the lines are FlashAttention-2's own. */
static void fit_older(const struct point *points, int n, struct line forward,
                      struct line backward, double peak_flop_per_s,
                      struct fr_fit_attention *out) {
    double spread = 0, spread_back = 0;
    if (!(forward.a > 0)) {
        if (fit_line(points, n, FR_SAMPLE_FLASH_2, 0, &forward) == 0) return;
        backward = fit_backward(points, n, FR_SAMPLE_FLASH_2, forward);
    }
    double slower = ratio(points, n, FR_SAMPLE_FLASH_2, 0, forward.a, forward.c, &spread);
    if (!(slower > 0)) return;
    out->flash_2 = fmin(1, 1 / (slower * forward.a * peak_flop_per_s));
    out->flash_2_spread = spread;
    if (!(backward.a > 0)) return;
    double slower_back =
        ratio(points, n, FR_SAMPLE_FLASH_2, 1, backward.a, backward.c, &spread_back);
    if (!(slower_back > 0)) return;
    out->flash_2_backward = forward.a / backward.a * slower / slower_back;
    out->flash_2_spread = fmax(spread, spread_back);
}

static void fit(const struct point *points, int n, double peak_flop_per_s,
                struct fr_fit_attention *out) {
    /* In a cluster file 0 stands for the forward pass's. */
    const double least_keys = 0.01;
    struct line forward = {0}, backward = {0};
    out->n = n;
    if (fit_line(points, n, FR_SAMPLE_FLASH, 0, &forward) > 0) {
        out->flash = fmin(1, 1 / (forward.a * peak_flop_per_s));
        out->half_keys = forward.c / forward.a;
        ratio(points, n, FR_SAMPLE_FLASH, 0, forward.a, forward.c, &out->flash_spread);
        out->exponentials = exponentials(points, n, forward.a, forward.c);
        backward = fit_backward(points, n, FR_SAMPLE_FLASH, forward);
    }
    if (backward.a > 0) {
        out->backward = forward.a / backward.a;
        out->backward_keys = backward.bends ? fmax(least_keys, backward.c / backward.a) : 0;
        ratio(points, n, FR_SAMPLE_FLASH, 1, backward.a, backward.c, &out->backward_spread);
    }
    fit_older(points, n, forward, backward, peak_flop_per_s, out);
}

fr_status fr_fit_attentions(const struct fr_samples *samples,
                            const struct fr_fit_options *options, struct fr_fit_result *result,
                            struct fr_error *err) {
    struct fr_cluster cluster = {0};
    if (samples->n_attention == 0 || !options->base) return FR_OK;
    struct point *points = fr_calloc(POINTS_MAX, sizeof *points);
    double *scratch = fr_malloc(samples->n_attention, sizeof *scratch);
    fr_status status = points && scratch ? FR_OK : FR_ERR_NOMEM;
    if (status == FR_OK) status = fr_cluster_read(options->base, &cluster, err);
    if (status == FR_OK && peak_of(&cluster.device) > 0)
        fit(points, find_points(samples, points, scratch), peak_of(&cluster.device),
            &result->attention);
    fr_cluster_free(&cluster);
    free(points);
    free(scratch);
    return status;
}
