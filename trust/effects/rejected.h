/** @file
 *  Do runs reject a cluster's values?  Values that they do not reject stay as they are.  Such runs cannot distinguish
 *  a coefficient from the model error of one model, and moving it would make other predictions worse.
 *
 *  m_g is the mean error over the runs of one model and plan, in units of the model error of such a kind (`scale`).
 *  Mixtures of experts have four times that unit, so that hosts and exchanges in one release move nothing.  A model's
 *  error is taken as large as that of each of its plans, so the covariance of one model's n kinds is I + 1 1'.  The
 *  values are rejected where, over all models,
 *      sum n mean(m)^2 / (1 + n)    or    sum (m_g - mean(m))^2
 *  exceeds the 97.5 % quantile of chi-squared of the models, or of the kinds less the models. */
#ifndef FR_TRUST_EFFECTS_REJECTED_H
#define FR_TRUST_EFFECTS_REJECTED_H

#include "trust/runs/runs.h"

/** @param log_error  [n]: ln(predicted / measured) of each run, by the cluster's own values
 *  @param scale      standard deviation of the model error of a model, and of a plan */
bool fr_runs_reject(const struct fr_run *const *runs, int n, const double *log_error,
                    double scale);

#endif
