/* Binomial gather to rank 0: the binomial scatter run backwards; the root receives p - 1 blocks in
 * lg messages, one after the other. */
#include "models/network/expansion.h"

static bool applicable(const struct fr_collective_args *a) { return a->n_ranks >= 1; }

static double time_s(const struct fr_collective_args *a) {
    struct fr_link_cost link = fr_collective_flat_link(a);
    double p = (double)a->n_ranks;
    double start_s = fr_log2_ceil(a->n_ranks) * link.latency_s;
    double move_s = (p - 1) / p * a->size_B * link.s_per_B;
    return start_s + move_s;
}

/* In the round of distance d the odd multiples of d hand the blocks of d ranks to the even one
 * below. */
static fr_status expand(const struct fr_collective_args *a, struct fr_message_list *list) {
    struct fr_expansion e = fr_expansion_open(a, list);
    int64_t p = a->n_ranks;
    double block_B = a->size_B / (double)p;
    for (int64_t d = 1; d < p && !e.failed; d *= 2) {
        for (int64_t dst = 0; dst + d < p; dst += 2 * d) {
            int64_t blocks = p - dst - d < d ? p - dst - d : d;
            fr_expansion_send(&e, dst + d, dst, (double)blocks * block_B);
        }
        fr_expansion_next_round(&e);
    }
    return fr_expansion_close(&e);
}

const struct fr_collective fr_collective_binomial_gather = {
    .name = "binomial",
    .op = FR_OP_GATHER,
    .equation = "lg alpha + (p-1)/p n beta",
    .source = "Chan, Heimlich, Purkayastha & van de Geijn, Concurrency Computat. 19, 2007, "
              "section 5 (minimum spanning tree gather)",
    .applicable = applicable,
    .time_s = time_s,
    .expand = expand,
};
