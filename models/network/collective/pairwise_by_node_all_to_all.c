/* Pairwise all-to-all, the ranks of a node first: r - 1 rounds inside nodes, then p - r rounds in
 * which every rank sends to another node, so that no round mixes the two. */
#include "models/network/expansion.h"

static double time_s(const struct fr_collective_args *a) {
    double p = (double)a->n_ranks, r = (double)a->ranks_per_node, block_B = a->size_B / p;
    double inside_s = (r - 1) * (a->inner.latency_s + block_B * a->inner.s_per_B);
    double across_s = (p - r) * (a->outer.latency_s + block_B * a->outer.s_per_B);
    return inside_s + across_s;
}

/* One round: rank b of node n sends to rank b + shift of node n + nodes. */
static void across(struct fr_expansion *e, int64_t nodes, int64_t shift, double block_B) {
    int64_t r = e->ranks_per_node, all = e->n_ranks / r;
    for (int64_t n = 0; n < all && !e->failed; n++)
        for (int64_t b = 0; b < r; b++)
            fr_expansion_send(e, n * r + b, (n + nodes) % all * r + (b + shift) % r, block_B);
    fr_expansion_next_round(e);
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    int64_t r = a->ranks_per_node;
    double block_B = a->size_B / (double)a->n_ranks;
    e->by_node = true;
    for (int64_t i = 1; i < r && !e->failed; i++)
        fr_expand_shift(e, (struct fr_peers){r, 1}, i, block_B);
    for (int64_t nodes = 1; nodes < a->n_ranks / r && !e->failed; nodes++)
        for (int64_t i = 0; i < r && !e->failed; i++) across(e, nodes, i, block_B);
}

const struct fr_collective fr_collective_pairwise_by_node_all_to_all = {
    .name = "pairwise_by_node",
    .op = FR_OP_ALL_TO_ALL,
    .equation = "(r-1) (alpha_in + n/p beta_in) + (p-r) (alpha_out + n/p beta_out)",
    .source = "ours: the rounds of the pairwise exchange in another order",
    .applicable = fr_collective_by_node,
    .time_s = time_s,
    .expand = expand,
};
