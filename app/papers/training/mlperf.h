/** @file
 *  Rows of MLPerf Training and the presets of the machines that they ran on. */
#ifndef FR_APP_PAPERS_TRAINING_MLPERF_H
#define FR_APP_PAPERS_TRAINING_MLPERF_H

#include "app/papers/training/table.h"

/** Below the data folder. */
extern const char fr_mlperf_file[];

/** The cluster preset of the device that a row names; NULL where there is none. */
const char *fr_mlperf_preset(const struct fr_run *run);

/** The i-th preset that rows may have; NULL past the last. */
const char *fr_mlperf_machine(int i);

#endif
