/** @file
 *  Plans that are one plan under two names, and the name that stands for it.
 *
 *  Beside keys that nothing reads (models/plan/need_list.h) some values say what another value says:
 *
 *      interleaved with one chunk                        1F1B
 *      an order of axes that is the program's own        linear seats
 *      experts divided as everything is, etp = tp        etp open
 *      stages' layers as the equal division gives them   `equal`
 *      method grid of one row, but over filters          tensor
 *      method subgraph of one rank, likewise             tensor; over filters grid
 *      the plan's tp for every group of a transformer    `uniform`
 *      the same grid for every layer                     that grid for the plan, `uniform`
 *
 *  A search lists such a plan once, under the name at the right.  The last moves tp and dp as well, and is
 *  no row here. */
#ifndef FR_SEARCH_EQUIVALENT_H
#define FR_SEARCH_EQUIVALENT_H

#include "models/plan/key.h"

struct fr_equivalent {
    int key; /**< FR_PLAN_KEY_...: its default is the other name */
    /** Does @p plan say by this key what the default says?  False where it is the default, or where
     *  @p model is NULL and the answer hangs on it. */
    bool (*is)(const struct fr_workload *model, const struct fr_plan *plan);
};

/** Rows, then one without function. */
extern const struct fr_equivalent fr_equivalent_keys[];

/** The tp of every layer where a list gives all the same, else 0. */
int64_t fr_equivalent_uniform(const struct fr_plan *plan);

#endif
