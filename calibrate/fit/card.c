/* Measured values of an accelerator besides its products, which singles.c fits: memory,
 * launches, the host link and power.  All else is the base's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "calibrate/fit/parts.h"

/* Which samples: their kind (graph, way, kernel), and of those of a size the size. */
struct query {
    int kind;
    double size_B;
};

typedef double take_fn(const struct fr_samples *samples, size_t i, const struct query *of);

/* Median of what @p take says of each sample but those of which it is negative; 0: there are none. */
static double median_of(size_t n, take_fn *take, const struct fr_samples *samples,
                        struct query of, double *scratch) {
    size_t taken = 0;
    for (size_t i = 0; i < n; i++) {
        double value = take(samples, i, &of);
        if (value >= 0) scratch[taken++] = value;
    }
    return fr_fit_median(scratch, taken);
}

static double launch_of(const struct fr_samples *s, size_t i, const struct query *of) {
    return s->kernel[i].graph == (of->kind != 0) ? s->kernel[i].time_s : -1;
}

/* The largest of copies both ways; pages are locked. */
static double largest_link_B(const struct fr_samples *s) {
    double largest = 0;
    for (size_t k = 0; k < s->n_link; k++)
        if (s->link[k].pinned) largest = fmax(largest, s->link[k].size_B);
    return largest;
}

static double link_rate(const struct fr_samples *s, size_t i, const struct query *of) {
    const struct fr_sample_link *l = &s->link[i];
    bool asked = l->pinned && l->way == of->kind && l->size_B == of->size_B;
    return asked ? l->size_B / l->time_s : -1;
}

/* The largest set that was in use. */
static double largest_B(const struct fr_samples *s, int kernel) {
    double largest = 0;
    for (size_t k = 0; k < s->n_memory; k++)
        if (s->memory[k].kernel == kernel) largest = fmax(largest, s->memory[k].size_B);
    return largest;
}

static double memory_rate(const struct fr_samples *s, size_t i, const struct query *of) {
    const struct fr_sample_memory *m = &s->memory[i];
    return m->kernel == of->kind && m->size_B == of->size_B ? m->moved_B / m->time_s : -1;
}

/* How far other passes are from a copy's rate, of the logarithms. */
static double spread_of(const double *rate_B_per_s) {
    double square = 0;
    int n = 0;
    for (int kind = 0; kind < FR_TRAFFIC_OPERANDS; kind++) {
        if (!(rate_B_per_s[kind] > 0)) continue;
        double off = log(rate_B_per_s[kind] / rate_B_per_s[FR_TRAFFIC_STREAM]);
        square += off * off;
        n++;
    }
    return n > 1 ? sqrt(square / (n - 1)) : 0;
}

static double slower(double a, double b) { return a > 0 && b > 0 ? fmin(a, b) : fmax(a, b); }

/* Median of one part of an overlap; 0: it was not measured. */
static double part_s(const struct fr_samples *s, const struct fr_sample_overlap *of, int part,
                     double *scratch) {
    size_t taken = 0;
    for (size_t i = 0; i < s->n_overlap; i++) {
        const struct fr_sample_overlap *o = &s->overlap[i];
        if (o->part == part && o->op == of->op && o->n_ranks == of->n_ranks &&
            o->level == of->level && o->size_B == of->size_B && o->m == of->m &&
            o->n == of->n && o->k == of->k)
            scratch[taken++] = o->time_s;
    }
    return fr_fit_median(scratch, taken);
}

/* (during - compute) / min(comm, compute), the median over samples of products meanwhile. */
static fr_status interference_of(const struct fr_samples *s, double *out) {
    double *scratch = fr_malloc(2 * s->n_overlap + 1, sizeof *scratch),
           *found = scratch + s->n_overlap;
    size_t n = 0;
    if (!scratch) return FR_ERR_NOMEM;
    for (size_t i = 0; i < s->n_overlap; i++) {
        const struct fr_sample_overlap *o = &s->overlap[i];
        if (o->part != FR_OVERLAP_DURING) continue;
        double comm_s = part_s(s, o, FR_OVERLAP_COMM, scratch),
               compute_s = part_s(s, o, FR_OVERLAP_COMPUTE, scratch);
        if (comm_s > 0 && compute_s > 0)
            found[n++] = fmin(1, fmax(0, (o->time_s - compute_s) / fmin(comm_s, compute_s)));
    }
    *out = fr_fit_median(found, n);
    free(scratch);
    return FR_OK;
}

