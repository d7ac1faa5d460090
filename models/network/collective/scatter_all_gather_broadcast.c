/* Van de Geijn broadcast from rank 0: binomial scatter, then all-gather, by recursive doubling
 * where p is a power of two and by a ring otherwise.  (MPICH takes the ring also for powers of
 * two when n is long, because neighbours fare better on a busy network; an idle one does not
 * tell them apart.)
 *
 * The scatter is exact for any p: the root sends p-1 blocks in lg messages, every subtree is
 * served before the root has finished, and the all-gather waits for the root. */
#include "models/network/pattern.h"

static double time_s(const struct fr_collective_args *a) {
    double p = (double)a->n_ranks, lg = fr_log2_ceil(a->n_ranks);
    double gather_rounds = fr_is_power_of_two(a->n_ranks) ? lg : p - 1;
    return fr_messages_s(fr_collective_flat_link(a), lg + gather_rounds,
                         2 * (p - 1) / p * a->size_B);
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    struct fr_peers everyone = {a->n_ranks, 1};
    double block_B = a->size_B / (double)a->n_ranks;
    fr_pattern_binomial_scatter(e, block_B);
    if (fr_is_power_of_two(a->n_ranks))
        fr_pattern_doubling_gather(e, block_B);
    else
        fr_pattern_ring(e, everyone, a->n_ranks - 1, block_B);
}

const struct fr_collective fr_collective_scatter_all_gather_broadcast = {
    .name = "scatter_all_gather",
    .op = FR_OP_BROADCAST,
    .equation = "(lg + p-1) alpha + 2 (p-1)/p n beta; 2 lg alpha when p is a power of two",
    .source = "Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005; "
              "MPICH, bcast_intra_scatter_ring_allgather.c",
    .applicable = fr_collective_always,
    .time_s = time_s,
    .expand = expand,
};
