/** @file
 *  Which rows of a file are asked for: `--where COLUMN=VALUE`, `COLUMN>=VALUE`, `COLUMN<=VALUE`.
 *
 *  COLUMN is a key of a run (plan.tp, note.device, cluster), one without its first word (tp, device), or a column of
 *  the file as it was published (gpu).  VALUE is the whole value: the same text, or the same number.  Order is that
 *  of numbers where both are numbers, else of their letters (dates).  A row must meet all of several conditions. */
#ifndef FR_TRUST_RUNS_ROW_WHERE_H
#define FR_TRUST_RUNS_ROW_WHERE_H

#include "trust/runs/runs.h"

/** Is every condition of that form?  @return FR_OK or FR_ERR_USAGE. */
fr_status fr_where_check(const char *const *where, int n, struct fr_error *err);

/** Does the row hold to all of them?  Bit i of *known is set where it has the column of condition i. */
bool fr_where_holds(const char *const *where, int n, const struct fr_run_source *in,
                    const struct fr_run_row *row, uint64_t *known);

#endif
