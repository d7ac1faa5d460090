/* One switch, a link of its own for every rank: the outermost level's, shared by nobody. */
#include "topology/levels.h"

static void reshape(struct fr_levels *levels) {
    levels->level[0] = levels->level[levels->count - 1];
    levels->level[0].shared_by = 1;
    levels->count = 1;
}

const struct fr_shape fr_shape_flat = {
    .name = "flat",
    .summary = "one ideal switch, a link of the outermost level for every rank",
    .example = "flat",
    .source = "the alpha-beta model's network: Hockney, Parallel Computing 20(3), 1994",
    .reshape = reshape,
};
