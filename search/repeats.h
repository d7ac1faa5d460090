/** @file
 *  Which configurations of a space can be passed over together, since they repeat other plans?
 *
 *  A key that nothing reads stands for one plan alone (search/space.h), whatever value it has.  Whether anything reads
 *  it is a matter of its needs (models/plan/need_list.h), which read other keys, which may be idle in turn.  Where all
 *  these keys are varied before it, more slowly, every plan up to the next value of one of them repeats another.
 */
#ifndef FR_SEARCH_REPEATS_H
#define FR_SEARCH_REPEATS_H

#include "search/space.h"

/** Find out, of each dimension, whether what makes its key idle is varied before it; before fr_space_plan_after. */
void fr_repeats_find(struct fr_space *space);

/** Dimension @p d of the configuration that @p at is at has a key that nothing reads, and repeats another: pass over
 *  those that do so, too.  at->next is then where to go on. */
void fr_repeats_pass(const struct fr_space *space, int d, struct fr_space_cursor *at);

#endif
