/** @file
 *  A list of objects of JSON as a table: a column for every number and text in them, however deep,
 *  that not all rows have alike. */
#ifndef FR_ANSWER_PAGE_TABLE_H
#define FR_ANSWER_PAGE_TABLE_H

#include "base/json.h"

/** Member @p key of the object called @p name ("" for the whole): "iteration_time_s" and 0.0363 as
 *  "36.3 ms", "breakdown_s", "compute" likewise; a text; a truth; "-" for null.  The value for sorting in
 *  @p number, NaN where it is no number.  @return false for a list, an object, and what is absent. */
bool fr_page_value(const struct fr_json *object, const char *name, const char *key,
                   struct fr_text *text, double *number);
/** "iteration_time_s" in words, "iteration time". */
void fr_page_words(const char *key, struct fr_text *out);

/** Append the table of @p list; what all rows share stands above it. */
void fr_page_table(const struct fr_json *list, struct fr_text *html);

#endif
