/** @file
 *  Which links the messages of a program use.
 *
 *  A program's rank stands for replicas that do the same at the same time.  A message between two
 *  of its ranks is looked at in its first replica; on every link of that one's way it counts as
 *  often as replicas of it use the link.  That is exact where the replicas' places look alike
 *  (as when units hold whole replicas), since they then all go at one rate.
 */
#ifndef FR_SIM_PATHS_H
#define FR_SIM_PATHS_H

#include "sim/fluid.h"
#include "sim/network.h"

struct fr_path {
    int32_t from, to; /**< ranks of the program */
    double latency_s;
    double alone_B_per_s;  /**< rate of each replica when no other message is under way */
    int32_t first, n_uses; /**< in `uses` */
};

struct fr_paths {
    int32_t n_paths;
    struct fr_path *paths;
    struct fr_fluid_use *uses;
    int64_t n_uses;
    int32_t *task_path; /**< [n_tasks]: path of a message; -1 for other tasks */
    int32_t *back;      /**< [n_paths]: the path the other way, for exchanges */
    int32_t n_links, uses_max;
    double *rate_B_per_s; /**< [n_links] */
};

/** Is this task a message?  Those have a peer and carry bytes. */
bool fr_paths_is_message(const struct fr_network_work *work, int64_t task);

/** Slot of replica (@p t, @p d) of rank @p r of the program. */
int64_t fr_paths_slot(const struct fr_network_work *work, int32_t r, int64_t t, int64_t d);

/** Work out the paths of all messages.  @return FR_OK; FR_ERR_INPUT when the plan has more ranks
 *  than the cluster; FR_ERR_NOMEM.  Free with fr_paths_free, also on error. */
fr_status fr_paths_make(const struct fr_network_work *work, struct fr_paths *paths,
                        struct fr_error *err);
void fr_paths_free(struct fr_paths *paths);

#endif
