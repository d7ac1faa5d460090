/** @file
 *  Loss against iterations and against time, as forerun quality measured and priced them, for a paper's figure. */
#ifndef FR_STUDIES_QUALITY_CURVE_H
#define FR_STUDIES_QUALITY_CURVE_H

#include "base/json.h"
#include "studies/reproduce.h"

/** Add the points of the plan in @p row of a result, at most 30 of them, means over seeds:
 *      quality/@p figure/curve/iteration=I/@p name    over iterations
 *      quality/@p figure/clock/time=T/@p name         over priced time [s], where the result has prices
 *  @param perplexity  exp(loss) in place of the loss [nat a token] */
void fr_quality_curve(const struct fr_json *row, const char *figure, const char *name,
                      bool perplexity, struct fr_reproduction *r);

#endif
