#include "calibrate/fit/links.h"

#include <math.h>

static const double BELOW = 2.0 / 3;

/* The fastest level within a node: all but the outermost. */
static double within_B_per_s(const struct fr_levels *levels) {
    double most_B_per_s = 0;
    for (int i = 0; i + 1 < levels->count; i++)
        most_B_per_s = fmax(most_B_per_s, levels->level[i].rate_B_per_s);
    return most_B_per_s;
}

/* A node's adapters together, or one of them for a message of one rank. */
static double between_B_per_s(const struct fr_levels *levels, bool one) {
    const struct fr_level *out = &levels->level[levels->count - 1];
    double ranks = levels->count > 1 ? (double)levels->level[levels->count - 2].ranks : 1;
    return out->rate_B_per_s * (one ? 1 : fmax(1, ranks / (double)out->shared_by));
}

double fr_links_bound_s(const struct fr_sample_collective *s, const struct fr_levels *levels) {
    bool node = s->level == FR_SAMPLE_NODE, one = s->op == FR_OP_SEND_RECV,
         shares = fr_op_bus_shares[s->op] == 1; /* all but one's part pass a link */
    double parts = node ? (double)s->n_ranks : (double)s->n_nodes;
    if (s->pattern != FR_PATTERN_OP || s->n_groups != 1 || levels->count < (node ? 2 : 1) ||
        !(parts > 1))
        return 0;
    double size_B = s->size_B * (shares ? (parts - 1) / parts : 1);
    if (!node && s->op == FR_OP_ALL_TO_ALL) size_B *= (double)s->n_ranks / parts;
    double rate_B_per_s = node ? within_B_per_s(levels) : between_B_per_s(levels, one);
    return rate_B_per_s > 0 ? size_B / rate_B_per_s : 0;
}

size_t fr_links_drop(struct fr_samples *samples, const struct fr_levels *levels) {
    size_t kept = 0, all = samples->n_collective;
    for (size_t i = 0; i < all; i++) {
        const struct fr_sample_collective *s = &samples->collective[i];
        if (s->time_s < BELOW * fr_links_bound_s(s, levels)) continue;
        samples->collective[kept++] = *s;
    }
    samples->n_collective = kept;
    return all - kept;
}
