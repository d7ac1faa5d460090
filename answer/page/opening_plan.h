/** @file
 *  How does a page of one plan, or of a search for one, open? */
#ifndef FR_ANSWER_PAGE_OPENING_PLAN_H
#define FR_ANSWER_PAGE_OPENING_PLAN_H

#include "base/json.h"
#include "base/text.h"

/** The question as a title. */
void fr_opening_ask_search(const struct fr_json *root, struct fr_text *out);
void fr_opening_ask_plan(const struct fr_json *root, struct fr_text *out);
/** Three sentences: the plan and its time, what a training costs, how sure and what would change it. */
void fr_opening_answer_search(const struct fr_json *root, struct fr_text *html);
void fr_opening_answer_plan(const struct fr_json *root, struct fr_text *html);

/** "It fits with 98 %: 71 of 80 GiB", from what @p outcome says. */
void fr_opening_fits(const struct fr_json *outcome, struct fr_text *html);
/** " (1.2 s to 1.4 s with 90 %)", of the times @p low and @p high, where @p outcome states them. */
void fr_opening_interval(const struct fr_json *outcome, const char *low, const char *high,
                         struct fr_text *html);
/** Why the plan of @p outcome cannot run; of a search why most plans of document @p root cannot. */
void fr_opening_refusal(const struct fr_json *root, const struct fr_json *outcome,
                        struct fr_text *html);

#endif
