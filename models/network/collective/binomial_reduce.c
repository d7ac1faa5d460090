/* Binomial reduce to rank 0: the binomial broadcast run backwards; the root receives lg times,
 * one after the other. */
#include "models/network/expansion.h"

static bool applicable(const struct fr_collective_args *a) { return a->n_ranks >= 1; }

static double time_s(const struct fr_collective_args *a) {
    struct fr_link_cost link = fr_collective_flat_link(a);
    double start_s = fr_log2_ceil(a->n_ranks) * link.latency_s;
    double move_s = fr_log2_ceil(a->n_ranks) * a->size_B * link.s_per_B;
    return start_s + move_s;
}

/* In the round of distance d the odd multiples of d hand their sum to the even one below. */
static fr_status expand(const struct fr_collective_args *a, struct fr_message_list *list) {
    struct fr_expansion e = fr_expansion_open(a, list);
    int64_t p = a->n_ranks;
    for (int64_t d = 1; d < p && !e.failed; d *= 2) {
        for (int64_t dst = 0; dst + d < p; dst += 2 * d)
            fr_expansion_send(&e, dst + d, dst, a->size_B);
        fr_expansion_next_round(&e);
    }
    return fr_expansion_close(&e);
}

const struct fr_collective fr_collective_binomial_reduce = {
    .name = "binomial",
    .op = FR_OP_REDUCE,
    .equation = "lg (alpha + n beta)",
    .source = "Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005; "
              "MPICH, reduce_intra_binomial.c",
    .applicable = applicable,
    .time_s = time_s,
    .expand = expand,
};
