/** @file
 *  Facts of an outcome as lines for a person: "what       value   note".
 *
 *  Which facts, under which labels and in which order their rows say (TEXT in answer/outcome/fact_list.h).  A number that
 *  is not known has no line, unless what is noted beside it says why. */
#ifndef FR_ANSWER_TEXT_FACT_LINES_H
#define FR_ANSWER_TEXT_FACT_LINES_H

#include "answer/outcome/outcome_fact.h"

/** Groups of lines: those that a search's best plan has, too. */
enum { FR_LINES_FIRST = 1, FR_LINES_RATES = 2, FR_LINES_RATES_END = 4, FR_LINES_LAST = 9 };

/** The lines of groups @p from to @p to, with the interval of each below it. */
void fr_fact_lines(struct fr_text *text, const struct fr_outcome_view *v, int from, int to);

/** The 90 % interval of @p fact, where it is known. */
void fr_fact_interval_line(struct fr_text *text, const struct fr_outcome_view *v, int fact);

/** Number @p fact for a person: "36.31 ms", "128"; "-" where it is not known.  @return @p out */
const char *fr_fact_value(const struct fr_outcome_view *v, int fact, char *out,
                          size_t capacity);

/** One line. */
void fr_line_say(struct fr_text *text, const char *what, const char *value, const char *note);

/** Where iterations to the loss come from, or why they are not known. */
const char *fr_iterations_note(const struct fr_outcome *out);

#endif
