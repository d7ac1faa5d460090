/** @file
 *  In which order are the cases of a pass visited?
 *
 *  Randomised blocks (Fisher 1935): the configurations of one group, which are compared with each
 *  other, follow on each other in random order, so that what the machine does meanwhile is the same
 *  for all; the groups come in random order.
 *
 *  A first pass that may be cut at any time: one configuration of every group, so that none goes
 *  without a look, then the rest, small groups first: a choice is judged where its group is whole,
 *  and in whatever time there is the most become whole that way.
 */
#ifndef FR_REAL_APPS_PASSES_ORDER_H
#define FR_REAL_APPS_PASSES_ORDER_H

#include "real/apps/case.h"

/** Order the indices in @p order [cases->n], which are shuffled: @p cut where the pass may be cut.
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_real_order(const struct fr_real_cases *cases, bool cut, int *order,
                        struct fr_error *err);

#endif
