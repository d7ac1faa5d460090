/** @file
 *  Noticing ranks that die or hang, apart from MPI, which may say nothing or hang itself.
 *
 *  One thread of every rank reports four times a second where the rank is
 *  (calibrate/measure/watch/wire.h).  It runs from before MPI is started until the process ends.
 *  It reports to forerun, which started the job (FORERUN_WATCH in the environment).  Where not
 *  every rank reaches forerun, it reports to rank 0, whose thread then watches, and which all
 *  others watch.
 *
 *  The watcher names rank and host of a fault; ranks end with exit code 5, upon which the launcher
 *  ends the others.  A rank that gives up by itself reports so and why before it ends, so that the
 *  others end with its exit code.  Measurements are in the file before they are counted, so nothing
 *  is lost.
 *
 *  The thread also ends its process where who started the job has died (calibrate/measure/leash.h), or its launcher,
 *  or where the process was asked to stop and did not in time.  Simulated ranks are one process, and are not watched. */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_WATCH_H
#define FR_CALIBRATE_MEASURE_HARNESS_WATCH_H

#include "base/status.h"
#include "calibrate/measure/watch/wire.h"

/** Before MPI is started, which may take long or hang.  Signals that ask to stop are noted from here on (stop.h).
 *  @param grace_s  from such a signal to the end of the process, whatever it is doing; 0: it saves nothing
 *  @param argv  of main; --patience and --no-watch are looked for */
void fr_watch_begin(int argc, char **argv, double grace_s);

/** Once MPI is up; collective over MPI_COMM_WORLD.  Where nobody can watch, rank 0 says so on stderr.
 *  @param results  the file that --resume goes on with, for the message
 *  @param busy_s  without progress although cores are used, before the job counts as stuck */
fr_status fr_watch_open(const char *results, double patience_s, double busy_s,
                        struct fr_error *err);

/** This rank is at @p point now, one of its own counting or FR_WATCH_BETWEEN. */
void fr_watch_point(int point);

/** It has come further. */
void fr_watch_move(void);

/** This rank has said why and ends with exit code @p code: the others end with it.  Asks for no memory. */
void fr_watch_farewell(int code);

/** This rank is done: before MPI is ended.  It is still watched for being frozen. */
void fr_watch_leave(void);

#endif
