/** @file
 *  Runs that a description names: runs(FILE, dtype=, sharded=, experts=, device=, from_date=) reads those of a file that
 *  say so of themselves, and other functions are given what it returns. */
#ifndef FR_STUDIES_TRAINING_NAMED_H
#define FR_STUDIES_TRAINING_NAMED_H

#include "studies/engine/study.h"
#include "studies/training/table.h"

enum { FR_NAMED_RUNS_MAX = 64 };

struct fr_named_runs {
    struct fr_table_set set[FR_NAMED_RUNS_MAX];
    int n;
};

/** Read what @p call asks for, which is then the call's value.  @return FR_OK; FR_ERR_IO where the file is absent,
 *  and the set is empty. */
fr_status fr_named_runs_read(struct fr_study_call *call, struct fr_named_runs *all);
/** Those that the argument @p name or the one at @p place stands for. */
struct fr_table_set *fr_named_runs_of(const struct fr_study_call *call,
                                      struct fr_named_runs *all, const char *name, int place);
void fr_named_runs_free(struct fr_named_runs *all);

/** The text of the argument called @p name; NULL where there is none. */
const char *fr_call_word_or_null(const struct fr_study_call *call, const char *name);

#endif
