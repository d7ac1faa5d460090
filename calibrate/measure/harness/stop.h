/** @file
 *  Being told to stop: SIGTERM, SIGINT, or SIGUSR1, Slurm's warning before a time limit.
 *
 *  The handler only notes it; the schedule asks between two visits, and the watch ends a rank
 *  that has not come that far within the grace.  Every sample is in the file by then. */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_STOP_H
#define FR_CALIBRATE_MEASURE_HARNESS_STOP_H

/** Seconds from the signal to the end of the job, whatever a rank is in the middle of. */
#define FR_STOP_GRACE_S 3.5

void fr_stop_listen(void);
/** From now on this process ends itself soon after who started the job (calibrate/measure/leash.h), or its
 *  launcher, has died; before MPI is started, which may take long. */
void fr_stop_leash(void);
/** 1 after a signal, else 0. */
int fr_stop_requested(void);

#endif
