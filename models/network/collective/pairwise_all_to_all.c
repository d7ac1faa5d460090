/* Pairwise all-to-all: in round i every rank sends its block to the rank i places on. */
#include "models/network/expansion.h"

static double time_s(const struct fr_collective_args *a) {
    double p = (double)a->n_ranks;
    return fr_messages_s(fr_collective_flat_link(a), p - 1, (p - 1) / p * a->size_B);
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    double block_B = a->size_B / (double)a->n_ranks;
    struct fr_peers everyone = {a->n_ranks, 1};
    for (int64_t i = 1; i < a->n_ranks && !e->failed; i++)
        fr_expand_shift(e, everyone, i, block_B);
}

const struct fr_collective fr_collective_pairwise_all_to_all = {
    .name = "pairwise",
    .op = FR_OP_ALL_TO_ALL,
    .equation = "(p-1) alpha + (p-1)/p n beta",
    .source = "Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005; "
              "MPICH, alltoall_intra_pairwise.c",
    .applicable = fr_collective_always,
    .time_s = time_s,
    .expand = expand,
};
