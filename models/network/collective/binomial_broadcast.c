/* Binomial broadcast from rank 0: who has the buffer sends it, distance halving; the root sends
 * lg times, and no other rank ends later. */
#include "models/network/expansion.h"

static double time_s(const struct fr_collective_args *a) {
    return fr_messages_s(fr_collective_flat_link(a), fr_log2_ceil(a->n_ranks),
                         fr_log2_ceil(a->n_ranks) * a->size_B);
}

/* In the round of distance d the ranks that are a multiple of 2 d have the buffer. */
static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    int64_t p = a->n_ranks;
    for (int64_t d = (int64_t)1 << fr_log2_ceil(p) >> 1; d >= 1 && !e->failed; d /= 2) {
        for (int64_t src = 0; src + d < p; src += 2 * d)
            fr_expansion_send(e, src, src + d, a->size_B);
        fr_expansion_next_round(e);
    }
}

const struct fr_collective fr_collective_binomial_broadcast = {
    .name = "binomial",
    .op = FR_OP_BROADCAST,
    .equation = "lg (alpha + n beta)",
    .source = "Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005; "
              "MPICH, bcast_intra_binomial.c",
    .applicable = fr_collective_always,
    .time_s = time_s,
    .expand = expand,
};
