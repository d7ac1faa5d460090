/** @file
 *  Stages at the clocks that a plan gives them.
 *
 *  What a stage computes takes longer at a lower clock, as far as its device's clock says (a share of it
 *  does not scale: models/device/clock.h); launching, links, and the optimiser, which is the memory's,
 *  take as long as before. */
#ifndef FR_MODELS_PRICE_CLOCK_H
#define FR_MODELS_PRICE_CLOCK_H

#include "models/job/job.h"
#include "models/price/pipeline.h"
#include "models/price/stage.h"

/** May @p plan's clocks and limits be had on @p job's devices?  Reasons why not. */
fr_reasons fr_clock_check(const struct fr_job *job, const struct fr_plan *plan);

/** Clock of stage @p i [Hz]; 0: the highest.  Of "slack" nothing is chosen here. */
double fr_clock_of(const struct fr_device *device, const struct fr_plan *plan, int32_t i);

/** Set @p stage, priced at the highest clock, to @p clock_Hz. */
void fr_clock_set(const struct fr_device *device, double clock_Hz, struct fr_stage *stage);

/** One pass of a stage at the stage's own clock. */
struct fr_clocked_pass {
    double compute_s; /**< that a clock makes longer */
    double busy_s;    /**< of a rank in the mean */
    double shown;     /**< share of its ranks that is busy */
};
/** That of slot @p slot on stage @p i; nothing of a weight gradient done with its backward pass. */
struct fr_clocked_pass fr_clock_pass(const struct fr_pipeline *pipeline, int32_t i,
                                     const struct fr_slot *slot);
/** How much longer it takes at @p clock_Hz [s]. */
static inline double fr_clocked_longer_s(const struct fr_device *device,
                                         const struct fr_clocked_pass *pass, double clock_Hz) {
    return pass->compute_s * (fr_device_clock_slower(&device->clock, clock_Hz) - 1);
}
/** What it draws while busy there, beyond what communicating or waiting would [J]. */
static inline double fr_clocked_J(const struct fr_device *device,
                                  const struct fr_clocked_pass *pass, double clock_Hz) {
    double busy_s = pass->busy_s + pass->shown * fr_clocked_longer_s(device, pass, clock_Hz);
    return (fr_device_busy_W(device, clock_Hz) - device->power.communicating_W) * busy_s;
}

/** Give the passes of @p pipeline, whose stages are at the highest clock, clocks of their own.
 *  @param clock  [P][n_slots], of the device's from the lowest; borrowed
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_clock_set_ops(const struct fr_device *device, const int16_t *clock,
                           struct fr_pipeline *pipeline, struct fr_error *err);

#endif
