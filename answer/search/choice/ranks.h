/** @file
 *  The ranks of stages that a search chose, in the plans that it lists.
 *
 *  A search keeps "best" in its plans, since lists would have to be kept for all of them.  Plans that are listed, and
 *  those on the front, get their list here, so that predict and a trainer's script have what was priced. */
#ifndef FR_ANSWER_SEARCH_CHOICE_RANKS_H
#define FR_ANSWER_SEARCH_CHOICE_RANKS_H

#include "answer/search/search.h"

/** Put the lists in; r->ranks owns them.  Plans that leave layers or grids open as well keep "best".
 *  @return FR_OK or FR_ERR_NOMEM */
fr_status fr_ranks_list(struct fr_searched *r, struct fr_error *err);
void fr_ranks_free(struct fr_searched *r);

#endif
