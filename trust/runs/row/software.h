/** @file
 *  Which software did a run take place with?
 *
 *  A row names it: `runtime`, a preset or file, and `runtime.KEY`, what its source says of that software beyond.  Rows
 *  that name the same share one runtime, which is read once. */
#ifndef FR_TRUST_RUNS_ROW_SOFTWARE_H
#define FR_TRUST_RUNS_ROW_SOFTWARE_H

#include "models/job/runtime.h"
#include "trust/runs/runs.h"

/** Is @p key `runtime`, or one of `runtime.KEY`? */
bool fr_software_key(const char *key);

/** The runtime that @p row names, else runs->ask.runtime; *runtime NULL where neither does.  Facts in the row win
 *  over the runtime's own facts, and runs->ask.sets wins over both.
 *  @param folder  where a file that the row names may lie
 *  @return FR_OK; FR_ERR_INPUT with the place; FR_ERR_USAGE of what --set says; FR_ERR_NOMEM. */
fr_status fr_software_named(struct fr_runs *runs, const struct fr_run_row *row,
                            const char *folder, struct fr_runtime **runtime,
                            struct fr_error *err);

/** The same of a row that may name none: then the newest that suits a model of today or of 2019 on devices of
 *  @p generation, of the date that the row states (`runtime.date`; models/job/release.h). */
fr_status fr_software_find(struct fr_runs *runs, const struct fr_run_row *row,
                           const char *folder, bool modern, const char *generation,
                           struct fr_runtime **runtime, struct fr_error *err);

void fr_software_free(struct fr_runs *runs);

#endif
