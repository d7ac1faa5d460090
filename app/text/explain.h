/** @file
 *  Why this answer: what binds, what would change it, why the others lost. */
#ifndef FR_APP_TEXT_EXPLAIN_H
#define FR_APP_TEXT_EXPLAIN_H

#include "calibrate/runs/odds.h"
#include "models/outcome/outcome.h"
#include "search/search.h"

/** What binds an iteration, and what changes of the machine would make of it. */
void fr_explain_plan(struct fr_text *text, const struct fr_job *job,
                     const struct fr_outcome *out);
void fr_explain_plan_json(struct fr_json_writer *w, const struct fr_job *job,
                          const struct fr_outcome *out);

/** For a search: the same of the best plan, whether the best would be another, and what the next
 *  plans lose where. */
fr_status fr_explain_search(struct fr_text *text, const struct fr_job *job,
                            const struct fr_space *space,
                            const struct fr_search_options *options,
                            const struct fr_search_result *result, struct fr_error *err);

/** The same as an object: also, of every other plan at the top, what binds it, where and how much it
 *  loses, and under which changes it would be faster than the best.  @p result has one at least. */
fr_status fr_explain_search_json(struct fr_json_writer *w, const struct fr_job *job,
                                 const struct fr_space *space,
                                 const struct fr_search_options *options,
                                 const struct fr_search_result *result, struct fr_error *err);

#endif
