/* Two-level reduce-scatter: the hierarchical all-gather run backwards.  The first step is within the node, after
 * which each rank holds the node's sum of n/r bytes.  The second is among the ranks of the same place in all q = p/r
 * nodes.  So no byte leaves a node that was not summed in it.  Both steps are the circulant ones. */
#include "models/network/pattern.h"

static double time_s(const struct fr_collective_args *a) {
    int64_t nodes = a->n_ranks / a->ranks_per_node;
    double p = (double)a->n_ranks, r = (double)a->ranks_per_node, q = (double)nodes;
    double inner_s =
        fr_messages_s(a->inner, fr_log2_ceil(a->ranks_per_node), (r - 1) / r * a->size_B);
    double outer_s = fr_messages_s(a->outer, fr_log2_ceil(nodes), (q - 1) / p * a->size_B);
    return inner_s + outer_s;
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    int64_t r = a->ranks_per_node;
    struct fr_peers node = {r, 1}, rail = {a->n_ranks / r, r};
    e->by_node = true;
    fr_pattern_circulant_scatter(e, node, a->size_B / (double)r);
    fr_pattern_circulant_scatter(e, rail, a->size_B / (double)a->n_ranks);
}

const struct fr_collective fr_collective_hierarchical_reduce_scatter = {
    .name = "hierarchical",
    .op = FR_OP_REDUCE_SCATTER,
    .equation = "ceil(log2 r) alpha_in + (r-1)/r n beta_in + ceil(log2 q) alpha_out + "
                "(q-1)/p n beta_out, q = p/r",
    .source = "first half of the hierarchical all-reduce; steps: Traeff, arXiv:2410.14234",
    .applicable = fr_collective_by_node,
    .time_s = time_s,
    .expand = expand,
};
