/** @file
 *  Noticing ranks that die or hang, apart from MPI, which may say nothing or hang itself.
 *
 *  A thread of every rank holds a TCP connection to rank 0 and tells it twice a second where the
 *  rank is.  A connection that ends names a dead rank at once; no word for a while a frozen one;
 *  words without progress a rank that is stuck.  Whoever finds out says rank and host on stderr
 *  and ends its process with exit code 5, upon which the launcher ends the others.  A rank that gives up by
 *  itself says so and why before it ends, so that the others end with its exit code.  Every sample
 *  is in the file before it is counted, so nothing is lost.  Where connections cannot be made
 *  the job runs unwatched, and says so. */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_WATCH_H
#define FR_CALIBRATE_MEASURE_HARNESS_WATCH_H

#include <mpi.h>

#include "base/status.h"

/** Between two visits, in the meeting of all ranks. */
#define FR_WATCH_BETWEEN (-1)

struct fr_watch;

struct fr_watch_options {
    const char *samples; /**< for the message */
    double patience_s;   /**< without progress before a rank counts as stuck */
    int *node_of;        /**< [n_ranks] */
};

/** Collective.  @param[out] watch  NULL where it could not be set up. */
fr_status fr_watch_open(MPI_Comm world, const struct fr_watch_options *options,
                        struct fr_watch **watch, struct fr_error *err);
/** This rank has said why and ends with exit code @p code: the others end with it.  Asks for no memory. */
void fr_watch_farewell(int code);
/** This rank is at @p point now.  @p watch may be NULL. */
void fr_watch_point(struct fr_watch *watch, int point);
/** Collective. */
void fr_watch_close(struct fr_watch *watch, MPI_Comm world);

#endif
