/** @file
 *  Who of a job's ranks has died, is frozen or makes no progress?
 *
 *  A watcher listens; ranks connect and say four times a second how they are (wire.h).  It is a thread of forerun,
 *  which started the job (calibrate/measure/launch.c), or of rank 0, where nobody of ours did
 *  (calibrate/measure/harness/watch.c).  Its verdict is final:
 *
 *      DIED      a connection ended, and its rank had not said that it was done or asked to stop
 *      SILENT    no word for the patience
 *      MISSING   the same, of a rank that has not connected while others have
 *      STUCK     all ranks answer, none has moved for the patience, and none used a core; or one did, for busy_s
 *      STOPPED   the launcher is stopped (SIGSTOP) for the patience
 *      LINGERS   the launcher has not ended, the patience after its ranks
 *
 *  Time that the watcher itself was stopped does not count, so that a machine that slept goes on. */
#ifndef FR_CALIBRATE_MEASURE_WATCH_WATCHER_H
#define FR_CALIBRATE_MEASURE_WATCH_WATCHER_H

#include <sys/types.h>

#include "calibrate/measure/watch/wire.h"

enum fr_watch_verdict_kind {
    FR_VERDICT_NONE,
    FR_VERDICT_DIED,
    FR_VERDICT_SILENT,
    FR_VERDICT_MISSING,
    FR_VERDICT_STUCK,
    FR_VERDICT_STOPPED,
    FR_VERDICT_LINGERS
};

struct fr_watch_verdict {
    enum fr_watch_verdict_kind kind;
    struct fr_watch_word who; /**< the rank; of STOPPED and LINGERS none */
    int others;               /**< ranks of which the same holds */
    double waited_s;
};

struct fr_watcher_options {
    double patience_s, busy_s;
    int n_ranks; /**< 0: ranks say it themselves */
    int wake;    /**< a descriptor that ends a look when it can be read; -1: none */
    bool
        inside; /**< rank 0 watches: there is nobody to be MISSING, and launchers are not looked at */
};

struct fr_watcher;

/** @param[out] address  for fr_wire_connect
 *  @return NULL where no connections can be had, or memory is exhausted */
struct fr_watcher *fr_watcher_open(const struct fr_watcher_options *options,
                                   char address[FR_WATCH_ADDRESS_B]);

/** Listen for @p timeout_ms at the most, then judge.
 *  @param own  the watching rank itself, which others hear; NULL: it is none
 *  @param launcher  its process, if that is a child of ours; 0: not known */
const struct fr_watch_verdict *fr_watcher_step(struct fr_watcher *w,
                                               const struct fr_watch_word *own, pid_t launcher,
                                               int timeout_ms);

/** Ranks that have connected, now or earlier. */
int fr_watcher_seen(const struct fr_watcher *w);

/** Has one given up?  @param[out] code  its exit code */
bool fr_watcher_gave_up(const struct fr_watcher *w, int *code);

/** Tell all ranks. */
void fr_watcher_tell(struct fr_watcher *w, const struct fr_watch_word *word);

/** The launcher has ended: ranks of this machine that are still there get @p grace_s, then SIGKILL. */
void fr_watcher_end_ranks(struct fr_watcher *w, double grace_s);

void fr_watcher_close(struct fr_watcher *w);

/** "rank 3 on host x (process 1234) has stopped answering ..." into @p text, @p size bytes.
 *  @param how  of DIED: "was killed by SIGKILL"  @param launcher  of STOPPED and LINGERS: "mpirun (process 12) ..." */
void fr_watch_verdict_sentence(const struct fr_watch_verdict *v, const char *how,
                               const char *launcher, char *text, size_t size);

#endif
