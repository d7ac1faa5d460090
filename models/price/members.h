/** @file
 *  Which ranks are in the communicators of a stage?
 *
 *  models/price/rank_map.h counts the links that they use; here are their lists, for those who play messages.  Ranks of
 *  a stage are counted x = t + tp r, with t along tp and r along its R / tp replicas, whatever the numbering is. */
#ifndef FR_MODELS_PRICE_MEMBERS_H
#define FR_MODELS_PRICE_MEMBERS_H

#include "models/price/rank_map.h"
#include "models/price/zero.h"
#include "models/work/operation.h"

/** Communicators of n ranks, `apart` ranks apart among those of a stage. */
struct fr_members {
    int64_t n, apart;
    bool
        replicas_first; /**< counted x = r + R / tp t instead, as sub-graphs number their ranks */
    bool ends;          /**< instead those of first and last stage that hold a tied embedding */
};

/** Those of an operation's axis. */
struct fr_members fr_members_along(const struct fr_plan *plan, fr_axis axis);
/** Those of a kind of copies. */
struct fr_members fr_members_of_copies(const struct fr_plan *plan, fr_copies kind,
                                       fr_among among);

/** Rank @p x of stage @p i. */
int64_t fr_members_rank(const struct fr_rank_map *rank_map, int64_t i, int64_t x);
/** How many ranks all of them have. */
int64_t fr_members_count(const struct fr_rank_map *rank_map, const struct fr_members *members);
/** The ranks of stage @p i's communicators, one after another, each in the order of its slots: rank[fr_members_count].
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_members_list(const struct fr_rank_map *rank_map, const struct fr_members *members,
                          int32_t i, int32_t *rank);

#endif
