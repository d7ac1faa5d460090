/** @file
 *  Files of trainings, those of iterations and those of quality: the line that says what all have in common, then a line for
 *  each training, then one for each result.  The programs that train (real/apps) read them too. */
#ifndef FR_REAL_TRAININGS_H
#define FR_REAL_TRAININGS_H

#include "base/journal/journal.h"

#define FR_TRAININGS_SCHEMA "forerun/trainings/1"
#define FR_TRAININGS_OF_PLANS_SCHEMA "forerun/trainings-of-plans/1"

/** Places in a list of the three kinds of lines. */
enum { FR_TRAININGS_HEAD, FR_TRAININGS_CELL, FR_TRAININGS_RESULT };

/** Which line is this?
 *  @param kinds  names of the three kinds, then NULL
 *  @param n      trainings that are known; where lines have digests some may have been dropped before this one
 *  @param[out] id  of its training, of all lines but the head
 *  @return FR_OK; FR_ERR_INPUT for another kind, a head that is not the first line, or an id that cannot be */
fr_status fr_trainings_line(const struct fr_journal_line *line,
                            const struct fr_journal *journal, const char *const kinds[], int n,
                            int *kind, int64_t *id, struct fr_error *err);

#endif
