/** @file
 *  Results of a search, for people. */
#ifndef FR_ANSWER_SEARCH_SEARCH_TEXT_H
#define FR_ANSWER_SEARCH_SEARCH_TEXT_H

#include "answer/search/search.h"

/** The whole as text; without --explain, which follows it.  Rows are handed to @p part, a
 *  line at a time.  Lines have 80 columns; @p wide: a row stands on one line. */
fr_status fr_searched_text(struct fr_text *text, const struct fr_searched *r, bool wide,
                           fr_part_fn *part, struct fr_error *err);

#endif
