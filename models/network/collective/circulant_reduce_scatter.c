/* Circulant reduce-scatter: skips of p halved again and again, rounded up; as few messages and
 * bytes as recursive halving, for any p.  The sum must commute. */
#include "models/network/pattern.h"

static bool applicable(const struct fr_collective_args *a) { return a->n_ranks >= 1; }

static double time_s(const struct fr_collective_args *a) {
    struct fr_link_cost link = fr_collective_flat_link(a);
    double p = (double)a->n_ranks;
    double start_s = fr_log2_ceil(a->n_ranks) * link.latency_s;
    double move_s = (p - 1) / p * a->size_B * link.s_per_B;
    return start_s + move_s;
}

static fr_status expand(const struct fr_collective_args *a, struct fr_message_list *list) {
    struct fr_expansion e = fr_expansion_open(a, list);
    double block_B = a->size_B / (double)a->n_ranks;
    struct fr_peers everyone = {a->n_ranks, 1};
    fr_pattern_circulant_scatter(&e, everyone, block_B);
    return fr_expansion_close(&e);
}

const struct fr_collective fr_collective_circulant_reduce_scatter = {
    .name = "circulant",
    .op = FR_OP_REDUCE_SCATTER,
    .equation = "lg alpha + (p-1)/p n beta",
    .source = "Traeff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, "
              "arXiv:2410.14234",
    .applicable = applicable,
    .time_s = time_s,
    .expand = expand,
};
