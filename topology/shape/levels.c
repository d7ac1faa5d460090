/* Boxes in boxes, as the levels have them. */
#include "topology/levels.h"

static void reshape(struct fr_levels *levels) { (void)levels; }

const struct fr_shape fr_shape_levels = {
    .name = "levels",
    .summary = "nested boxes with an ideal switch each; only the ranks' links can be busy",
    .example = "rack:4 node:18 gpu:4",
    .source = "the cluster's levels",
    .reshape = reshape,
};
