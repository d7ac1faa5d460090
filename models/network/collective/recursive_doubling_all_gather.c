/* Recursive doubling all-gather: pairs at distance 1, 2, 4, ... exchange all they hold. */
#include "models/network/pattern.h"

static bool applicable(const struct fr_collective_args *a) {
    return fr_is_power_of_two(a->n_ranks);
}

static double time_s(const struct fr_collective_args *a) {
    struct fr_link_cost link = fr_collective_flat_link(a);
    double p = (double)a->n_ranks;
    double start_s = fr_log2_ceil(a->n_ranks) * link.latency_s;
    double move_s = (p - 1) / p * a->size_B * link.s_per_B;
    return start_s + move_s;
}

static fr_status expand(const struct fr_collective_args *a, struct fr_message_list *list) {
    struct fr_expansion e = fr_expansion_open(a, list);
    double block_B = a->size_B / (double)a->n_ranks;
    fr_pattern_doubling_gather(&e, block_B);
    return fr_expansion_close(&e);
}

const struct fr_collective fr_collective_recursive_doubling_all_gather = {
    .name = "recursive_doubling",
    .op = FR_OP_ALL_GATHER,
    .equation = "lg alpha + (p-1)/p n beta, p a power of two",
    .source = "Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005; "
              "MPICH, allgather_intra_recursive_doubling.c",
    .applicable = applicable,
    .time_s = time_s,
    .expand = expand,
};
