/** @file
 *  Which of a few plans is best, when no prediction is certain?
 *
 *  The logarithm of each plan's time is taken as normal about its prediction.  Plans share the
 *  coefficients: if the network is slower than thought, all plans that use it are.  They share the model's errors as far
 *  as they are alike (trust/effects/differences.h).  With x from the coefficients' posterior, the model error of models
 *  and plans that were seen, and the collectives' intervals (trust/tune.h), g_i the gradient of plan i, A_i its row
 *  of shared errors,
 *
 *      ln t_i = ln predicted_i + g_i' x + c_i A_i' z,      z standard normal
 *
 *  c_i is what is the plan's own (fr_tune_own) over that of presets, of which the sizes in differ.c are: 1 there, more
 *  of mixtures of experts, less of plans that were measured.  What all plans of a model share falls out, since only
 *  differences decide.  All deviations of coefficients but those of the collectives are as much smaller as the 90 %
 *  intervals are than normal ones (fr_tune_drawn).
 *  Drawn FR_ODDS_DRAWS times with a fixed seed: the same input gives the same odds, in whatever order its plans stand. */
#ifndef FR_TRUST_ODDS_H
#define FR_TRUST_ODDS_H

#include "trust/interval.h"

enum { FR_ODDS_DRAWS = 4096, FR_ODDS_SEED = 20231, FR_ODDS_PLANS_MAX = 64 };

struct fr_odds {
    double predicted_s, low_s, high_s; /**< 90 % */
    double best;   /**< probability that this plan is the fastest; ties share it */
    double regret; /**< expected t_i / min t - 1 of choosing it */
    double
        luck; /**< were true times as predicted: how much more a drawn winner's error flatters it than this one's its,
                       expected, in logarithms */
    double
        tried; /**< expected gain of running this plan and those before it and keeping the fastest: of the first's time
                       over theirs, less 1 */
};

/** Odds of @p n plans (at most FR_ODDS_PLANS_MAX) of one workload.
 *  @param times  iterations of each, taken as certain, where they differ; or NULL
 *  @return FR_OK; FR_ERR_NUMERIC when the posterior is no covariance; FR_ERR_NOMEM. */
fr_status fr_odds_make(const struct fr_tune_result *known, const struct fr_workload *workload,
                       const struct fr_plan *const *plans, const double *times, int n,
                       struct fr_odds *odds, struct fr_error *err);

/** Standard deviation of the difference of the logarithms of two plans' times, as the draws have it:
 *      sqrt(|L' (g_a - g_b)|^2 + |c_a A_a - c_b A_b|^2)
 *  @param difference  out: ln of the time of @p a over that of @p b, as expected
 *  @return as fr_odds_make */
fr_status fr_odds_pair(const struct fr_tune_result *known, const struct fr_workload *workload,
                       const struct fr_plan *a, const struct fr_plan *b, double *difference,
                       double *deviation, struct fr_error *err);

/** The probability that a standard normal is below @p x. */
double fr_odds_normal(double x);

/** Share of the drawn winner's luck that winners were seen to have: 0.15, give or take 0.2 (134 groups of three and more
 *  measured plans: 0.6 % too fast where draws say 3.7; 1.0 at 7 to 11 plans, 1.4 at 12 and more). */
#define FR_ODDS_LUCK 0.15
#define FR_ODDS_LUCK_SD 0.2

/** What is expected of a plan because it was chosen: slower by that share of its luck, and less sure,
 *      expected = predicted exp(w L),   half width = hypot(half width, 0.2 L)
 *  @return the interval; model_s is predicted_s */
struct fr_interval fr_odds_chosen(const struct fr_odds *odds);

#endif
