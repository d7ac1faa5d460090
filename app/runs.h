/** @file
 *  Measured runs named on the command line, and the clusters that they are on.
 *
 *  With --cluster all rows are on that cluster.  Without it each row is on its own, one that names none on the user's
 *  default cluster, else it is left out and reported.  A row is with the software that it names, else that of --runtime,
 *  else the newest that suits.  --set changes all of these clusters and runtimes, --where keeps some rows, --defaults
 *  says where rows that name no software start from. */
#ifndef FR_APP_RUNS_H
#define FR_APP_RUNS_H

#include "app/load.h"
#include "trust/runs/runs.h"

#define FR_OPTION_RUNS                                                                         \
    { "runs", "FILE", "measured runs: a runs.csv, or a published file; may be repeated", 'r' }
#define FR_OPTION_WHERE                                                                        \
    {                                                                                          \
        "where", "COLUMN=VALUE", "only rows with this value; may be repeated: all must hold",  \
            'w'                                                                                \
    }
#define FR_OPTION_RUNS_RUNTIME                                                                 \
    { "runtime", "FILE|PRESET", "software of rows that name none: a release of a framework", 0 }
#define FR_OPTION_DEFAULTS                                                                     \
    { "defaults", "YEAR", "modern (today's software) or 2019, for rows that do not say", 0 }

/** Storage for words of the command line while runs are read. */
struct fr_asked {
    const char *sets[FR_ARGS_MAX], *where[FR_ARGS_MAX];
    char own[FR_OWN_PATH_B];
};

/** Load --cluster into @p job, if it is given, and read every --runs (one at least).  Free with fr_job_free and
 *  fr_runs_free, also on error. */
fr_status fr_app_runs(const struct fr_args *args, struct fr_asked *asked, struct fr_job *job,
                      struct fr_runs *runs, struct fr_error *err);

/** Put the values of --column into @p row.  @return FR_OK; FR_ERR_USAGE where one is not
 *  KEY=VALUE. */
fr_status fr_app_columns(const struct fr_args *args, struct fr_run_row *row,
                         struct fr_error *err);

/** No row of the files read can be used: the reasons, in one sentence.  @return FR_ERR_INPUT. */
fr_status fr_runs_none(const struct fr_runs *runs, const char *first, struct fr_error *err);

#endif
