/** @file
 *  Which links the messages between pairs of ranks use, where each rank stands for replicas.
 *
 *  Rank r of a program or pipeline stands for tp x dp replicas that do the same at the same time.  A message between
 *  two ranks is looked at in its first replica; on every link of that one's way it counts as often as replicas of it
 *  use the link.  That is exact where the replicas' places look alike (as when units hold whole replicas), since they
 *  then all go at one rate.
 */
#ifndef FR_TOPOLOGY_PATH_H
#define FR_TOPOLOGY_PATH_H

#include "topology/levels.h"

/** A link on a message's way. */
struct fr_link_use {
    int32_t link;
    int32_t weight; /**< replicas of the message on it, >= 1 */
};

struct fr_path {
    int32_t from, to; /**< ranks */
    double latency_s;
    double alone_B_per_s;  /**< rate of each replica when no other message is under way */
    int32_t first, n_uses; /**< in `uses` */
};

/** Where the replicas are: replica (t, d) of rank r is number t tp_stride + r stride + d dp_stride. */
struct fr_replicas {
    int64_t tp, dp; /**< >= 1 */
    int64_t tp_stride, stride, dp_stride;
    const int64_t *slot; /**< slot of each number, or NULL: the number */
};

/** Links that first replicas use, numbered from 0. */
struct fr_used_links {
    int32_t n, uses_max;
    double *rate_B_per_s; /**< [n] */
    struct fr_link_use *uses;
    int64_t n_uses, capacity;
};

int64_t fr_replica_slot(const struct fr_replicas *replicas, int64_t r, int64_t t, int64_t d);

/** Fill in the paths, whose ranks are given, and the links that they use.
 *  @return false when memory is exhausted.  Free with fr_used_links_free, also then. */
bool fr_paths_count(const struct fr_levels *levels, const struct fr_replicas *replicas,
                    int32_t n_paths, struct fr_path *paths, struct fr_used_links *links);
void fr_used_links_free(struct fr_used_links *links);

#endif
