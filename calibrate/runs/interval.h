/** @file
 *  An interval on a prediction, from what is known of the cluster's coefficients.
 *
 *  A tuned cluster file holds the posterior of its coefficients; any other is taken at the widths
 *  of the priors (calibrate/runs/coefficient.c), with 10 % for what the model misses, or the calibration's
 *  own held-out error where that is larger, and with how much the machine varied.  The intervals of
 *  its collectives come on top (calibrate/runs/tune.h). */
#ifndef FR_CALIBRATE_RUNS_INTERVAL_H
#define FR_CALIBRATE_RUNS_INTERVAL_H

#include "calibrate/runs/tune.h"

/** What is known of @p cluster, in the form fr_tune leaves; all rows of the table where it was
 *  not tuned. */
void fr_interval_known(const struct fr_cluster *cluster, fr_dtype dtype,
                       struct fr_tune_result *known);

/** Interval of the iteration time of @p plan, 90 % [s]. */
void fr_interval_plan(const struct fr_tune_result *known, const struct fr_workload *workload,
                      const struct fr_plan *plan, double *predicted_s, double *low_s,
                      double *high_s);

#endif
