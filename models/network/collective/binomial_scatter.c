/* Binomial scatter from rank 0: who has blocks hands on those of the upper half of its ranks,
 * distance halving.  The root sends p - 1 blocks in lg messages, and no other rank ends later. */
#include "models/network/pattern.h"

static double time_s(const struct fr_collective_args *a) {
    double p = (double)a->n_ranks;
    return fr_messages_s(fr_collective_flat_link(a), fr_log2_ceil(a->n_ranks),
                         (p - 1) / p * a->size_B);
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    fr_pattern_binomial_scatter(e, a->size_B / (double)a->n_ranks);
}

const struct fr_collective fr_collective_binomial_scatter = {
    .name = "binomial",
    .op = FR_OP_SCATTER,
    .equation = "lg alpha + (p-1)/p n beta",
    .source = "Chan, Heimlich, Purkayastha & van de Geijn, Concurrency Computat. 19, 2007, "
              "section 5 (minimum spanning tree scatter)",
    .applicable = fr_collective_always,
    .time_s = time_s,
    .expand = expand,
};
