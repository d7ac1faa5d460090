/** @file
 *  Starting forerun-mpi as an MPI job from forerun, without a shell.
 */
#ifndef FR_CALIBRATE_MEASURE_LAUNCH_H
#define FR_CALIBRATE_MEASURE_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct fr_launch_options {
    int64_t n_ranks;      /**< >= 1 */
    const char *launcher; /**< NULL: Open MPI's mpirun; "smpi:PLATFORM [smpirun's words]":
                               SimGrid's smpirun on that platform file; else words split at
                               blanks, e.g. "srun --mpi=pmix -n 4", which say the number of
                               ranks themselves */
    const char *
        begins; /**< a file that the job writes to when it has begun; NULL: it saves nothing when asked to stop */
    double patience_s; /**< without a sign of life or progress of a rank, or of the launcher; 0:
                              FR_PATIENCE_S (calibrate/measure/watch/wire.h) */
    double
        start_s; /**< until a rank has connected or `begins` has changed; 0: the patience, but at least 10 s */
    double
        busy_s; /**< without progress although ranks use cores; 0: FR_PATIENCE_BUSY patiences */
    double limit_s;      /**< a job that takes longer is ended; 0: none is */
    const char *program; /**< NULL: forerun-mpi (smpi: forerun-smpi) beside this executable */
    bool yields; /**< what the job takes is not timed: its ranks are bound to no core and yield
                              it while they wait, so that whoever else computes here slows it less */
    bool quiet;  /**< what the launcher says of failures is not shown */
};

/** Run @p program with @p arguments (NULL-terminated) as a job and wait for it.
 *
 *  mpirun gets one core a rank (--bind-to core) while there are cores enough.  With more ranks than
 *  cores, or where ranks yield, it gets --oversubscribe and mpi_yield_when_idle.  Without these a
 *  waiting rank holds the core that the awaited one needs.  As root Open MPI must be asked twice
 *  that this is meant.  BLAS gets one thread a rank.  A terminal's SIGINT ends the job, not the
 *  caller.  SIGINT of a process, SIGTERM, SIGHUP and SIGUSR1 reach a job that has begun
 *  (options->begins) as SIGUSR1, upon which it saves and stops.  A job that has not begun is ended
 *  through its launcher, and so is one that has not stopped within FR_LAUNCH_SAVES_S.  The launcher
 *  gets SIGTERM, which ends the ranks and removes its files, and FR_LAUNCH_GRACE_S later SIGKILL.
 *  When this process dies the kernel ends the launcher, and the ranks end themselves (leash.h).
 *
 *  Ranks report their state to this process (watch/watcher.h).  A rank that dies, is frozen or
 *  makes no progress is named, with its host.  So is a launcher that is stopped or does not end.
 *  The launcher is then ended as above, and with it ranks of this machine that are left.
 *  @return FR_OK; FR_ERR_PARTIAL when the job ended early, or was, and kept what it had; FR_ERR_USAGE,
 *          FR_ERR_EXTERNAL (launcher or program missing, or the job failed). */
fr_status fr_launch_mpi(const struct fr_launch_options *options, const char *const *arguments,
                        struct fr_error *err);

#define FR_LAUNCH_SAVES_S 2.5
#define FR_LAUNCH_GRACE_S 3.5

/** Was a job ended because this process was asked to stop? */
bool fr_launch_was_stopped(void);

/** Was it ended because it took longer than options->limit_s? */
bool fr_launch_was_over(void);

/** Are we a rank of an MPI job already?  Then forerun-mpi is to be run directly. */
bool fr_launch_inside_mpi(void);

/** Cores this process may use: of its affinity mask, or fewer by its control groups (quota.h). */
int fr_launch_cores(void);

#endif
