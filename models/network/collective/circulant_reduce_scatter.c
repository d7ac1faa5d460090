/* Circulant reduce-scatter: skips of p halved again and again, rounded up; as few messages and
 * bytes as recursive halving, for any p.  The sum must commute. */
#include "models/network/pattern.h"

static double time_s(const struct fr_collective_args *a) {
    double p = (double)a->n_ranks;
    return fr_messages_s(fr_collective_flat_link(a), fr_log2_ceil(a->n_ranks),
                         (p - 1) / p * a->size_B);
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    double block_B = a->size_B / (double)a->n_ranks;
    struct fr_peers everyone = {a->n_ranks, 1};
    fr_pattern_circulant_scatter(e, everyone, block_B);
}

const struct fr_collective fr_collective_circulant_reduce_scatter = {
    .name = "circulant",
    .op = FR_OP_REDUCE_SCATTER,
    .equation = "lg alpha + (p-1)/p n beta",
    .source = "Traeff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, "
              "arXiv:2410.14234",
    .applicable = fr_collective_always,
    .time_s = time_s,
    .expand = expand,
};
