/** @file
 *  Stages at the clocks that a plan gives them.
 *
 *  What a stage computes takes longer at a lower clock, as far as its device's clock says (a share of it
 *  does not scale: models/device/clock.h); launching, links, and the optimiser, which is the memory's,
 *  take as long as before. */
#ifndef FR_MODELS_PRICE_CLOCK_H
#define FR_MODELS_PRICE_CLOCK_H

#include "models/job/job.h"
#include "models/price/stage.h"

/** May @p plan's clocks and limits be had on @p job's devices?  Reasons why not. */
fr_reasons fr_clock_check(const struct fr_job *job, const struct fr_plan *plan);

/** Clock of stage @p i [Hz]; 0: the highest.  Of "slack" nothing is chosen here. */
double fr_clock_of(const struct fr_device *device, const struct fr_plan *plan, int32_t i);

/** Set @p stage, priced at the highest clock, to @p clock_Hz. */
void fr_clock_set(const struct fr_device *device, double clock_Hz, struct fr_stage *stage);

#endif
