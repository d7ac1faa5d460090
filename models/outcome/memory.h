/** @file
 *  How sure is a plan's memory?
 *
 *      low, high = M exp(-+ t s)          M predicted, s spread of ln(measured / predicted)
 *
 *  s is the root mean square over plans whose peak a framework's allocator reported, and which did not shape our
 *  count.  They are MLPerf's under NeMo on B200, GB200 and H100, each plan once (`forerun reproduce memory`
 *  recomputes s).  t is Student's 95 % quantile for so many.  M counts tensors alone; models/outcome/fits/fits.h adds
 *  what a device shows.
 */
#ifndef FR_MODELS_OUTCOME_MEMORY_H
#define FR_MODELS_OUTCOME_MEMORY_H

#include "models/outcome/outcome.h"

#define FR_MEMORY_SPREAD 0.0289
#define FR_MEMORY_REACH 2.132 /**< t of 4 degrees of freedom */

/** The 90 % interval of out->memory_peak_B [B].
 *  @return false, and NaN, where memory is not priced, or of models that no such run trained: no transformers */
bool fr_memory_interval(const struct fr_job *job, const struct fr_outcome *out, double *low_B,
                        double *high_B);

#endif
