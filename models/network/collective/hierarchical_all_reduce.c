/* Two-level all-reduce: reduce-scatter within the node, all-reduce of each rank's shard of n/r
 * bytes with the ranks of the same place in the other q = p/r nodes, all-gather within the
 * node.  All r ranks of a node use the network at once, each with its share.
 *
 * The steps are the circulant ones, which reach the fewest messages and bytes on either level
 * for any r and q, so no other choice of steps makes this scheme faster. */
#include "models/network/pattern.h"

static double time_s(const struct fr_collective_args *a) {
    int64_t nodes = a->n_ranks / a->ranks_per_node;
    double p = (double)a->n_ranks, r = (double)a->ranks_per_node, q = (double)nodes;
    double inner_s = fr_messages_s(a->inner, 2 * fr_log2_ceil(a->ranks_per_node),
                                   2 * (r - 1) / r * a->size_B);
    double outer_s =
        fr_messages_s(a->outer, 2 * fr_log2_ceil(nodes), 2 * (q - 1) / p * a->size_B);
    return inner_s + outer_s;
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    int64_t r = a->ranks_per_node;
    struct fr_peers node = {r, 1}, rail = {a->n_ranks / r, r};
    double shard_B = a->size_B / (double)r, block_B = a->size_B / (double)a->n_ranks;
    e->by_node = true;
    fr_pattern_circulant_scatter(e, node, shard_B);
    fr_pattern_circulant_scatter(e, rail, block_B);
    fr_pattern_circulant_gather(e, rail, block_B);
    fr_pattern_circulant_gather(e, node, shard_B);
}

const struct fr_collective fr_collective_hierarchical_all_reduce = {
    .name = "hierarchical",
    .op = FR_OP_ALL_REDUCE,
    .equation = "2 ceil(log2 r) alpha_in + 2 (r-1)/r n beta_in + 2 ceil(log2 q) alpha_out + "
                "2 (q-1)/p n beta_out, q = p/r",
    .source = "scheme: UCC, cl/hier/allreduce (split_rail); steps: Traeff, arXiv:2410.14234",
    .applicable = fr_collective_by_node,
    .time_s = time_s,
    .expand = expand,
};
