/** @file
 *  forerun calibrate --check and --refresh: is the machine still as it was calibrated, and what is not,
 *  measured again. */
#ifndef FR_CALIBRATE_JUDGE_RECALIBRATION_H
#define FR_CALIBRATE_JUDGE_RECALIBRATION_H

#include "calibrate/measure/calibrate.h"
#include "calibrate/measure/drifted.h"

/** Measure beside the file options->samples into one of its own, removed in the end, and compare. */
fr_status fr_recalibration_check(const struct fr_calibrate_options *options,
                                 struct fr_drifted *drifted, struct fr_error *err);

/** Measure rows @p names again and put them in the place of those of options->samples. */
fr_status fr_recalibration_refresh(const struct fr_calibrate_options *options,
                                   const char *names, struct fr_error *err);

/** Document forerun/check/1. */
void fr_recalibration_json(const struct fr_drifted *drifted, struct fr_text *text);

#endif
