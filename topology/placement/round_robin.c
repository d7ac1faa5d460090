/* Ranks are dealt to the nodes in turn, as cards are: the paper's topology-aware order.  A node
 * that is full (the last one, where the node size does not divide n) is passed over. */
#include "topology/placement.h"

static fr_status place(const struct fr_placement_ask *s, int64_t *slot, struct fr_error *err) {
    int64_t n = fr_mesh_ranks(s->mesh),
            capacity = s->levels->level[fr_levels_node(s->levels)].ranks;
    int64_t nodes = (n + capacity - 1) / capacity, r = 0;
    (void)err;
    for (int64_t row = 0; row < capacity;
         row++) /* the row-th slot of every node that has one */
        for (int64_t node = 0; node < nodes; node++)
            if (node * capacity + row < n) slot[r++] = node * capacity + row;
    return FR_OK;
}

const struct fr_placement fr_placement_round_robin = {
    .name = "round-robin",
    .summary = "ranks are dealt to the nodes in turn: topology-aware for sub-graphs",
    .source = "Jain et al., SUPER: SUb-Graph Parallelism for TransformERs, 2021, section V and "
              "Figure 11",
    .place = place,
};
