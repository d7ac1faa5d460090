/** @file
 *  JSON as tables: the facts of an object, and a list of objects with a column for every number and text in them, however
 *  deep, that differs between rows. */
#ifndef FR_ANSWER_PAGE_TABLE_H
#define FR_ANSWER_PAGE_TABLE_H

#include "base/json.h"

enum { FR_PAGE_NUMBER = 64 };
/** A number for people: "1,640", "0.0363", "122,071,040".
 *  @param decimals  digits behind the point; below 0: as many as four digits need  @return @p out */
const char *fr_page_number(double value, int decimals, char out[FR_PAGE_NUMBER]);

/** The numbers, words and short lists of @p object, called @p name ("" for the whole), a row each: "iteration_time_s" and
 *  0.0363 as "iteration time", "36.3 ms".  Parts of a step's time have a bar. */
void fr_page_facts(const struct fr_json *object, const char *name, struct fr_text *html);

/** Begin a table with @p heads (NULL behind the last), the first @p n_left of them above words, and end it. */
void fr_page_rows_begin(const char *const heads[], int n_left, struct fr_text *html);
void fr_page_rows_end(struct fr_text *html);

/** Append the table of @p list; what all rows share stands above it. */
void fr_page_table(const struct fr_json *list, struct fr_text *html);

#endif
