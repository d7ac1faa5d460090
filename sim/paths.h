/** @file
 *  Which links the messages of a program use (topology/path.h).
 */
#ifndef FR_SIM_PATHS_H
#define FR_SIM_PATHS_H

#include "sim/network.h"
#include "topology/path.h"

struct fr_paths {
    int32_t n_paths;
    struct fr_path *paths;
    struct fr_used_links links;
    int32_t *task_path; /**< [n_tasks]: path of a message; -1 for other tasks */
    int32_t *back;      /**< [n_paths]: the path the other way, for exchanges */
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
