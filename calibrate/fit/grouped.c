/* Equal products at once, and products with scales of blocks: each beside single products that are fitted already.
 *
 *      grouped = own_s / (t / b - moved_s)        of b products in t
 *
 * own_s is what the form says of one of them at the share 1, moved_s what it takes besides for its result and its own
 * operand.  The median counts, over experts' shapes: the inner dimension of heads is too short to say it. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/fit/parts.h"

enum { SHORTEST_K = 512 };

static bool is_of_experts(const struct fr_sample_gemm *s, fr_dtype dtype) {
    return s->dtype == dtype && s->k >= SHORTEST_K && s->n >= SHORTEST_K &&
           s->transposed != FR_TRANSPOSED_A;
}

/* The share that product @p s reached; 0: it says nothing. */
static double share_of(const struct fr_device *one, fr_dtype dtype,
                       const struct fr_sample_gemm *s) {
    bool extrapolated = false;
    const struct fr_gemm_model *model = &one->gemm[dtype];
    const struct fr_gemm_shape shape = {
        .m = (double)s->n, .n = (double)s->m, .k = (double)s->k, .at_once = (double)s->batch};
    double own_s = model->form->time_s(model, &shape, &extrapolated),
           all_s =
               fr_gemm_time_of_s(one, dtype, &shape, (struct fr_gemm_use){0}, &extrapolated) +
               fr_gemm_own_s(one, dtype, &shape),
           took_s = s->time_s / (double)s->batch - (all_s - own_s);
    return took_s > 0 ? own_s / took_s : 0;
}

fr_status fr_fit_grouped(const struct fr_samples *samples, const struct fr_device *device,
                         fr_dtype dtype, struct fr_fit_singles *out) {
    struct fr_device one = *device;
    size_t n = 0;
    if (device->gemm[dtype].form != &fr_gemm_tiled || samples->n_batched == 0) return FR_OK;
    double *share = fr_malloc(samples->n_batched, sizeof *share);
    if (!share) return FR_ERR_NOMEM;
    one.gemm[dtype].tiles.grouped = 1;
    for (size_t i = 0; i < samples->n_batched; i++) {
        const struct fr_sample_gemm *s = &samples->batched[i];
        double found = is_of_experts(s, dtype) ? share_of(&one, dtype, s) : 0;
        if (found > 0) share[n++] = found;
    }
    if (n > 0) {
        double square = 0;
        double median = fr_fit_median(share, n);
        for (size_t i = 0; i < n; i++) square += pow(log(share[i] / median), 2);
        out->grouped = fmin(1, fmax(1e-6, median)); /* what a cluster file may state */
        out->grouped_spread = sqrt(square / (double)n);
        out->n_grouped = (int)n;
    }
    free(share);
    return FR_OK;
}

static bool is_same(const struct fr_sample_gemm *a, const struct fr_sample_gemm *b) {
    return a->dtype == b->dtype && a->m == b->m && a->n == b->n && a->k == b->k &&
           a->transposed == b->transposed;
}

/* The median time of all that are like @p s, or 0. */
static double median_s(const struct fr_sample_gemm *all, size_t n,
                       const struct fr_sample_gemm *s, double *scratch) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (is_same(&all[i], s)) scratch[found++] = all[i].time_s;
    return fr_fit_median(scratch, found);
}

fr_status fr_fit_block_scales(const struct fr_samples *samples, fr_dtype dtype,
                              struct fr_fit_singles *out) {
    const struct fr_samples *s = samples;
    if (s->n_scaled == 0) return FR_OK;
    double *scratch = fr_malloc(2 * (s->n_gemm + s->n_scaled), sizeof *scratch),
           *ratio = scratch + s->n_gemm + s->n_scaled;
    size_t n = 0;
    if (!scratch) return FR_ERR_NOMEM;
    for (size_t i = 0; i < s->n_scaled; i++) {
        const struct fr_sample_gemm *one = &s->scaled[i];
        bool first = true;
        for (size_t j = 0; j < i; j++) first = first && !is_same(&s->scaled[j], one);
        if (one->dtype != dtype || !first) continue;
        double plain_s = median_s(s->gemm, s->n_gemm, one, scratch);
        if (plain_s > 0) ratio[n++] = median_s(s->scaled, s->n_scaled, one, scratch) / plain_s;
    }
    out->blocks = fr_fit_median(ratio, n);
    out->n_blocks = (int)n;
    free(scratch);
    return FR_OK;
}
