/* Van de Geijn broadcast from rank 0: binomial scatter, then all-gather, by recursive doubling
 * where p is a power of two and by a ring otherwise.  (MPICH takes the ring also for powers of
 * two when n is long, because neighbours fare better on a busy network; an idle one does not
 * tell them apart.)
 *
 * The scatter is exact for any p: the root sends p-1 blocks in lg messages, every subtree is
 * served before the root has finished, and the all-gather waits for the root. */
#include "models/network/pattern.h"

static bool applicable(const struct fr_collective_args *a) { return a->n_ranks >= 1; }

static double time_s(const struct fr_collective_args *a) {
    struct fr_link_cost link = fr_collective_flat_link(a);
    double p = (double)a->n_ranks, lg = fr_log2_ceil(a->n_ranks);
    double gather_rounds = fr_is_power_of_two(a->n_ranks) ? lg : p - 1;
    double start_s = (lg + gather_rounds) * link.latency_s;
    double move_s = 2 * (p - 1) / p * a->size_B * link.s_per_B;
    return start_s + move_s;
}

/* In the round of distance d a multiple of 2 d holds the blocks of the next 2 d ranks, as far
 * as there are any, and hands on the upper half. */
static void scatter(struct fr_expansion *e, double block_B) {
    int64_t p = e->n_ranks;
    for (int64_t d = (int64_t)1 << fr_log2_ceil(p) >> 1; d >= 1 && !e->failed; d /= 2) {
        for (int64_t src = 0; src + d < p; src += 2 * d) {
            int64_t left = p - (src + d), blocks = left < d ? left : d;
            fr_expansion_send(e, src, src + d, (double)blocks * block_B);
        }
        fr_expansion_next_round(e);
    }
}

static fr_status expand(const struct fr_collective_args *a, struct fr_message_list *list) {
    struct fr_expansion e = fr_expansion_open(a, list);
    struct fr_peers everyone = {a->n_ranks, 1};
    double block_B = a->size_B / (double)a->n_ranks;
    scatter(&e, block_B);
    if (fr_is_power_of_two(a->n_ranks))
        fr_pattern_doubling_gather(&e, block_B);
    else
        fr_pattern_ring(&e, everyone, a->n_ranks - 1, block_B);
    return fr_expansion_close(&e);
}

const struct fr_collective fr_collective_scatter_all_gather_broadcast = {
    .name = "scatter_all_gather",
    .op = FR_OP_BROADCAST,
    .equation = "(lg + p-1) alpha + 2 (p-1)/p n beta; 2 lg alpha when p is a power of two",
    .source = "Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005; "
              "MPICH, bcast_intra_scatter_ring_allgather.c",
    .applicable = applicable,
    .time_s = time_s,
    .expand = expand,
};
