/* Recursive doubling all-reduce: pairs at distance 1, 2, 4, ... exchange all n bytes; fewest
 * messages, for small n. */
#include "models/network/expansion.h"

static bool applicable(const struct fr_collective_args *a) {
    return fr_is_power_of_two(a->n_ranks);
}

static double time_s(const struct fr_collective_args *a) {
    struct fr_link_cost link = fr_collective_flat_link(a);
    double start_s = fr_log2_ceil(a->n_ranks) * link.latency_s;
    double move_s = fr_log2_ceil(a->n_ranks) * a->size_B * link.s_per_B;
    return start_s + move_s;
}

static fr_status expand(const struct fr_collective_args *a, struct fr_message_list *list) {
    struct fr_expansion e = fr_expansion_open(a, list);
    for (int64_t distance = 1; distance < a->n_ranks; distance *= 2)
        fr_expand_exchange(&e, distance, a->size_B);
    return fr_expansion_close(&e);
}

const struct fr_collective fr_collective_recursive_doubling_all_reduce = {
    .name = "recursive_doubling",
    .op = FR_OP_ALL_REDUCE,
    .equation = "lg (alpha + n beta), p a power of two",
    .source = "Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005; "
              "MPICH, allreduce_intra_recursive_doubling.c",
    .applicable = applicable,
    .time_s = time_s,
    .expand = expand,
};
