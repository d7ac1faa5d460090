/* Recursive doubling all-reduce: pairs at distance 1, 2, 4, ... exchange all n bytes; fewest
 * messages, for small n. */
#include "models/network/expansion.h"

static double time_s(const struct fr_collective_args *a) {
    return fr_messages_s(fr_collective_flat_link(a), fr_log2_ceil(a->n_ranks),
                         fr_log2_ceil(a->n_ranks) * a->size_B);
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    for (int64_t distance = 1; distance < a->n_ranks; distance *= 2)
        fr_expand_exchange(e, distance, a->size_B);
}

const struct fr_collective fr_collective_recursive_doubling_all_reduce = {
    .name = "recursive_doubling",
    .op = FR_OP_ALL_REDUCE,
    .equation = "lg (alpha + n beta), p a power of two",
    .source = "Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005; "
              "MPICH, allreduce_intra_recursive_doubling.c",
    .applicable = fr_collective_by_powers,
    .time_s = time_s,
    .expand = expand,
};
