/** @file
 *  In which order are the cases of a pass visited?
 *
 *  Randomised blocks (Fisher 1935): the configurations of one group, which are compared with
 *  each other, follow on each other in random order.  So changes of the machine meanwhile are
 *  the same for all.  The groups come in random order.
 *
 *  A first pass may be cut at any time.  One configuration of every group comes first, so that
 *  none is left out, then the rest, small groups first.  A choice is judged where its group is
 *  complete; this order completes the most groups in any given time.
 */
#ifndef FR_REAL_APPS_PASSES_ORDER_H
#define FR_REAL_APPS_PASSES_ORDER_H

#include "real/apps/case.h"

/** Order the indices in @p order [cases->n], which are shuffled: @p cut where the pass may be cut.
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_real_order(const struct fr_real_cases *cases, bool cut, int *order,
                        struct fr_error *err);

#endif
