/** @file
 *  An interval on a prediction, from the uncertainties of the cluster's coefficients.
 *
 *  A tuned cluster file holds the posterior of its coefficients.  A value that was not tuned has the width and the
 *  covariances that the file states (models/job/uncertainty.h), else the width of its prior (trust/coefficient.c).
 *  The model error of a model, a plan and a release is added (trust/effects/groups.h: 8 % in all), or the
 *  calibration's own held-out error where that is larger.  The machine's variation and the intervals of its
 *  collectives are added too (trust/tune.h). */
#ifndef FR_TRUST_INTERVAL_H
#define FR_TRUST_INTERVAL_H

#include "models/outcome/outcome.h"
#include "trust/tune.h"

/** By what a calibration's own errors are judged, which is about what a model misses anyway: a standard deviation of the
 *  logarithm of a time. */
extern const double fr_spread_assumed;

/** Spread of errors whose absolute value has median @p median_error, were they normal. */
double fr_spread_of(double median_error);

/** Spread of a prediction from a calibration: the assumed one, or that of @p held_out where it is
 *  larger; and @p variation, of the machine, on top. */
double fr_spread_calibrated(double held_out, double variation);

/** How far 90 % of a spread reach: between 1 / reach and reach times the prediction. */
double fr_spread_reach(double spread);

/** How wide the file itself says that coefficient @p j is, by its posterior or by a stated width; 0: it does not. */
double fr_interval_stated(const struct fr_cluster *cluster, int j, fr_dtype dtype);

/** The same, or where it does not the width of its prior, with what is stated of several together. */
double fr_interval_width(const struct fr_cluster *cluster, int j, fr_dtype dtype);

/** Uncertainties of @p cluster, in the form of fr_tune's result; all rows of the table where it was not tuned. */
void fr_interval_known(const struct fr_cluster *cluster, fr_dtype dtype,
                       struct fr_tune_result *known);

/** Interval of the iteration time of @p plan. */
void fr_interval_plan(const struct fr_tune_result *known, const struct fr_workload *workload,
                      const struct fr_plan *plan, struct fr_interval *interval);

/** The same beside the time of @p out, of out->plan, whoever priced it: what is expected, and the interval; as they are
 *  where there is none. */
void fr_interval_state(const struct fr_tune_result *known, const struct fr_workload *workload,
                       struct fr_outcome *out);

#endif
