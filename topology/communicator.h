/** @file
 *  How much do links cost a collective, by the place of its ranks and the traffic at the same time?
 *
 *  A communicator is p ranks; n_groups of them, disjoint and alike, run the same collective at
 *  once, as the axes of a mesh do: member i of communicator g is rank
 *      first + floor(g / stride) stride p + g mod stride + i stride
 *  so tp ranks innermost are {p = tp, stride = 1, n_groups = dp pp}, data-parallel ranks outside
 *  them {p = dp, stride = tp pp, n_groups = tp pp}.  Any other set is a list: stride 1 and `slot`,
 *  rank by rank, one communicator after another.
 *
 *  The cost of members depends on how many messages use one link at the same time.  Four numbers describe it to an
 *  algorithm (models/network/collective.h):
 *      inner   between two members in one unit of level 0
 *      ring    when every member sends to the next one: a link out of a node that holds several
 *              neighbouring members carries one message of theirs, not one each
 *      rails   when, of every node, as many members as the least full node has send to the next node at
 *              once: rings that use all adapters, each its own
 *      outer   when every member sends to a distant one, 2, 4, 8, ... places on: the worst of them
 *  each the latency of the longest route and the bytes' time on the busiest link.
 */
#ifndef FR_TOPOLOGY_COMMUNICATOR_H
#define FR_TOPOLOGY_COMMUNICATOR_H

#include "topology/levels.h"

struct fr_communicator {
    int64_t n_ranks;     /**< p >= 1, of each */
    int64_t stride;      /**< between neighbours, in ranks, >= 1 */
    int64_t n_groups;    /**< that run at once, >= 1 */
    int64_t first;       /**< rank of the first member of the first */
    const int64_t *slot; /**< slot of each rank of the plan, or NULL: rank i in slot i */
};

/** Ranks that communicate: where they sit and what their messages cost. */
struct fr_group {
    int64_t n_ranks;        /**< p */
    int64_t ranks_per_node; /**< of them in one unit of level 0, at most */
    int64_t fewest;         /**< of them in a unit of level 0 that holds any, at least; 0: units
                                 are filled one by one, and the last takes the rest */
    int64_t nodes;          /**< units of level 0 that hold any, at most; 0: likewise */
    int level;              /**< innermost level that holds them all */
    struct fr_link_cost inner, outer, ring, rails;
    const struct fr_link_class *inside,
        *between;                     /**< links of level 0 and of `level`; NULL: not stated */
    double hops_inside, hops_between; /**< latencies of these levels over those of the file */
    struct fr_link_ratio changed;     /**< of that level's numbers, for forms */
};

/** Slot of member @p i of communicator @p g. */
int64_t fr_communicator_slot(const struct fr_communicator *c, int64_t g, int64_t i);

/** Do units, links and communicators begin together on levels without a fabric?  Then the closed form
 *  is exact, and every communicator pays the same. */
bool fr_communicator_regular(const struct fr_levels *levels, const struct fr_communicator *c);

/** The costs above.  Where regular in closed form, otherwise by counting the messages on every link
 *  (time proportional to p n_groups log2 p).
 *  @return FR_OK, or FR_ERR_NOMEM where there is to be counted. */
fr_status fr_group_of(const struct fr_levels *levels, const struct fr_communicator *c,
                      struct fr_group *group, struct fr_error *err);

/** The same, always by counting: for lists, fabrics, and to check the closed form. */
fr_status fr_group_count(const struct fr_levels *levels, const struct fr_communicator *c,
                         struct fr_group *group, struct fr_error *err);

/** The group of ranks 0, stride, ..., (n_ranks-1) stride, when all ranks of the machine are busy with
 *  the like. */
struct fr_group fr_group_make(const struct fr_levels *levels, int64_t n_ranks, int64_t stride);

/** Ranks a, a+1, ..., a+n-1 send to b, b+1, ..., b+n-1 at once, and so do the n_copies ranks that lie
 *  `stride` apart from each: a pair of pipeline stages in all their replicas.  For send_recv: what
 *  the first replica pays. */
struct fr_group fr_group_pairs(const struct fr_levels *levels, int64_t a, int64_t b, int64_t n,
                               int64_t n_copies, int64_t stride);

/** Slots a[k] send to b[k], k = 0 .. n-1, all at once: what the slowest pays.  For pairs that lie
 *  anyhow.
 *  @param load  scratch [fr_links_count(levels)], zero before and after */
struct fr_group fr_group_pairs_at(const struct fr_levels *levels, const int64_t *a,
                                  const int64_t *b, int64_t n, int32_t *load);

/** The pair of ranks @p a and @p b when all ranks of the machine are busy with the like. */
struct fr_group fr_group_pair(const struct fr_levels *levels, int64_t a, int64_t b);

#endif
