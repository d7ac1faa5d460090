/* Ring reduce-scatter: partial sums of one block travel the ring, p-1 rounds. */
#include "models/network/pattern.h"

static bool applicable(const struct fr_collective_args *a) { return a->n_ranks >= 1; }

static double time_s(const struct fr_collective_args *a) {
    struct fr_link_cost link = fr_collective_ring_link(a);
    double p = (double)a->n_ranks;
    double start_s = (p - 1) * link.latency_s;
    double move_s = (p - 1) / p * a->size_B * link.s_per_B;
    return start_s + move_s;
}

static fr_status expand(const struct fr_collective_args *a, struct fr_message_list *list) {
    struct fr_expansion e = fr_expansion_open(a, list);
    e.around = true;
    double block_B = a->size_B / (double)a->n_ranks;
    struct fr_peers everyone = {a->n_ranks, 1};
    fr_pattern_ring(&e, everyone, a->n_ranks - 1, block_B);
    return fr_expansion_close(&e);
}

const struct fr_collective fr_collective_ring_reduce_scatter = {
    .name = "ring",
    .op = FR_OP_REDUCE_SCATTER,
    .equation = "(p-1) alpha + (p-1)/p n beta",
    .source = "Patarasuk & Yuan, J. Parallel Distrib. Comput. 69(2), 2009",
    .applicable = applicable,
    .time_s = time_s,
    .expand = expand,
};
