/* Bruck all-gather: what a rank holds doubles each round; any p, since the last round sends
 * only what is still missing. */
#include "models/network/pattern.h"

static double time_s(const struct fr_collective_args *a) {
    double p = (double)a->n_ranks;
    return fr_messages_s(fr_collective_flat_link(a), fr_log2_ceil(a->n_ranks),
                         (p - 1) / p * a->size_B);
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    double block_B = a->size_B / (double)a->n_ranks;
    struct fr_peers everyone = {a->n_ranks, 1};
    fr_pattern_bruck_gather(e, everyone, block_B);
}

const struct fr_collective fr_collective_bruck_all_gather = {
    .name = "bruck",
    .op = FR_OP_ALL_GATHER,
    .equation = "lg alpha + (p-1)/p n beta",
    .source = "Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE Trans. Parallel Distrib. Syst. "
              "8(11), 1997",
    .applicable = fr_collective_always,
    .time_s = time_s,
    .expand = expand,
};
