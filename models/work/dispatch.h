/** @file
 *  How tokens get to their experts: a copy for each expert, or one for all experts in a group of ranks.
 *
 *  A token goes to k of the experts on E = ep ranks.  With a copy for each expert it is sent k times.  With
 *  `dispatch_ranks` = r it is sent once to each group of r neighbours that has one of its experts.  From there it is
 *  sent once to each rank of the group that has one.  DeepEP does so (DeepSeek-AI, DeepSeek-V3 Technical Report,
 *  2024, section 3.2.2): one copy a node over InfiniBand, passed on over NVLink.
 *
 *      n(1 - (1 - 1/n)^k)   groups that k choices among n meet in the mean
 *
 *      across    that of n = E / r groups, all-to-all among ranks r apart (r = E: nothing)
 *      within    that of n = E ranks, all-to-all among the r neighbours (r = 1: nothing)
 *
 *  each way; results that come back are added up likewise.  A router may be limited to M of G groups of experts
 *  (`expert_groups`, `groups_per_token`).  Then the choices are among M/G of the experts, so among n M / G of n
 *  places.  Where n < G they are among the n(1 - (1 - 1/n)^M) places that M groups are on.  Choices are taken as
 *  independent and evenly spread; `imbalance` states how much more the fullest rank has. */
#ifndef FR_MODELS_WORK_DISPATCH_H
#define FR_MODELS_WORK_DISPATCH_H

#include "models/work/transformer.h"

/** Copies of a token, of the hidden width each, that one way sends. */
struct fr_dispatch {
    double across, within; /**< within 0: nothing is passed on */
};
struct fr_dispatch fr_dispatch_of(const struct fr_transformer *t, const struct fr_plan *plan);

#endif
