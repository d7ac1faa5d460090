/* Ranks fill the nodes in the order in which the program numbers them: rank r on slot r.  For
 * D&SP, which numbers one sub-grid after the other, this is the paper's naive pattern. */
#include "topology/placement.h"

static fr_status place(const struct fr_placement_ask *s, int64_t *slot, struct fr_error *err) {
    (void)err;
    for (int64_t r = 0; r < fr_mesh_ranks(s->mesh); r++) slot[r] = r;
    return FR_OK;
}

const struct fr_placement fr_placement_linear = {
    .name = "linear",
    .summary = "ranks fill the nodes in the order of their numbers",
    .source =
        "Jain et al., SUPER: SUb-Graph Parallelism for TransformERs, 2021, Figure 9 (naive)",
    .in_order = true,
    .place = place,
};
