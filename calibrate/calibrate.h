/** @file
 *  Measuring this machine: one MPI job of forerun-mpi that writes samples.jsonl.
 *
 *  What is measured and how is said in calibrate/harness/bench.h; fitting is apart (fit.h). */
#ifndef FR_CALIBRATE_CALIBRATE_H
#define FR_CALIBRATE_CALIBRATE_H

#include "calibrate/launch.h"

struct fr_calibrate_options {
    struct fr_launch_options launch;
    const char *samples; /**< file to write; required */
    double max_size_B;   /**< largest message; 0: 16 MiB */
    bool quick;
    int64_t seed;    /**< negative: 1 */
    int64_t reps;    /**< at most, per point; 0: 120, quick 40 */
    double budget_s; /**< about; 0: 60, quick 15 */
    bool progress;   /**< report on stderr; the job itself cannot see the terminal */
};

/** @return as fr_launch_mpi; FR_ERR_IO when the samples cannot be written. */
fr_status fr_calibrate_run(const struct fr_calibrate_options *options, struct fr_error *err);

#endif
