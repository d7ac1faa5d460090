/* Ring all-reduce: ring reduce-scatter, then ring all-gather. */
#include "models/network/pattern.h"

static double time_s(const struct fr_collective_args *a) {
    double p = (double)a->n_ranks;
    return fr_messages_s(fr_collective_ring_link(a), 2 * (p - 1), 2 * (p - 1) / p * a->size_B);
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    e->around = true;
    double block_B = a->size_B / (double)a->n_ranks;
    struct fr_peers everyone = {a->n_ranks, 1};
    fr_pattern_ring(e, everyone, 2 * (a->n_ranks - 1), block_B);
}

const struct fr_collective fr_collective_ring_all_reduce = {
    .name = "ring",
    .op = FR_OP_ALL_REDUCE,
    .equation = "2 (p-1) alpha + 2 (p-1)/p n beta",
    .source = "Patarasuk & Yuan, J. Parallel Distrib. Comput. 69(2), 2009",
    .applicable = fr_collective_always,
    .time_s = time_s,
    .expand = expand,
};
