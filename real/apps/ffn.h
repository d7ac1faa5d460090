/** @file
 *  Shared parts of the feed-forward programs: the data y = relu(W relu(x)) of a fixed Gaussian
 *  W, and initial weights.
 *
 *  x is n_0 x B standard normal, W is n_L x n_0 with deviation 1 / sqrt(n_0), so that y has the
 *  scale of x.  Both come from the case's seed by place (random.h): all divisions train on the
 *  same numbers.
 *
 *  Weights start with deviation sqrt(1 / (3 inputs)), as PyTorch's linear layers do (there
 *  uniform up to 1 / sqrt(inputs)).  The deviation sqrt(2 / inputs) (He et al., ICCV 2015)
 *  keeps the scale from layer to layer, but with it outputs start at twice the targets' mean.
 *  Adam's first steps, all in one direction, then carry many of them to where relu is 0 for
 *  every sample, and there they stay.  The loss stalls for good (0.14 instead of 0.02 on one
 *  batch, n = 512, dense).
 */
#ifndef FR_REAL_APPS_FFN_H
#define FR_REAL_APPS_FFN_H

#include <math.h>

#include "real/apps/app.h"

/* Streams of random numbers; layer l's matrices use FR_STREAM_LAYER + 64 l + which. */
enum { FR_STREAM_X = 1, FR_STREAM_W = 2, FR_STREAM_LAYER = 64 };

/** Deviation of initial weights into an output from @p inputs values. */
static inline double fr_ffn_deviation(double inputs) { return sqrt(1 / (3 * inputs)); }

/** The part of inputs and targets that a rank holds. */
struct fr_ffn_part {
    int64_t x_row, x_rows;   /**< features of the inputs */
    int64_t t_row, t_rows;   /**< features of the targets */
    int64_t sample, samples; /**< of all_samples */
    int64_t all_samples;
};

/** Make inputs x (x_rows x samples) and targets t (t_rows x samples); freed by the caller, also
 *  on error.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_ffn_data(const struct fr_kernels *k, uint64_t seed, int64_t n_in, int64_t n_out,
                      const struct fr_ffn_part *part, void **x, void **t, struct fr_error *err);

/** Samples of one iteration over all ranks. */
static inline int64_t fr_real_batch(const struct fr_real_case *run) {
    return run->plan->global_batch ? run->plan->global_batch : run->workload->global_batch;
}

/** Eq. 14 of Seal et al. 2025, on the @p n outputs that a rank holds: loss := mean sum (y - t)^2 and
 *  dy := 2 mean (y - t), with @p mean one over the values that all ranks compare. */
void fr_ffn_loss(struct fr_real *real, size_t n, double mean, const void *output,
                 const void *target, void *dy, double *loss);

/** Refuse what no feed-forward program supports: micro-batches, pipelines, compression, and
 *  layers that are not fully connected. */
fr_status fr_ffn_check(const struct fr_real_case *run, struct fr_error *err);

#endif
