/** @file
 *  What a search found, for people. */
#ifndef FR_APP_TEXT_SEARCH_H
#define FR_APP_TEXT_SEARCH_H

#include "answer/search.h"

/** The whole as text; without --explain, which follows it.  Rows go to standard output a megabyte at
 *  a time (fr_app_print_part).  Lines have 80 columns; @p wide: a row stands on one line. */
fr_status fr_app_search_text(struct fr_text *text, const struct fr_searched *r, bool wide,
                             struct fr_error *err);

#endif
