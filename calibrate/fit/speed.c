#include "calibrate/fit/speed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "trust/numbers/statistics.h"

enum { SIDE = 4, WINDOW = 2 * SIDE + 1, FEWEST = 2 * WINDOW };

static double value(const struct fr_sample_probe *probe, bool memory) {
    return memory ? probe->stream_s : probe->product_s;
}

/* Median of the probes around @p i that are of its launch. */
static double around(const struct fr_samples *samples, size_t i, bool memory) {
    double near[WINDOW];
    size_t n = 0, first = i > SIDE ? i - SIDE : 0;
    for (size_t j = first; j <= i + SIDE && j < samples->n_probe; j++)
        if (samples->probe[j].launch == samples->probe[i].launch)
            near[n++] = value(&samples->probe[j], memory);
    fr_sort(near, n);
    return fr_sorted_median(near, n);
}

/* End of the probes from @p i on that show one and the same thing at different times: a launch's
 * stream, since each process gets pages of its own; a job's product, whose launches ascend. */
static size_t alike_end(const struct fr_samples *samples, size_t i, bool memory) {
    const struct fr_sample_probe *probe = samples->probe;
    for (i++; i < samples->n_probe; i++) {
        int64_t launches = probe[i].launch - probe[i - 1].launch;
        bool again = launches == 0 && probe[i].rep < probe[i - 1].rep;
        if (launches < 0 || again || (memory && launches > 0)) break;
    }
    return i;
}

/* @param scratch  as many as probes */
static double smooth(const struct fr_samples *samples, bool memory, double *out,
                     double *scratch, double *variation) {
    size_t n = samples->n_probe;
    for (size_t i = 0; i < n; i++) scratch[i] = out[i] = around(samples, i, memory);
    for (size_t i = 0, stop; i < n; i = stop) {
        stop = alike_end(samples, i, memory);
        fr_sort(scratch + i, stop - i);
        double fast = fr_sorted_quantile(scratch + i, stop - i, 0.25);
        for (size_t k = i; k < stop; k++) out[k] /= fast;
    }
    memcpy(scratch, out, n * sizeof *scratch);
    fr_sort(scratch, n);
    *variation =
        0.5 * log(fr_sorted_quantile(scratch, n, 0.9) / fr_sorted_quantile(scratch, n, 0.1));
    return fr_sorted_median(scratch, n);
}

fr_status fr_fit_speed_make(const struct fr_samples *samples, struct fr_fit_speed *speed) {
    size_t n = samples->n_probe;
    double ignored = 0;
    *speed = (struct fr_fit_speed){.usual_products = 1, .usual_memory = 1};
    if (n < FEWEST) return FR_OK;
    double *scratch = fr_malloc(3 * n, sizeof *scratch);
    if (!scratch) return FR_ERR_NOMEM;
    speed->products = scratch;
    speed->memory = scratch + n;
    speed->n = n;
    speed->usual_products =
        smooth(samples, false, speed->products, scratch + 2 * n, &speed->variation);
    speed->streams = smooth(samples, true, speed->memory, scratch + 2 * n, &ignored);
    speed->usual_memory = speed->streams;
    return FR_OK;
}

void fr_fit_speed_free(struct fr_fit_speed *speed) {
    free(speed->products);
    *speed = (struct fr_fit_speed){0};
}

double fr_fit_slowness(const struct fr_fit_speed *speed, const double *kind, int64_t probe) {
    if (speed->n == 0) return 1;
    size_t i = probe > 0 ? (size_t)probe - 1 : 0;
    return kind[i < speed->n ? i : speed->n - 1];
}

double fr_fit_memory_slowness(const struct fr_fit_speed *speed) {
    return speed->streams > 0 ? speed->streams : 1;
}

/* ---- interruptions --------------------------------------------------------------------------- */

/* A product, and its place in the file. */
struct placed {
    struct fr_sample_gemm product;
    size_t at;
};

static int by_shape(const void *x, const void *y) {
    const struct fr_sample_gemm *a = &((const struct placed *)x)->product,
                                *b = &((const struct placed *)y)->product;
    const int64_t p[] = {a->dtype, a->m, a->n, a->k, a->transposed},
                  q[] = {b->dtype, b->m, b->n, b->k, b->transposed};
    for (int i = 0; i < 5; i++)
        if (p[i] != q[i]) return FR_ORDER(p[i], q[i]);
    if (a->launch != b->launch) return FR_ORDER(a->launch, b->launch);
    return FR_ORDER(a->time_s, b->time_s);
}

