/** @file
 *  Attention of queries to keys and values that come round a ring (Liu, Zaharia, Abbeel, "Ring attention
 *  with blockwise transformers", 2023): of each sample's s tokens cp ranks have s/cp each, in order.
 *
 *      forward    cp - 1 times the keys and values of the rank before are passed on, while those that are here
 *                 are attended to; each row's largest score and sum of exponentials run along, and what
 *                 was made under a smaller one shrinks
 *      backward   the same once more; the gradients of a rank's keys and values start at the rank behind it
 *                 and come home after cp - 1 steps, which are summed up on the way
 *
 *  Of a row dp the softmax wants sum p dp over all keys, which is dc c of its token: it needs no ring.
 *  Scores that the mask hides are made and dropped, as where a rank has all keys: ranks stay alike, and
 *  do what models/work/transformer.h counts. */
#ifndef FR_REAL_APPS_ATTENTION_RING_H
#define FR_REAL_APPS_ATTENTION_RING_H

#include "real/apps/block.h"

/** Room for a pass; q values of the rank's heads, T tokens of the rank. */
struct fr_ring_room {
    void *here[2];       /* keys and values of others: 2 q T of each */
    void *d[2], *coming; /* gradients of theirs, here and those that come in: 2 q T of each */
    void *top, *sum;     /* of each head's rows, after each step: cp heads T; heads T */
    void *factor;        /* of one head's: s/cp */
};
int64_t fr_ring_room_size(const struct fr_block_sizes *z);
struct fr_ring_room fr_ring_room_at(const struct fr_kernels *k, const struct fr_block_sizes *z,
                                    const void *base);

/** c (q x T) := attention of qkv (3 q x T); p keeps the softmax, s/cp x s/cp of each head and rank. */
fr_status fr_ring_forward(struct fr_real *real, const struct fr_block_sizes *z,
                          const struct fr_ring_room *r, const void *qkv, void *p, void *c,
                          struct fr_error *err);
/** dqkv := gradient from dc. @param dp  room for (s/cp)^2 values */
fr_status fr_ring_backward(struct fr_real *real, const struct fr_block_sizes *z,
                           const struct fr_ring_room *r, const void *qkv, const void *p,
                           const void *c, const void *dc, void *dp, void *dqkv,
                           struct fr_error *err);

#endif
