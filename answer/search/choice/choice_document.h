/** @file
 *  What a search's page says of its choice, as JSON (docs/reference/outputs.md). */
#ifndef FR_ANSWER_SEARCH_CHOICE_CHOICE_DOCUMENT_H
#define FR_ANSWER_SEARCH_CHOICE_CHOICE_DOCUMENT_H

#include "answer/search/search.h"

/** Keys `expected`, `answers_of`, `answers` and `trying_three_gain`; null or empty where the list was not folded. */
void fr_choice_put(const struct fr_searched *r, struct fr_json_writer *w);

/** Keys `claim`, `gain`, ... of a plan of the user's, into its object. */
void fr_gain_put(const struct fr_user_plan *user_plan, struct fr_json_writer *w);

#endif
