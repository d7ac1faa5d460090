/* Recursive halving reduce-scatter: pairs at distance p/2, p/4, ... exchange the half that the
 * other one keeps. */
#include "models/network/pattern.h"

static double time_s(const struct fr_collective_args *a) {
    double p = (double)a->n_ranks;
    return fr_messages_s(fr_collective_flat_link(a), fr_log2_ceil(a->n_ranks),
                         (p - 1) / p * a->size_B);
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    double block_B = a->size_B / (double)a->n_ranks;
    fr_pattern_halving_scatter(e, block_B);
}

const struct fr_collective fr_collective_recursive_halving_reduce_scatter = {
    .name = "recursive_halving",
    .op = FR_OP_REDUCE_SCATTER,
    .equation = "lg alpha + (p-1)/p n beta, p a power of two",
    .source = "Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005; "
              "MPICH, reduce_scatter_intra_recursive_halving.c",
    .applicable = fr_collective_by_powers,
    .time_s = time_s,
    .expand = expand,
};
