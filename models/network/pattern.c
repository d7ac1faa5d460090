#include "models/network/pattern.h"

void fr_pattern_ring(struct fr_expansion *e, struct fr_peers peers, int64_t rounds,
                     double block_B) {
    for (int64_t round = 0; round < rounds && !e->failed; round++)
        fr_expand_shift(e, peers, 1, block_B);
}

void fr_pattern_bruck_gather(struct fr_expansion *e, struct fr_peers peers, double block_B) {
    int64_t g = peers.members;
    for (int64_t owned = 1; owned < g; owned *= 2) {
        int64_t blocks = owned < g - owned ? owned : g - owned;
        fr_expand_shift(e, peers, g - owned, (double)blocks * block_B);
    }
}

/* The skips are g halved, rounded up, again and again: skip(k) = ceil(g / 2^k). */
static int64_t skip(int64_t g, int32_t k) { return (g - 1 + ((int64_t)1 << k)) >> k; }

void fr_pattern_circulant_scatter(struct fr_expansion *e, struct fr_peers peers,
                                  double block_B) {
    int64_t g = peers.members;
    for (int32_t k = 1; k <= fr_log2_ceil(g); k++)
        fr_expand_shift(e, peers, skip(g, k), (double)(skip(g, k - 1) - skip(g, k)) * block_B);
}

void fr_pattern_circulant_gather(struct fr_expansion *e, struct fr_peers peers,
                                 double block_B) {
    int64_t g = peers.members;
    for (int32_t k = fr_log2_ceil(g); k >= 1; k--)
        fr_expand_shift(e, peers, g - skip(g, k),
                        (double)(skip(g, k - 1) - skip(g, k)) * block_B);
}

void fr_pattern_doubling_gather(struct fr_expansion *e, double block_B) {
    for (int64_t owned = 1; owned < e->n_ranks; owned *= 2)
        fr_expand_exchange(e, owned, (double)owned * block_B);
}

void fr_pattern_halving_scatter(struct fr_expansion *e, double block_B) {
    for (int64_t distance = e->n_ranks / 2; distance >= 1; distance /= 2)
        fr_expand_exchange(e, distance, (double)distance * block_B);
}

/* Blocks of the @p distance ranks from @p first on, of those that there are. */
static double blocks_B(const struct fr_expansion *e, int64_t first, int64_t distance,
                       double block_B) {
    int64_t left = e->n_ranks - first;
    return (double)(left < distance ? left : distance) * block_B;
}

void fr_pattern_binomial_scatter(struct fr_expansion *e, double block_B) {
    int64_t p = e->n_ranks;
    for (int64_t d = (int64_t)1 << fr_log2_ceil(p) >> 1; d >= 1 && !e->failed; d /= 2) {
        for (int64_t src = 0; src + d < p; src += 2 * d)
            fr_expansion_send(e, src, src + d, blocks_B(e, src + d, d, block_B));
        fr_expansion_next_round(e);
    }
}

void fr_pattern_binomial_gather(struct fr_expansion *e, double block_B) {
    for (int64_t d = 1; d < e->n_ranks && !e->failed; d *= 2) {
        for (int64_t dst = 0; dst + d < e->n_ranks; dst += 2 * d)
            fr_expansion_send(e, dst + d, dst, blocks_B(e, dst + d, d, block_B));
        fr_expansion_next_round(e);
    }
}
