/** @file
 *  Why this answer, for people (answer/predict/explain.h). */
#ifndef FR_ANSWER_PREDICT_EXPLAIN_TEXT_H
#define FR_ANSWER_PREDICT_EXPLAIN_TEXT_H

#include "search/search.h"

/** Print which resource limits an iteration, and how changes of the machine would alter its time. */
void fr_explain_plan(struct fr_text *text, const struct fr_job *job,
                     const struct fr_outcome *out);

/** For a search: the same of the best plan, whether the best would be another, and what the next
 *  plans lose where. */
fr_status fr_explain_search(struct fr_text *text, const struct fr_job *job,
                            const struct fr_space *space,
                            const struct fr_search_options *options,
                            const struct fr_search_result *result, struct fr_error *err);

#endif
