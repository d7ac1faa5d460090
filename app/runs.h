/** @file
 *  Measured runs named on the command line. */
#ifndef FR_APP_RUNS_H
#define FR_APP_RUNS_H

#include "app/options.h"
#include "calibrate/runs/runs.h"

/** Read every --runs (one at least).  Free with fr_runs_free, also on error. */
fr_status fr_app_runs(const struct fr_args *args, struct fr_runs *runs, struct fr_error *err);

/** No row of the files read can be used: the reasons, in one sentence.  @return FR_ERR_INPUT. */
fr_status fr_runs_none(const struct fr_runs *runs, const char *first, struct fr_error *err);

#endif
