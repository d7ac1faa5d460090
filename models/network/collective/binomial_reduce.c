/* Binomial reduce to rank 0: the binomial broadcast run backwards; the root receives lg times,
 * one after the other. */
#include "models/network/expansion.h"

static double time_s(const struct fr_collective_args *a) {
    return fr_messages_s(fr_collective_flat_link(a), fr_log2_ceil(a->n_ranks),
                         fr_log2_ceil(a->n_ranks) * a->size_B);
}

/* In the round of distance d the odd multiples of d hand their sum to the even one below. */
static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    int64_t p = a->n_ranks;
    for (int64_t d = 1; d < p && !e->failed; d *= 2) {
        for (int64_t dst = 0; dst + d < p; dst += 2 * d)
            fr_expansion_send(e, dst + d, dst, a->size_B);
        fr_expansion_next_round(e);
    }
}

const struct fr_collective fr_collective_binomial_reduce = {
    .name = "binomial",
    .op = FR_OP_REDUCE,
    .equation = "lg (alpha + n beta)",
    .source = "Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005; "
              "MPICH, reduce_intra_binomial.c",
    .applicable = fr_collective_always,
    .time_s = time_s,
    .expand = expand,
};
