/** @file
 *  A job of real runs: every case timed several times in random order, samples written as they
 *  are taken.
 *
 *  In each pass the cases come in a new order (passes/order.h), as long as there is time (passes/deadline.h).  A visit
 *  opens the case anew (new buffers), warms up and takes samples of a step
 *  (calibrate/measure/harness/sampling.h: the slowest rank's time between barriers).  In the first of every
 *  four passes it then profiles a few steps, in which a barrier before every collective tells
 *  waiting from communicating.
 *
 *      {"kind": "run", "id": 0, "pass": 1, "time_s": [...]}
 *      {"kind": "phases", "id": 0, "pass": 1, "step_s", "compute_s", "launch_s",
 *       "collective_s", "wait_s"}          means over ranks, of a profiled step
 */
#ifndef FR_REAL_APPS_RUN_H
#define FR_REAL_APPS_RUN_H

#include "real/apps/case.h"

struct fr_real_job {
    const char *out; /**< file of samples */
    uint64_t seed;
    int passes;
    double visit_s;  /**< about, of one visit's samples */
    double budget_s; /**< no visit but the first is begun after it; 0: none */
    double
        since_s; /**< of the epoch, from which the budget counts; 0: from the first visit on */
    bool progress;
    const bool *done;    /**< [case * passes + pass]: measured already; NULL: none */
    const char *machine; /**< written before the first sample; NULL: the file says it */
    int fail_rank,
        fail_visit; /**< this rank ends itself at this visit; -1: never.  For tests */
};

/** Run on MPI_COMM_WORLD.  @return FR_OK; FR_ERR_IO, FR_ERR_NOMEM, FR_ERR_EXTERNAL. */
fr_status fr_real_job_run(const struct fr_real_cases *cases, const struct fr_real_job *job,
                          struct fr_error *err);

#endif
