/** @file
 *  An interval on a prediction, from what is known of the cluster's coefficients.
 *
 *  A tuned cluster file holds the posterior of its coefficients; what was not tuned is taken at the width that the
 *  file states of it (models/job/uncertainty.h), else at that of its prior (trust/coefficient.c), and at what it
 *  states of several together; with what the model misses of a model, a plan and a release
 *  (trust/effects/groups.h: 8 % in all), or the calibration's own held-out error where that is larger, and with
 *  how much the machine varied.  The intervals of
 *  its collectives come on top (trust/tune.h). */
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

/** What is known of @p cluster, in the form fr_tune leaves; all rows of the table where it was
 *  not tuned. */
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
