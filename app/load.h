/** @file
 *  From options to a checked job, the same way for every verb. */
#ifndef FR_APP_LOAD_H
#define FR_APP_LOAD_H

#include "app/options.h"
#include "models/job/job.h"
#include "models/job/own.h"

/** Load --cluster (required), --model (required if @p with_model), --runtime, --plan and --set.
 *  Free with fr_job_free, also on error. */
fr_status fr_app_load(const struct fr_args *args, bool with_model, struct fr_job *job,
                      struct fr_error *err);

/** The cluster that --cluster names, or else the one that the user has set (models/job/own.h), which
 *  is copied to @p own of FR_OWN_PATH_B.  FR_ERR_USAGE where neither does. */
fr_status fr_app_cluster(const struct fr_args *args, char *own, const char **name,
                         struct fr_error *err);

/** The runtime that --runtime names, or --defaults 2019; NULL: the newest that suits.
 *  @return FR_OK; FR_ERR_USAGE of two of them, or a word that --defaults does not know */
fr_status fr_app_runtime(const struct fr_args *args, const char **name, struct fr_error *err);

/** Does --collectives ask for all ranks and each collective as its messages, or for operations, as without it?
 *  @return FR_OK; FR_ERR_USAGE of another word */
fr_status fr_app_as_messages(const struct fr_args *args, bool *messages, struct fr_error *err);

/** The keys that the options --defaults and --runtime set; their words follow. */
#define FR_APP_DEFAULTS "model.defaults="
#define FR_APP_RUNTIME "runtime="
/** The setting of the option --undisturbed. */
#define FR_APP_IDLE "cluster.device.undisturbed=true"

/** Settings to load, as --cluster, --runtime, --model, --plan and --set say; @p sets holds up to
 *  FR_ARGS_MAX + 1. */
void fr_app_names(const struct fr_args *args, const char **sets, struct fr_job_names *names);

/** The same, checked: the cluster is that of fr_app_cluster, with @p own.  --model is required if @p with_model, and not read
 *  otherwise.  No word may be left over.  @return FR_OK, FR_ERR_USAGE, or what reading the user's own cluster gave */
fr_status fr_app_job_names(const struct fr_args *args, bool with_model, const char **sets,
                           char *own, struct fr_job_names *names, struct fr_error *err);

/** Print a finished text to stdout, or fail with FR_ERR_NOMEM when it could not be made; frees it.
 *  Outputs that wait take their names just before (fr_file_release): all is made by then. */
fr_status fr_app_print(struct fr_text *text, struct fr_error *err);

/** Print a long @p text to standard output whenever it has grown to a megabyte; the rest is
 *  left to fr_app_print. */
fr_status fr_app_print_part(struct fr_text *text, struct fr_error *err);

#endif
