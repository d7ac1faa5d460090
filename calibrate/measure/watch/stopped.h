/** @file
 *  Processes of this machine that are stopped (SIGSTOP), as /proc tells. */
#ifndef FR_CALIBRATE_MEASURE_WATCH_STOPPED_H
#define FR_CALIBRATE_MEASURE_WATCH_STOPPED_H

#include <stdbool.h>
#include <sys/types.h>

/** False also where nobody can tell. */
bool fr_is_stopped(pid_t pid);

/** Is it a program that starts ranks, by its name?  Nobody else is to be ended with a job, least of all a shell. */
bool fr_is_launcher(pid_t pid);

/** A child of @p launcher that is stopped and is rank @p rank, or any rank where @p rank is negative.
 *  @param[out] found  its number, or -1 where its environment does not say
 *  @return its process id; 0: there is none */
pid_t fr_stopped_rank(pid_t launcher, int rank, int *found);

/** The number that a launcher gave to a rank: the value of the first variable that says it, in @p environment,
 *  `NAME=value` strings of @p length bytes each ended by a zero.  @return -1: none does */
int fr_rank_of(const char *environment, size_t length);

/** The same of this process. */
int fr_rank_own(void);

#endif
