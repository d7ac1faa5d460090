/** @file
 *  What would a lossy plan of a search have to prove?  Its break-even against the best exact plan of the same question.
 *
 *  Where the space has no exact plan that can run, the reference is the same plan without loss (search/break_even.h).
 *  Searches that vary the model or the cluster, and plans at other clocks, state none. */
#ifndef FR_ANSWER_SEARCH_CHOICE_EVEN_H
#define FR_ANSWER_SEARCH_CHOICE_EVEN_H

#include "answer/search/search.h"

/** State the break-even of one outcome of the search; an exact plan has none. */
void fr_even_state(const struct fr_searched *r, struct fr_outcome *out);

/** The same of all that are listed, on the front, and folded into answers. */
void fr_even_state_all(struct fr_searched *r);

#endif
