/** @file
 *  Who talks to whom, shared by several algorithms of models/network/collective/.
 *
 *  Each appends rounds that bring every rank the blocks of its peers (gather), or, run the
 *  other way round, the sum over its peers of its own block (scatter).  With g peers and
 *  blocks of m bytes:
 *      ring                    (g-1) (alpha + m beta)
 *      bruck, circulant        ceil(log2 g) alpha + (g-1) m beta, any g
 *      doubling, halving       the same, everyone (g = p), a power of two
 */
#ifndef FR_MODELS_NETWORK_PATTERN_H
#define FR_MODELS_NETWORK_PATTERN_H

#include "models/network/expansion.h"

/** @p rounds rounds of one block to the next peer. */
void fr_pattern_ring(struct fr_expansion *e, struct fr_peers peers, int64_t rounds,
                     double block_B);
/** Distances 1, 2, 4, ...; the last round sends what is still missing. */
void fr_pattern_bruck_gather(struct fr_expansion *e, struct fr_peers peers, double block_B);
/** Skips g, ceil(g/2), ceil(g/4), ..., 1: the blocks between two skips go that far. */
void fr_pattern_circulant_scatter(struct fr_expansion *e, struct fr_peers peers,
                                  double block_B);
/** The same skips back from 1. */
void fr_pattern_circulant_gather(struct fr_expansion *e, struct fr_peers peers, double block_B);
/** Exchanges over 1, 2, 4, ... ranks of 1, 2, 4, ... blocks. */
void fr_pattern_doubling_gather(struct fr_expansion *e, double block_B);
/** The same from p/2 down to 1. */
void fr_pattern_halving_scatter(struct fr_expansion *e, double block_B);
/** From rank 0 down a tree, any p; distances d halve.  A multiple of 2 d holds the blocks of the next 2 d ranks, as far as
 *  there are any, and hands on the upper half. */
void fr_pattern_binomial_scatter(struct fr_expansion *e, double block_B);
/** Backwards, distances doubling: an odd multiple of d hands the blocks of d ranks to the even one below. */
void fr_pattern_binomial_gather(struct fr_expansion *e, double block_B);

#endif
