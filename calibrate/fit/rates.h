/** @file
 *  How fast was each point of an accelerator, and which roof does it lie under?
 *
 *  A point's rate is its work over its median time.  The roof over an arithmetic intensity I is
 *
 *      min(peak, I B)          B  bandwidth of memory [B/s]   I  flop of a byte that is moved once
 *                              Williams, Waterman and Patterson, CACM 52(4), 2009
 */
#ifndef FR_CALIBRATE_FIT_RATES_H
#define FR_CALIBRATE_FIT_RATES_H

#include "base/json.h"
#include "calibrate/fit/fit.h"

/** Add "rates" (products, attention, memory and link, a row a point) and "roofline" to the document of a fit, where an
 *  accelerator was measured.  Predictions are those of the cluster file that the fit makes. */
void fr_fit_json_rates(struct fr_json_writer *w, const struct fr_samples *samples,
                       const struct fr_fit_result *result);

#endif
