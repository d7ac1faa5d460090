/* Rabenseifner all-reduce: recursive halving reduce-scatter, then recursive doubling
 * all-gather. */
#include "models/network/pattern.h"

static double time_s(const struct fr_collective_args *a) {
    double p = (double)a->n_ranks;
    return fr_messages_s(fr_collective_flat_link(a), 2 * fr_log2_ceil(a->n_ranks),
                         2 * (p - 1) / p * a->size_B);
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    double block_B = a->size_B / (double)a->n_ranks;
    fr_pattern_halving_scatter(e, block_B);
    fr_pattern_doubling_gather(e, block_B);
}

const struct fr_collective fr_collective_rabenseifner_all_reduce = {
    .name = "rabenseifner",
    .op = FR_OP_ALL_REDUCE,
    .equation = "2 lg alpha + 2 (p-1)/p n beta, p a power of two",
    .source = "Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005; "
              "MPICH, allreduce_intra_reduce_scatter_allgather.c",
    .applicable = fr_collective_by_powers,
    .time_s = time_s,
    .expand = expand,
};
