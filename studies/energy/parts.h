/** @file
 *  The parts of forerun reproduce energy: each reads its file below the data folder and adds its tables.
 *  FR_ERR_IO where the file is absent. */
#ifndef FR_STUDIES_ENERGY_PARTS_H
#define FR_STUDIES_ENERGY_PARTS_H

#include "models/device/clock.h"
#include "studies/energy/rows.h"

/** Pipeline stages at other clocks (Perseus). */
fr_status fr_energy_stages(struct fr_reproduction *r, struct fr_error *err);
/** Values of a device fitted to its stages at all clocks. */
struct fr_stage_device {
    struct fr_clock_voltage voltage; /**< fitted */
    double full_W;      /**< drawn at the highest clock, in the mean of their time */
    double fixed_share; /**< of their time there, that does not scale */
};

/** Values of the device whose name holds @p device ("a40"). */
fr_status fr_energy_stage_device(const char *device, struct fr_stage_device *out,
                                 struct fr_error *err);
/** Whole trainings on pipelines, with and without clock plans (Perseus). */
fr_status fr_energy_trainings(struct fr_reproduction *r, struct fr_error *err);
/** Energy of a step with its time predicted, too (Perseus). */
fr_status fr_energy_steps(struct fr_reproduction *r, struct fr_error *err);
/** Energy that clocks of passes save at no more time, beside plans that were run (Perseus). */
fr_status fr_energy_slack(struct fr_reproduction *r, struct fr_error *err);
/** Trainings under power limits (Zeus). */
fr_status fr_energy_limits(struct fr_reproduction *r, struct fr_error *err);
/** Whole nodes (MLPerf Training). */
fr_status fr_energy_nodes(struct fr_reproduction *r, struct fr_error *err);

#endif
