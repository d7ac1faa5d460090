/** @file
 *  How surely plans fit into their devices, for people. */
#ifndef FR_ANSWER_SEARCH_FITS_TEXT_H
#define FR_ANSWER_SEARCH_FITS_TEXT_H

#include "answer/search/search.h"

/** Rows of predict's table of memory, below the peak: what is reserved, shown and needed, and how surely it fits. */
void fr_render_fits(struct fr_text *text, const struct fr_job *job,
                    const struct fr_outcome *out);

/** "memory     fits with ..." of the best plan, in the head of a search. */
void fr_search_fits(struct fr_text *text, const struct fr_searched *r, int columns);

/** Below the list: plans that are better and less sure, what they would gain, and what makes them sure enough; where
 *  nothing is ranked the surest. */
void fr_search_less_sure(struct fr_text *text, const struct fr_searched *r, int columns);

#endif
