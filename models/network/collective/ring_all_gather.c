/* Ring all-gather: every rank passes on, p-1 times, the block it got last. */
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

const struct fr_collective fr_collective_ring_all_gather = {
    .name = "ring",
    .op = FR_OP_ALL_GATHER,
    .equation = "(p-1) alpha + (p-1)/p n beta",
    .source = "Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005; "
              "MPICH, allgather_intra_ring.c",
    .applicable = fr_collective_always,
    .time_s = time_s,
    .expand = expand,
};
