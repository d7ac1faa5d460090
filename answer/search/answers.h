/** @file
 *  How a search reports its choice to people: answers that differ in substance, and how sure each
 *  is.  It also reports what is expected of the chosen plan, and its gain over user plans. */
#ifndef FR_ANSWER_SEARCH_ANSWERS_H
#define FR_ANSWER_SEARCH_ANSWERS_H

#include "answer/search/search_table.h"

/** Does the list show answers, not plans? */
bool fr_answers_shown(const struct fr_searched *r);

/** A share of which "within" is said, to the tenth of a percent above; never below 0. */
double fr_answers_above(double share);

/** Add the answers' bests to the survey. */
void fr_answers_survey(const struct fr_searched *r, struct fr_search_survey *s);

/** The list: a row an answer, and below it what was folded under it. */
void fr_answers_rows(struct fr_search_table *table);

/** The table "how sure" of answers, and what trying some of them is expected to gain. */
void fr_answers_sure(struct fr_text *text, const struct fr_searched *r,
                     const char *coefficients);

/** Lines of the best plan: what is expected of it because it was chosen. */
void fr_answers_expected(struct fr_text *text, const struct fr_searched *r, int columns);

/** Gain over a plan of the user's, as a sentence; nothing where it is not known. */
void fr_answers_gain(struct fr_text *words, const struct fr_user_plan *user_plan);

#endif
