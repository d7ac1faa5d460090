/* Circulant all-reduce: circulant reduce-scatter, then the all-gather over the same skips.
 * Eqs. 3 and 4 of the 1.5D paper charge this cost to a "ring" all-reduce, whose own latency
 * term would be 2 (p-1) alpha. */
#include "models/network/pattern.h"

static double time_s(const struct fr_collective_args *a) {
    double p = (double)a->n_ranks;
    return fr_messages_s(fr_collective_flat_link(a), 2 * fr_log2_ceil(a->n_ranks),
                         2 * (p - 1) / p * a->size_B);
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    double block_B = a->size_B / (double)a->n_ranks;
    struct fr_peers everyone = {a->n_ranks, 1};
    fr_pattern_circulant_scatter(e, everyone, block_B);
    fr_pattern_circulant_gather(e, everyone, block_B);
}

const struct fr_collective fr_collective_circulant_all_reduce = {
    .name = "circulant",
    .op = FR_OP_ALL_REDUCE,
    .equation = "2 lg alpha + 2 (p-1)/p n beta",
    .source = "Traeff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, "
              "arXiv:2410.14234",
    .applicable = fr_collective_always,
    .time_s = time_s,
    .expand = expand,
};
