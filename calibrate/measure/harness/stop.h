/** @file
 *  Being asked to stop: SIGTERM, SIGINT, or SIGUSR1, Slurm's warning before a time limit.
 *
 *  The handler only notes it; the schedule asks between two visits, and the watch ends a rank
 *  that has not come that far within the grace.  Every sample is in the file by then. */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_STOP_H
#define FR_CALIBRATE_MEASURE_HARNESS_STOP_H

/** Seconds from the signal to the end of the job, whatever a rank is in the middle of. */
#define FR_STOP_GRACE_S 3.5

/** @p wake: an eventfd that a signal adds one to, so that who polls it learns of it at once; -1: none. */
void fr_stop_listen(int wake);
/** 1 after a signal, else 0. */
int fr_stop_requested(void);

#endif
