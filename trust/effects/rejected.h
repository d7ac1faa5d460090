/** @file
 *  Do runs refute a cluster's values?  Those that they do not refute stay as they are: other runs cannot tell a
 *  coefficient from the model error of one model, and what they would move makes others worse.
 *
 *  With m_g the mean error over the runs of one model and plan, in units of the model error of such a kind (`scale`,
 *  of mixtures of experts four times as much, so that what hosts and exchanges do in one release moves nothing), and as
 *  much missed of a model as of each of its plans, the covariance of one model's n kinds is I + 1 1', and they do where, of all models,
 *      sum n mean(m)^2 / (1 + n)    or    sum (m_g - mean(m))^2
 *  exceeds the 97.5 % quantile of chi-squared of the models, or of the kinds less the models. */
#ifndef FR_TRUST_EFFECTS_REJECTED_H
#define FR_TRUST_EFFECTS_REJECTED_H

#include "trust/runs/runs.h"

/** @param log_error  [n]: ln(predicted / measured) of each run, by the cluster's own values
 *  @param scale      standard deviation of the model error of a model, and of a plan */
bool fr_runs_refute(const struct fr_run *const *runs, int n, const double *log_error,
                    double scale);

#endif
