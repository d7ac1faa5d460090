/* Bruck all-to-all: a block that must travel i places moves 2^k places in round k for every bit
 * k of i, so a rank forwards blocks of others: few messages, for small n.
 *
 * The textbook's lg alpha + lg n beta / 2 is exact for powers of two only; in general a rank
 * sends as many blocks as the distances 1..p-1 have bits set. */
#include "models/network/expansion.h"

/* Number of the distances 0..p-1 that have bit k set. */
static int64_t blocks_in_round(int64_t p, int32_t k) {
    int64_t bit = (int64_t)1 << k, rest = p & (2 * bit - 1);
    int64_t whole = (p & ~(2 * bit - 1)) / 2;
    return rest > bit ? whole + rest - bit : whole;
}

static double time_s(const struct fr_collective_args *a) {
    int32_t rounds = fr_log2_ceil(a->n_ranks);
    int64_t blocks = 0;
    for (int32_t k = 0; k < rounds; k++) blocks += blocks_in_round(a->n_ranks, k);
    return fr_messages_s(fr_collective_flat_link(a), rounds,
                         (double)blocks / (double)a->n_ranks * a->size_B);
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    struct fr_peers everyone = {a->n_ranks, 1};
    double block_B = a->size_B / (double)a->n_ranks;
    for (int32_t k = 0; k < fr_log2_ceil(a->n_ranks); k++)
        fr_expand_shift(e, everyone, (int64_t)1 << k,
                        (double)blocks_in_round(a->n_ranks, k) * block_B);
}

const struct fr_collective fr_collective_bruck_all_to_all = {
    .name = "bruck",
    .op = FR_OP_ALL_TO_ALL,
    .equation = "lg alpha + (sum of popcount(i), i < p)/p n beta",
    .source =
        "Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE Trans. Parallel Distrib. Syst. 8(11), "
        "1997; MPICH, alltoall_intra_brucks.c",
    .applicable = fr_collective_always,
    .time_s = time_s,
    .expand = expand,
};
