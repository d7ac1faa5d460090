/** @file
 *  Which configurations of a space can be passed over together, since they repeat other plans?
 *
 *  A key that nothing reads stands for one plan alone (search/space.h), whatever value it has.  Whether anything reads
 *  it is a matter of its needs (models/plan/need_list.h), which read other keys, which may be idle in turn.  Where a need
 *  does not hold and all that decides so is varied before it, more slowly, every configuration up to the next value of
 *  one of these keys repeats another.
 */
#ifndef FR_SEARCH_REPEATS_H
#define FR_SEARCH_REPEATS_H

#include "search/space.h"

/** Dimension @p d of the configuration that @p at is at has a key that nothing reads, and repeats another: pass over
 *  those that do so, too.  at->next is then where to go on.
 *  @param model  as of fr_space_plan
 *  @param lacks  needs of its key that do not hold */
void fr_repeats_pass(const struct fr_space *space, const struct fr_workload *model, int d,
                     uint64_t lacks, struct fr_space_cursor *at);

#endif
