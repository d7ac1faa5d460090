/** @file
 *  Rows of MLPerf Training and the presets of the machines that they ran on. */
#ifndef FR_STUDIES_TRAINING_MLPERF_H
#define FR_STUDIES_TRAINING_MLPERF_H

#include "studies/training/table.h"

/** Below the data folder: pre-training, and fine-tuning by adapters. */
extern const char fr_mlperf_file[], fr_mlperf_lora_file[];

/** Run @p study on the rows of @p file, after what is left out of them; without the data a row says so.
 *  @return FR_OK, or what reading or @p study failed with. */
fr_status fr_mlperf_study(struct fr_reproduction *r, const char *file,
                          fr_status (*study)(struct fr_reproduction *r,
                                             const struct fr_table_set *set,
                                             struct fr_error *err),
                          struct fr_error *err);

/** The cluster preset of the device that a row names; NULL where there is none. */
const char *fr_mlperf_preset(const struct fr_run *run);

#endif