/* Of one launch: the next one's pages are others, and what they cost is no interruption. */
static bool together(const struct placed *x, const struct placed *y) {
    const struct fr_sample_gemm *a = &x->product, *b = &y->product;
    return a->dtype == b->dtype && a->m == b->m && a->n == b->n && a->k == b->k &&
           a->transposed == b->transposed && a->launch == b->launch;
}

struct window {
    double own_s, lost_s;
    size_t at;
    bool disturbed;
};

/* Windows of many samples, and what they lost. */
struct exposure {
    struct window *window;
    size_t n;
    double own_s, ranks;
    double calm_s,
        calm_own_s; /* of the windows that were not disturbed, and of their own times */
};

/* A sample repeats short products for a third of a millisecond; how often is not in the file, so
 * only those that are one call each are windows. */
static const double ONE_CALL_S = 0.5e-3, MOST = 100;
/* First those short enough for some to be undisturbed on any machine that is worth measuring. */
static const double SHORT_S = 5e-3;

/* What undisturbed timings scatter about their own time: five scaled deviations of those below it,
 * at least a fiftieth. */
static double limit_of(const double *sorted_s, size_t n, double own_s) {
    size_t below = 0;
    while (below < n && sorted_s[below] <= own_s) below++;
    double spread_s = below > 0 ? own_s - fr_sorted_median(sorted_s, below) : 0;
    return own_s + fmax(5 * 1.4826 * spread_s, 0.02 * own_s);
}

static void add_shape(struct exposure *e, const struct placed *sample, const double *sorted_s,
                      size_t n) {
    double own_s = fr_sorted_own(sorted_s, n), limit_s = limit_of(sorted_s, n, own_s);
    for (size_t i = 0; i < n; i++) {
        bool disturbed = sorted_s[i] > limit_s;
        double lost_s = disturbed ? fmin(sorted_s[i], MOST * own_s) - own_s : 0;
        e->window[e->n++] = (struct window){own_s, lost_s, sample[i].at, disturbed};
        e->own_s += own_s;
        if (!disturbed) {
            e->calm_s += sorted_s[i];
            e->calm_own_s += own_s;
        }
    }
}

/* d ln L / d lambda, falling in lambda. */
static double slope(const struct exposure *e, double lambda) {
    double sum = 0;
    for (size_t i = 0; i < e->n; i++) {
        double s = e->ranks * e->window[i].own_s;
        sum += e->window[i].disturbed ? s / expm1(lambda * s) : -s;
    }
    return sum;
}

static double likeliest(const struct exposure *e) {
    double low = 1e-6, high = 1e6;
    for (int i = 0; i < 100; i++) {
        double middle = sqrt(low * high);
        *(slope(e, middle) > 0 ? &low : &high) = middle;
    }
    return sqrt(low * high);
}

/* How many interruptions the windows are longer by: in each those of the rank that has most. */
static double expected(const struct exposure *e, double lambda) {
    double sum = 0, one = 0;
    for (size_t i = 0; i < e->n; i++) {
        if (i == 0 || e->window[i].own_s != e->window[i - 1].own_s)
            one = fr_poisson_max(lambda * e->window[i].own_s, e->ranks);
        sum += one;
    }
    return sum;
}

static int by_place(const void *x, const void *y) {
    const struct window *a = x, *b = y;
    return FR_ORDER(a->at, b->at);
}

/* Share of own time that is lost, the median over stretches of the calibration: of so many that each
 * can be expected to see EVENTS interruptions.  A stall of a second, seen once, is in one of them. */
static double usual_loss(struct exposure *e, double interruptions) {
    enum { EVENTS = 16, STRETCHES_MAX = 128 };
    double share[STRETCHES_MAX], own_s = 0, lost_s = 0;
    size_t stretches = (size_t)fmax(1, fmin(STRETCHES_MAX, interruptions / EVENTS)), n = 0;
    fr_sort_items(e->window, e->n, sizeof *e->window, by_place);
    double stretch_s = e->own_s / (double)stretches * (1 - 1e-9), until_s = stretch_s;
    double begun_s = 0;
    for (size_t i = 0; i < e->n; i++) {
        own_s += e->window[i].own_s;
        lost_s += e->window[i].lost_s;
        if (own_s < until_s || n == stretches) continue;
        share[n++] = lost_s / (own_s - begun_s);
        begun_s = own_s;
        until_s = stretch_s * (double)(n + 1);
        lost_s = 0;
    }
    fr_sort(share, n);
    return fr_sorted_median(share, n);
}

