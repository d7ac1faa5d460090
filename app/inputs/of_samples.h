/** @file
 *  A calibration's samples where a cluster is asked for: fitted on the way, with a sentence on standard error. */
#ifndef FR_APP_INPUTS_OF_SAMPLES_H
#define FR_APP_INPUTS_OF_SAMPLES_H

#include "models/job/preset.h"

/** The cluster file that `forerun fit PATH --out FILE` writes (fr_samples_fit).
 *  @return FR_OK; what reading, fitting and judging gave */
fr_status fr_app_cluster_of_samples(const char *path, struct fr_json_document **document,
                                    struct fr_error *err);

#endif
