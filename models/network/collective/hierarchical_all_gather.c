/* Two-level all-gather.  The first step is among the ranks of the same place in all q = p/r nodes: each rank fetches
 * (q-1) n/p bytes from outside, and no byte enters a node twice.  The second is within the node, where each rank's
 * shard has grown to n/r bytes.  Both steps are Bruck's. */
#include "models/network/pattern.h"

static double time_s(const struct fr_collective_args *a) {
    int64_t nodes = a->n_ranks / a->ranks_per_node;
    double p = (double)a->n_ranks, r = (double)a->ranks_per_node, q = (double)nodes;
    double outer_s = fr_messages_s(a->outer, fr_log2_ceil(nodes), (q - 1) / p * a->size_B);
    double inner_s =
        fr_messages_s(a->inner, fr_log2_ceil(a->ranks_per_node), (r - 1) / r * a->size_B);
    return outer_s + inner_s;
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    int64_t r = a->ranks_per_node;
    struct fr_peers node = {r, 1}, rail = {a->n_ranks / r, r};
    e->by_node = true;
    fr_pattern_bruck_gather(e, rail, a->size_B / (double)a->n_ranks);
    fr_pattern_bruck_gather(e, node, a->size_B / (double)r);
}

const struct fr_collective fr_collective_hierarchical_all_gather = {
    .name = "hierarchical",
    .op = FR_OP_ALL_GATHER,
    .equation = "ceil(log2 q) alpha_out + (q-1)/p n beta_out + ceil(log2 r) alpha_in + "
                "(r-1)/r n beta_in, q = p/r",
    .source = "composed here of two Bruck all-gathers (Bruck et al. 1997)",
    .applicable = fr_collective_by_node,
    .time_s = time_s,
    .expand = expand,
};
