/** @file
 *  The text of a log and the words of the command line as a run with its prediction.
 *
 *  The log's statements of model and plan are used.  --set and --column go before it, --model and --plan say what it leaves
 *  open; where a plan and the log disagree, the log's word is taken and that is printed.  The run is completed and priced
 *  as `forerun score --from` does; while only its time changes, it is not priced again. */
#ifndef FR_APP_WATCH_RUN_H
#define FR_APP_WATCH_RUN_H

#include "answer/watch/watch.h"
#include "app/options.h"
#include "app/runs.h"

struct fr_app_watched {
    const char *log;
    const struct fr_args *args;
    struct fr_asked asked;
    struct fr_job job; /**< the cluster */
    struct fr_json_document *plan;
    struct fr_run_row given, row; /**< of the command line; with what the log says */
    struct fr_runs runs;          /**< the one run */
    struct fr_trainer_result read;
    struct fr_watch_expected expected;
    bool priced, reported;
};

/** Read the options.  Free with fr_app_watched_free, also on error. */
fr_status fr_app_watched_open(const struct fr_args *args, const char *log,
                              struct fr_app_watched *w, struct fr_error *err);
/** Read the @p length bytes of the log so far, of which the first @p seen were read before, and end a line; 0: all are new.
 *  @return FR_OK; FR_ERR_INPUT, with w->read.steps 0 where no step was timed yet: more may help; FR_ERR_NOMEM. */
fr_status fr_app_watched_read(struct fr_app_watched *w, const char *text, size_t length,
                              size_t seen, struct fr_error *err);
void fr_app_watched_free(struct fr_app_watched *w);

/** Does @p text describe a model: is it the beginning of a run, not the rest of one? */
bool fr_app_watched_begins(const struct fr_app_watched *w, const char *text, size_t length);

#endif
