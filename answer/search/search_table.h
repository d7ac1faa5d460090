/** @file
 *  Plans that a search found, as a table.  Narrow columns come first.  Remarks on the plan stand
 *  behind them or, where the line is too short, on lines of their own.  Columns that would be empty
 *  or equal in all rows are left out. */
#ifndef FR_ANSWER_SEARCH_SEARCH_TABLE_H
#define FR_ANSWER_SEARCH_SEARCH_TABLE_H

#include "answer/search/search.h"
#include "models/plan/common.h"

/** Properties of all rows, known before the first is written.  Begin with zeros. */
struct fr_search_survey {
    struct fr_plan_common common;
    int64_t ranks;  /**< of the first */
    size_t longest; /**< line of a plan */
    bool several_ranks, total, lossy,
        even; /**< ranks differ; any knows its iterations; any is lossy; any states a break-even */
};
void fr_search_survey_add(struct fr_search_survey *s, const struct fr_outcome *out);

struct fr_search_table {
    struct fr_text *text;
    const struct fr_searched *r;
    const struct fr_search_survey *survey;
    int columns;                                     /**< of the terminal */
    bool interpolated, scaled, by_law, extrapolated; /**< marks that rows were given */
};

void fr_search_table_head(const struct fr_search_table *t, const char *title);
/** Row @p i, counted from 0; all below are identified by its number. */
void fr_search_table_row(struct fr_search_table *t, size_t i, const struct fr_outcome *out);
/** Explain the marks. */
void fr_search_table_foot(const struct fr_search_table *t);

#endif
