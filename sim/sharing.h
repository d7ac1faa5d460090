/** @file
 *  Messages under way together share links, max-min fairly: the run of the networks `shared` and `fair`.
 *
 *  NCCL runs the messages from one rank to another in the order in which they were sent.  `shared` does so: one
 *  message of each ordered pair of ranks is under way at a time.  `fair` lets all share at once, as SimGrid does. */
#ifndef FR_SIM_SHARING_H
#define FR_SIM_SHARING_H

#include "sim/network.h"

/** Prepare runs of @p work.
 *  @param in_order  the messages of an ordered pair of ranks go one after another, first come first served
 *  @return FR_OK, or as fr_network.open */
fr_status fr_sharing_open(const struct fr_network_work *work, bool in_order, void **state,
                          struct fr_error *err);
void fr_sharing_close(void *state);

/** As fr_network.run. */
fr_status fr_sharing_run(const struct fr_network_work *work, void *state, const double *class_s,
                         double *start_s, double *end_s, double *makespan_s,
                         struct fr_error *err);

#endif
