/** @file
 *  Results of a search, on one screen: the best plan, how sure, whether it fits, what would
 *  change it, what to type next.  The whole of it: answer/search/search_text.h. */
#ifndef FR_ANSWER_SEARCH_SEARCH_BRIEF_H
#define FR_ANSWER_SEARCH_SEARCH_BRIEF_H

#include "answer/search/search.h"

/** @param again   the command that asked, to be gone on with (base/text/brief.h); "" where it cannot be repeated
 *  @param larger  a search on more ranks, for models that do not fit; "" likewise */
void fr_searched_brief(struct fr_text *text, const struct fr_searched *r, const char *again,
                       const char *larger, int columns);

/** The reason why plans cannot run: memory where any lacks it, else the one that left out most; -1: there was no plan. */
int fr_searched_main_reason(const struct fr_searched *r);

#endif
