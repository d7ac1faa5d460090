/* Rabenseifner all-reduce: recursive halving reduce-scatter, then recursive doubling
 * all-gather. */
#include "models/network/pattern.h"

static bool applicable(const struct fr_collective_args *a) {
    return fr_is_power_of_two(a->n_ranks);
}

static double time_s(const struct fr_collective_args *a) {
    struct fr_link_cost link = fr_collective_flat_link(a);
    double p = (double)a->n_ranks;
    double start_s = 2 * fr_log2_ceil(a->n_ranks) * link.latency_s;
    double move_s = 2 * (p - 1) / p * a->size_B * link.s_per_B;
    return start_s + move_s;
}

static fr_status expand(const struct fr_collective_args *a, struct fr_message_list *list) {
    struct fr_expansion e = fr_expansion_open(a, list);
    double block_B = a->size_B / (double)a->n_ranks;
    fr_pattern_halving_scatter(&e, block_B);
    fr_pattern_doubling_gather(&e, block_B);
    return fr_expansion_close(&e);
}

const struct fr_collective fr_collective_rabenseifner_all_reduce = {
    .name = "rabenseifner",
    .op = FR_OP_ALL_REDUCE,
    .equation = "2 lg alpha + 2 (p-1)/p n beta, p a power of two",
    .source = "Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005; "
              "MPICH, allreduce_intra_reduce_scatter_allgather.c",
    .applicable = applicable,
    .time_s = time_s,
    .expand = expand,
};