static void estimate(struct exposure *e, struct fr_fit_speed *speed) {
    size_t disturbed = 0;
    if (e->n == 0) return;
    speed->interruptions = (struct fr_interruptions){0};
    speed->lost = 0;
    for (size_t i = 0; i < e->n; i++) disturbed += e->window[i].disturbed;
    if (disturbed == 0 || !(e->own_s > 0)) return;
    double lambda = likeliest(e); /* the fastest window of a shape is never disturbed */
    double interruptions = expected(e, lambda);
    speed->lost = usual_loss(e, interruptions);
    speed->interruptions.every_s = 1 / lambda;
    speed->interruptions.length_s = speed->lost * e->own_s / interruptions;
}

/* @param sorted  room for all products */
static void gather(const struct fr_samples *samples, const struct fr_fit_speed *speed,
                   struct placed *sorted, double *time_s, double shortest_s, double longest_s,
                   struct exposure *e) {
    enum { ENOUGH = 4 };
    size_t n = samples->n_gemm, stop;
    e->n = 0;
    e->own_s = e->calm_s = e->calm_own_s = 0;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (struct placed){samples->gemm[i], i};
        sorted[i].product.time_s /=
            fr_fit_slowness(speed, speed->products, samples->gemm[i].probe);
    }
    fr_sort_items(sorted, n, sizeof *sorted, by_shape);
    for (size_t i = 0; i < n; i = stop) {
        for (stop = i; stop < n && together(&sorted[i], &sorted[stop]); stop++)
            time_s[stop - i] = sorted[stop].product.time_s;
        double own_s = fr_sorted_own(time_s, stop - i);
        if (stop - i >= ENOUGH && own_s >= shortest_s && own_s <= longest_s)
            add_shape(e, sorted + i, time_s, stop - i);
    }
}

fr_status fr_fit_interruptions(const struct fr_samples *samples, struct fr_fit_speed *speed) {
    size_t n = samples->n_gemm;
    if (n == 0 || samples->provenance.oversubscribed) return FR_OK;
    struct placed *sorted = fr_malloc(n, sizeof *sorted);
    double *time_s = fr_malloc(n, sizeof *time_s);
    struct exposure e = {.window = fr_malloc(n, sizeof *e.window),
                         .ranks = (double)samples->provenance.ranks};
    bool scratch = sorted && time_s && e.window;
    speed->ranks = e.ranks;
    if (scratch) {
        gather(samples, speed, sorted, time_s, ONE_CALL_S, SHORT_S, &e);
        if (e.n == 0) gather(samples, speed, sorted, time_s, 0, HUGE_VAL, &e);
        estimate(&e, speed);
        /* Then all of which one in three is undisturbed, by that, and that show one interruption. */
        double longest_s = speed->interruptions.every_s > 0
                               ? fmin(speed->interruptions.every_s / e.ranks,
                                      10 * speed->interruptions.length_s)
                               : HUGE_VAL;
        if (longest_s > SHORT_S) {
            gather(samples, speed, sorted, time_s, ONE_CALL_S, longest_s, &e);
            estimate(&e, speed);
        }
    }
    if (scratch && e.calm_own_s > 0) {
        double mean = e.calm_s / e.calm_own_s;
        speed->usual_products *= mean;
        speed->usual_memory *= mean;
    }
    free(sorted);
    free(time_s);
    free(e.window);
    return scratch ? FR_OK : FR_ERR_NOMEM;
}

double fr_fit_own(const struct fr_fit_speed *speed, const double *sorted_s, size_t n) {
    const struct fr_interruptions *i = &speed->interruptions;
    double own_s = fr_sorted_own(sorted_s, n), low_s = 0,
           high_s = fr_sorted_median(sorted_s, n);
    if (!(i->every_s > 0) ||
        exp(-speed->ranks * own_s / i->every_s) >= fmax(0.1, 1 / (double)n))
        return own_s;
    /* Fewer than the fastest tenth, or none, can be expected to be undisturbed: x of which the usual
     * time is the median. */
    double usual_s = high_s;
    for (int k = 0; k < 60; k++) {
        double x = 0.5 * (low_s + high_s);
        *(x * (1 + fr_interruptions_share(i, speed->ranks, x)) < usual_s ? &low_s : &high_s) =
            x;
    }
    return fmin(own_s, 0.5 * (low_s + high_s));
}
