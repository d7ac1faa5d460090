/** @file
 *  Which of a few plans is best, when no prediction is certain?
 *
 *  The logarithm of each plan's time is taken as normal about its prediction.  Plans share the
 *  coefficients: if the network is slower than thought, all plans that use it are.  With x from the
 *  coefficients' posterior, what is missed of models and plans that were seen, and the collectives' intervals
 *  (calibrate/runs/tune.h), g_i the gradient of plan i, a what is missed of the model where it was not, s_i of each
 *  plan, release and run (calibrate/runs/shared/alike.h),
 *
 *      ln t_i = ln predicted_i + g_i' x + a u + s_i u_i,      u, u_i standard normal
 *
 *  Only differences decide, so u falls out.  All deviations but those of the collectives are as much smaller as the 90 %
 *  intervals are than normal ones (fr_tune_drawn).
 *  Drawn FR_ODDS_DRAWS times with a fixed seed: the same input gives the same odds. */
#ifndef FR_CALIBRATE_RUNS_ODDS_H
#define FR_CALIBRATE_RUNS_ODDS_H

#include "calibrate/runs/interval.h"

enum { FR_ODDS_DRAWS = 4096, FR_ODDS_SEED = 20231, FR_ODDS_PLANS_MAX = 64 };

struct fr_odds {
    double predicted_s, low_s, high_s; /**< 90 % */
    double best;                       /**< probability that this plan is the fastest */
    double regret;                     /**< expected t_i / min t - 1 of choosing it */
};

/** Odds of @p n plans (at most FR_ODDS_PLANS_MAX) of one workload.
 *  @param times  iterations of each, taken as certain, where they differ; or NULL
 *  @return FR_OK; FR_ERR_NUMERIC when the posterior is no covariance; FR_ERR_NOMEM. */
fr_status fr_odds_make(const struct fr_tune_result *known, const struct fr_workload *workload,
                       const struct fr_plan *const *plans, const double *times, int n,
                       struct fr_odds *odds, struct fr_error *err);

#endif
