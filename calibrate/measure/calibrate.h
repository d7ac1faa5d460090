/** @file
 *  Measuring this machine: launches of forerun-mpi that write samples.jsonl.
 *
 *  calibrate/measure/harness/bench.h states what is measured and how; fitting is apart
 *  (fit.h). */
#ifndef FR_CALIBRATE_MEASURE_CALIBRATE_H
#define FR_CALIBRATE_MEASURE_CALIBRATE_H

#include "calibrate/measure/launch.h"

struct fr_calibrate_options {
    struct fr_launch_options launch;
    const char *samples; /**< file to write; required */
    double max_size_B;   /**< largest message; 0: 16 MiB, of all-reduces 64 */
    const char *sizes;   /**< range of message sizes instead, or NULL */
    const char *groups;  /**< range of rank counts of collectives, or NULL: all */
    const char *only;    /**< rows of the harness, separated by commas; NULL: all */
    bool quick;
    int64_t seed;       /**< negative: 1 */
    int64_t reps;       /**< at most, per point and launch; 0: 120, quick 40 */
    double budget_s;    /**< about, over all launches; 0: 60, quick 15 */
    int64_t launches;   /**< of the job; 0: 3; of GPUs, in a simulation or inside a job 1 */
    int64_t node_size;  /**< ranks that count as a node; 0: those that share memory */
    double patience_s;  /**< without a sign of life or progress; 0: FR_PATIENCE_S */
    const char *meter;  /**< power meter; NULL: the first that works */
    const char *clocks; /**< what sets the clock (calibrate/measure/knob.h); NULL: nothing */
    const char *device; /**< row of the device drivers to measure; NULL: processors */
    bool resume;        /**< go on with the file */
    bool force;         /**< replace what it holds (base/journal/keep.h) */
    bool progress;      /**< report on stderr; the job itself cannot see the terminal */
};

/** Run as many launches as are missing, each with its share of the budget that is left.
 *  @return as fr_launch_mpi; FR_ERR_IO when the samples cannot be written, FR_ERR_INPUT when
 *          they cannot be resumed. */
fr_status fr_calibrate_run(const struct fr_calibrate_options *options, struct fr_error *err);

#endif
