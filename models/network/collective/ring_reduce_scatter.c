/* Ring reduce-scatter: partial sums of one block travel the ring, p-1 rounds. */
#include "models/network/pattern.h"

static double time_s(const struct fr_collective_args *a) {
    double p = (double)a->n_ranks;
    return fr_messages_s(fr_collective_ring_link(a), p - 1, (p - 1) / p * a->size_B);
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    e->around = true;
    double block_B = a->size_B / (double)a->n_ranks;
    struct fr_peers everyone = {a->n_ranks, 1};
    fr_pattern_ring(e, everyone, a->n_ranks - 1, block_B);
}

const struct fr_collective fr_collective_ring_reduce_scatter = {
    .name = "ring",
    .op = FR_OP_REDUCE_SCATTER,
    .equation = "(p-1) alpha + (p-1)/p n beta",
    .source = "Patarasuk & Yuan, J. Parallel Distrib. Comput. 69(2), 2009",
    .applicable = fr_collective_always,
    .time_s = time_s,
    .expand = expand,
};
