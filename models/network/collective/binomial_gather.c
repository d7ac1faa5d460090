/* Binomial gather to rank 0: the binomial scatter run backwards; the root receives p - 1 blocks in
 * lg messages, one after the other. */
#include "models/network/pattern.h"

static double time_s(const struct fr_collective_args *a) {
    double p = (double)a->n_ranks;
    return fr_messages_s(fr_collective_flat_link(a), fr_log2_ceil(a->n_ranks),
                         (p - 1) / p * a->size_B);
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    fr_pattern_binomial_gather(e, a->size_B / (double)a->n_ranks);
}

const struct fr_collective fr_collective_binomial_gather = {
    .name = "binomial",
    .op = FR_OP_GATHER,
    .equation = "lg alpha + (p-1)/p n beta",
    .source = "Chan, Heimlich, Purkayastha & van de Geijn, Concurrency Computat. 19, 2007, "
              "section 5 (minimum spanning tree gather)",
    .applicable = fr_collective_always,
    .time_s = time_s,
    .expand = expand,
};
