/** @file
 *  A watcher (watcher.h) as a thread of the program that started the job: it sleeps but for four looks a second, so
 *  that what the job measures is left alone.  A verdict rings SIGALRM in the thread that opened it, so that its wait
 *  for the launcher is interrupted. */
#ifndef FR_CALIBRATE_MEASURE_WATCH_THREAD_H
#define FR_CALIBRATE_MEASURE_WATCH_THREAD_H

#include "calibrate/measure/watch/watcher.h"

struct fr_watcher_thread;

/** @return NULL where nothing can be watched */
struct fr_watcher_thread *fr_watcher_thread_open(const struct fr_watcher_options *options,
                                                 char address[FR_WATCH_ADDRESS_B]);

/** SIGALRM is handled by now. */
void fr_watcher_thread_begin(struct fr_watcher_thread *t);

/** The launcher is @p child. */
void fr_watcher_thread_of(struct fr_watcher_thread *t, pid_t child);

/** Has a rank connected? */
bool fr_watcher_thread_seen(const struct fr_watcher_thread *t);

/** NULL: none yet. */
const struct fr_watch_verdict *fr_watcher_thread_verdict(const struct fr_watcher_thread *t);

/** The launcher has ended: stop looking. */
void fr_watcher_thread_end(struct fr_watcher_thread *t);

/** After that: fr_watcher_end_ranks. */
void fr_watcher_thread_end_ranks(struct fr_watcher_thread *t, double grace_s);

/** @p t may be NULL. */
void fr_watcher_thread_close(struct fr_watcher_thread *t);

#endif
