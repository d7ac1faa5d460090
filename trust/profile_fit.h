/** @file
 *  Layer times out of whole iterations: a layer profile from runs without a pipeline.
 *
 *  At pp = 1 an iteration of m micro-batches over L layers takes m (L a + b) and a rest that the
 *  model knows (gradients, optimiser, fixed).  Runs of the same width, tp and micro-batch with
 *  several L and m give a, of a layer, and b, of embedding and logits, by relative least squares.
 *  One run cannot tell forward from backward: a third and two thirds are assumed. */
#ifndef FR_TRUST_PROFILE_FIT_H
#define FR_TRUST_PROFILE_FIT_H

#include "trust/tune.h"

/** A profile's row and what it is of: a hidden size. */
struct fr_fitted_profile {
    int64_t hidden;
    struct fr_layer_profile row;
};

/** Fit a row for each (hidden, tp, micro-batch) among the @p n runs of pp = 1.
 *  @param[out] profiles  buffer for n; @p count of them are filled
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_profile_fit(const struct fr_cluster *cluster, const struct fr_run *const *runs,
                         int n, struct fr_fitted_profile *profiles, int *count,
                         struct fr_error *err);

/** Point the workload of @p run to its row of @p profiles, or to none.  The row is borrowed: take it
 *  away (NULL, 0) before the run is freed.  @return whether there is one. */
bool fr_profile_use(struct fr_run *run, struct fr_fitted_profile *profiles, int count);

#endif