bool fr_fit_is_card(const struct fr_samples *samples) {
    return samples->provenance.device[0] != '\0';
}

fr_status fr_fit_card(const struct fr_samples *samples, const struct fr_fit_options *options,
                      struct fr_fit_result *result) {
    struct fr_fit_card *card = &result->card;
    double rate_B_per_s[FR_TRAFFIC_OPERANDS];
    size_t capacity = samples->n_kernel + samples->n_link + samples->n_memory + 1;
    if (!fr_fit_is_card(samples)) return FR_OK;
    double *scratch = fr_malloc(capacity, sizeof *scratch);
    if (!scratch) return FR_ERR_NOMEM;
    card->present = true;
    card->memory_B = samples->provenance.device_memory_B;
    card->launch_s =
        median_of(samples->n_kernel, launch_of, samples, (struct query){.kind = 0}, scratch);
    card->graph_s =
        median_of(samples->n_kernel, launch_of, samples, (struct query){.kind = 1}, scratch);
    const double link_B = largest_link_B(samples);
    card->link_rate_B_per_s =
        slower(median_of(samples->n_link, link_rate, samples,
                         (struct query){FR_WAY_TO_DEVICE, link_B}, scratch),
               median_of(samples->n_link, link_rate, samples,
                         (struct query){FR_WAY_TO_HOST, link_B}, scratch));
    /* Over sets so much smaller than the copy's a kernel's own start and end count. */
    const double least_B = 0.2 * largest_B(samples, FR_TRAFFIC_STREAM);
    for (int kind = 0; kind < FR_TRAFFIC_OPERANDS; kind++) {
        const struct query of = {kind, largest_B(samples, kind)};
        rate_B_per_s[kind] = of.size_B < least_B ? 0
                                                 : median_of(samples->n_memory, memory_rate,
                                                             samples, of, scratch);
    }
    free(scratch);
    FR_TRY(interference_of(samples, &card->interference));
    FR_TRY(fr_fit_at_once(samples, card));
    card->memory_rate_B_per_s = rate_B_per_s[FR_TRAFFIC_STREAM];
    if (card->memory_rate_B_per_s > 0) card->memory_spread = spread_of(rate_B_per_s);
    FR_TRY(fr_fit_power(samples, options, result));
    if (result->power_quality != FR_QUALITY_ESTIMATED)
        snprintf(result->power_source, sizeof result->power_source,
                 "energy counter of one device (%.24s), in products and asleep",
                 samples->power->meter);
    return FR_OK;
}

static int by_point(const void *x, const void *y) {
    const struct fr_sample_gemm *a = x, *b = y;
    if (a->dtype != b->dtype) return FR_ORDER(a->dtype, b->dtype);
    if (a->m != b->m) return FR_ORDER(a->m, b->m);
    if (a->n != b->n) return FR_ORDER(a->n, b->n);
    if (a->k != b->k) return FR_ORDER(a->k, b->k);
    if (a->batch != b->batch) return FR_ORDER(a->batch, b->batch);
    if (a->transposed != b->transposed) return FR_ORDER(a->transposed, b->transposed);
    return FR_ORDER(a->time_s, b->time_s);
}

static bool one_point(const struct fr_sample_gemm *a, const struct fr_sample_gemm *b) {
    return a->dtype == b->dtype && a->m == b->m && a->n == b->n && a->k == b->k &&
           a->batch == b->batch && a->transposed == b->transposed;
}

fr_status fr_fit_card_products(const struct fr_samples *samples, struct fr_sample_gemm **points,
                               size_t *n) {
    struct fr_sample_gemm *all = fr_malloc(samples->n_gemm + 1, sizeof *all);
    *points = all;
    *n = 0;
    if (!all) return FR_ERR_NOMEM;
    if (samples->n_gemm == 0) return FR_OK;
    memcpy(all, samples->gemm, samples->n_gemm * sizeof *all);
    fr_sort_items(all, samples->n_gemm, sizeof *all, by_point);
    for (size_t first = 0, stop; first < samples->n_gemm; first = stop) {
        for (stop = first + 1; stop < samples->n_gemm; stop++)
            if (!one_point(&all[first], &all[stop])) break;
        struct fr_sample_gemm median = all[first + (stop - first) / 2];
        all[(*n)++] = median; /* no later than where it was read */
    }
    return FR_OK;
}
