/** @file
 *  What an iteration of a pipeline takes at least, without following its passes.
 *
 *  Stage i of P begins no sooner than the first activation has come through the stages below it, then does
 *  all of its own passes, and after the last of them the gradient that it made goes down through the stages
 *  below.  With f, b of stage i the time of a forward and a backward pass of one of v chunks, c of the
 *  message above it, m micro-batches, g what follows a stage's last pass (its gradients, its optimiser):
 *
 *      begin_i   = sum_{j<i} f_j + c_j
 *      iteration >= begin_i + m v (f_i + b_i) + max(g_i, sum_{j<i} (b_j + c_j) + g_0)     for every i
 *
 *  Proof.  A stage's first pass is a forward one of some virtual stage at or above i, whose input has come
 *  through virtual stages 0 .. i - 1, one after another: begin_i.  Passes of a stage do not overlap.  Its
 *  last pass is a backward one, since every forward pass is followed by its own backward pass on the same
 *  stage; what it made goes through the virtual stages below, among them those of stages i - 1 .. 0 once
 *  each.  Where the backward pass is split the last pass may be a weight gradient, which nobody waits for:
 *  then the second term of the maximum is left out.  A compressed message takes the shorter of its two
 *  times, codecs are left out, buckets count with one of them.  Equal stages of 1F1B without messages take
 *  just that.
 *
 *  The sums round differently from the recurrence's, by some 1e-13; the answer is made smaller by 1e-9. */
#ifndef FR_MODELS_OUTCOME_LOWER_BOUND_H
#define FR_MODELS_OUTCOME_LOWER_BOUND_H

#include "models/price/pipeline.h"

/** How much less than a lower bound is said: far more than sums may round by. */
#define FR_LOWER_BOUND_SURE (1 - 1e-9)

/** No more than fr_pipeline_run's makespan with all that takes time [s]. */
double fr_pipeline_lower_bound_s(const struct fr_pipeline *pipeline);

#endif
