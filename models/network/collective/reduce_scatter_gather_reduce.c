/* Rabenseifner reduce to rank 0, van de Geijn's broadcast run backwards: reduce-scatter, by
 * recursive halving where p is a power of two and by a ring otherwise, then a binomial gather.
 * (MPICH folds the ranks beyond a power of two onto others first; the ring needs no folding and
 * is the mirror image of the broadcast.) */
#include "models/network/pattern.h"

static double time_s(const struct fr_collective_args *a) {
    double p = (double)a->n_ranks, lg = fr_log2_ceil(a->n_ranks);
    double scatter_rounds = fr_is_power_of_two(a->n_ranks) ? lg : p - 1;
    return fr_messages_s(fr_collective_flat_link(a), scatter_rounds + lg,
                         2 * (p - 1) / p * a->size_B);
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    struct fr_peers everyone = {a->n_ranks, 1};
    double block_B = a->size_B / (double)a->n_ranks;
    if (fr_is_power_of_two(a->n_ranks))
        fr_pattern_halving_scatter(e, block_B);
    else
        fr_pattern_ring(e, everyone, a->n_ranks - 1, block_B);
    fr_pattern_binomial_gather(e, block_B);
}

const struct fr_collective fr_collective_reduce_scatter_gather_reduce = {
    .name = "reduce_scatter_gather",
    .op = FR_OP_REDUCE,
    .equation = "(p-1 + lg) alpha + 2 (p-1)/p n beta; 2 lg alpha when p is a power of two",
    .source = "Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005; "
              "MPICH, reduce_intra_reduce_scatter_gather.c",
    .applicable = fr_collective_always,
    .time_s = time_s,
    .expand = expand,
};
