/** @file
 *  How far our times may be off, for figures that draw them: the interval that forerun predict states. */
#ifndef FR_STUDIES_INTERVAL_H
#define FR_STUDIES_INTERVAL_H

#include "models/outcome/cost.h"

/** Fill low_s and high_s of @p out, of plan out->plan on @p job (90 %); as they are where nothing is known, or
 *  memory runs out. */
void fr_paper_interval(const struct fr_job *job, struct fr_outcome *out);

#endif
