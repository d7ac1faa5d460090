/** @file
 *  The break-even of a lossy plan, for people (search/break_even.h). */
#ifndef FR_ANSWER_TEXT_EVEN_H
#define FR_ANSWER_TEXT_EVEN_H

#include "base/text.h"
#include "models/outcome/outcome.h"

/** "1.32"; near 1 to four digits, so that 1.0031 is more than 1.  @return @p out */
const char *fr_even_number(double ratio, char *out, size_t capacity);

/** "wins if it needs less than 1.32 times the iterations of the best exact plan"; nothing of an exact plan. */
void fr_even_say(const struct fr_outcome *out, struct fr_text *words);

/** "1.32x" in @p cell, "-" where none is stated.  @return @p cell */
const char *fr_even_cell(const struct fr_outcome *out, char *cell, size_t capacity);

/** " (90 %: 194000 to 321000)" where iterations are by a law of growth, else "".  @return @p out */
const char *fr_even_steps(const struct fr_outcome *outcome, char *out, size_t capacity);

#endif
