/* Binomial scatter from rank 0: who has blocks hands on those of the upper half of its ranks,
 * distance halving.  The root sends p - 1 blocks in lg messages, and no other rank ends later. */
#include "models/network/expansion.h"

static bool applicable(const struct fr_collective_args *a) { return a->n_ranks >= 1; }

static double time_s(const struct fr_collective_args *a) {
    struct fr_link_cost link = fr_collective_flat_link(a);
    double p = (double)a->n_ranks;
    double start_s = fr_log2_ceil(a->n_ranks) * link.latency_s;
    double move_s = (p - 1) / p * a->size_B * link.s_per_B;
    return start_s + move_s;
}

/* In the round of distance d the ranks that are a multiple of 2 d hold the blocks of 2 d ranks. */
static fr_status expand(const struct fr_collective_args *a, struct fr_message_list *list) {
    struct fr_expansion e = fr_expansion_open(a, list);
    int64_t p = a->n_ranks;
    double block_B = a->size_B / (double)p;
    for (int64_t d = (int64_t)1 << fr_log2_ceil(p) >> 1; d >= 1 && !e.failed; d /= 2) {
        for (int64_t src = 0; src + d < p; src += 2 * d) {
            int64_t blocks = p - src - d < d ? p - src - d : d;
            fr_expansion_send(&e, src, src + d, (double)blocks * block_B);
        }
        fr_expansion_next_round(&e);
    }
    return fr_expansion_close(&e);
}

const struct fr_collective fr_collective_binomial_scatter = {
    .name = "binomial",
    .op = FR_OP_SCATTER,
    .equation = "lg alpha + (p-1)/p n beta",
    .source = "Chan, Heimlich, Purkayastha & van de Geijn, Concurrency Computat. 19, 2007, "
              "section 5 (minimum spanning tree scatter)",
    .applicable = applicable,
    .time_s = time_s,
    .expand = expand,
};
