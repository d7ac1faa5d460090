/* Rabenseifner reduce to rank 0, van de Geijn's broadcast run backwards: reduce-scatter, by
 * recursive halving where p is a power of two and by a ring otherwise, then a binomial gather.
 * (MPICH folds the ranks beyond a power of two onto others first; the ring needs no folding and
 * is the mirror image of the broadcast.) */
#include "models/network/pattern.h"

static bool applicable(const struct fr_collective_args *a) { return a->n_ranks >= 1; }

static double time_s(const struct fr_collective_args *a) {
    struct fr_link_cost link = fr_collective_flat_link(a);
    double p = (double)a->n_ranks, lg = fr_log2_ceil(a->n_ranks);
    double scatter_rounds = fr_is_power_of_two(a->n_ranks) ? lg : p - 1;
    double start_s = (scatter_rounds + lg) * link.latency_s;
    double move_s = 2 * (p - 1) / p * a->size_B * link.s_per_B;
    return start_s + move_s;
}

/* In the round of distance d the odd multiples of d hand the blocks of d ranks to the even one
 * below. */
static void gather(struct fr_expansion *e, double block_B) {
    int64_t p = e->n_ranks;
    for (int64_t d = 1; d < p && !e->failed; d *= 2) {
        for (int64_t dst = 0; dst + d < p; dst += 2 * d) {
            int64_t left = p - (dst + d), blocks = left < d ? left : d;
            fr_expansion_send(e, dst + d, dst, (double)blocks * block_B);
        }
        fr_expansion_next_round(e);
    }
}

static fr_status expand(const struct fr_collective_args *a, struct fr_message_list *list) {
    struct fr_expansion e = fr_expansion_open(a, list);
    struct fr_peers everyone = {a->n_ranks, 1};
    double block_B = a->size_B / (double)a->n_ranks;
    if (fr_is_power_of_two(a->n_ranks))
        fr_pattern_halving_scatter(&e, block_B);
    else
        fr_pattern_ring(&e, everyone, a->n_ranks - 1, block_B);
    gather(&e, block_B);
    return fr_expansion_close(&e);
}

const struct fr_collective fr_collective_reduce_scatter_gather_reduce = {
    .name = "reduce_scatter_gather",
    .op = FR_OP_REDUCE,
    .equation = "(p-1 + lg) alpha + 2 (p-1)/p n beta; 2 lg alpha when p is a power of two",
    .source = "Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005; "
              "MPICH, reduce_intra_reduce_scatter_gather.c",
    .applicable = applicable,
    .time_s = time_s,
    .expand = expand,
};
