/** @file
 *  Attention of a rank's heads, whose samples other ranks may share (context parallel): of each sample's
 *  tokens cp ranks have 1/cp.
 *
 *      alone        cp is 1
 *      ring         keys and values go round (real/apps/attention/context.h)
 *      all-to-all   between the products around the heads a rank's tokens are exchanged for all tokens of 1/cp of
 *                   its heads, and back, as are their gradients (Jacobs et al., DeepSpeed Ulysses, 2023)
 *
 *  A forward pass saves: qkv (3 q T), for all-to-all that of the tokens that came; the
 *  softmax, fr_block_softmax_size values; and c (q T), what the heads made. */
#ifndef FR_REAL_APPS_ATTENTION_CONTEXT_H
#define FR_REAL_APPS_ATTENTION_CONTEXT_H

#include "real/apps/block.h"

/* ---- attention of queries to keys and values that come round a ring (Liu, Zaharia, Abbeel, "Ring attention
 *  with blockwise transformers", 2023): of each sample's s tokens cp ranks have s/cp each, in order.
 *
 *      forward    cp - 1 times the keys and values of the rank before are passed on, while those that are here
 *                 are attended to; each row's largest score and sum of exponentials run along, and what
 *                 was made under a smaller one shrinks
 *      backward   the same once more; the gradients of a rank's keys and values start at the rank behind it
 *                 and come home after cp - 1 steps, which are summed up on the way
 *
 * For a row dp the softmax needs sum p dp over all keys, which is dc c of its token: it needs
 * no ring.  Scores that the mask hides are made and dropped, as where a rank has all keys:
 * ranks stay alike, and do what models/work/transformer.h counts. */

/** Capacity for a pass; q values of the rank's heads, T tokens of the rank. */
struct fr_ring_scratch {
    void *here[2];       /* keys and values of others: 2 q T of each */
    void *d[2], *coming; /* gradients of theirs, here and those that come in: 2 q T of each */
    void *top, *sum;     /* of each head's rows, after each step: cp heads T; heads T */
    void *factor;        /* of one head's: s/cp */
};
int64_t fr_ring_scratch_size(const struct fr_block_sizes *z);
struct fr_ring_scratch fr_ring_scratch_at(const struct fr_kernels *k,
                                          const struct fr_block_sizes *z, const void *base);

/** c (q x T) := attention of qkv (3 q x T); p saves the softmax, s/cp x s/cp of each head and rank. */
fr_status fr_ring_forward(struct fr_real *real, const struct fr_block_sizes *z,
                          const struct fr_ring_scratch *r, const void *qkv, void *p, void *c);
/** dqkv := gradient from dc. @param dp  buffer for (s/cp)^2 values */
fr_status fr_ring_backward(struct fr_real *real, const struct fr_block_sizes *z,
                           const struct fr_ring_scratch *r, const void *qkv, const void *p,
                           const void *c, const void *dc, void *dp, void *dqkv);

/* ---- attention in tiles (flash.c) ------------------------------------------------------------------ */

int64_t fr_flash_scratch_size(const struct fr_block_sizes *z);
/** c := attention of qkv; p keeps each row's largest score and sum. */
void fr_flash_forward(struct fr_real *real, const struct fr_block_sizes *z, void *scratch,
                      const void *qkv, void *p, void *c);
/** dqkv := gradient from dc. */
void fr_flash_backward(struct fr_real *real, const struct fr_block_sizes *z, void *scratch,
                       const void *qkv, const void *p, const void *c, const void *dc,
                       void *dqkv);

/* ---- all of them --------------------------------------------------------------------------------- */

/** Capacity for a pass, q values of the heads, T tokens of the rank. */
struct fr_context_scratch {
    void *dp;                           /* scores of a head */
    void *qkv, *heads, *sent, *arrived; /* of all-to-all: 3 q T, q T, 3 q T of each */
    struct fr_ring_scratch ring;
};
int64_t fr_context_scratch_size(const struct fr_block_sizes *z);
struct fr_context_scratch fr_context_scratch_at(const struct fr_kernels *k,
                                                const struct fr_block_sizes *z,
                                                const void *base);

/** Where queries, keys and values are to be made, given where they are saved. */
void *fr_context_made(const struct fr_block_sizes *z, const struct fr_context_scratch *r,
                      void *saved);
/** c := attention of those, which are saved. */
fr_status fr_context_forward(struct fr_real *real, const struct fr_block_sizes *z,
                             const struct fr_context_scratch *r, void *qkv, void *p, void *c);
/** The softmax of those saved once more; c, which is there, may be made again. */
fr_status fr_context_again(struct fr_real *real, const struct fr_block_sizes *z,
                           const struct fr_context_scratch *r, const void *qkv, void *p,
                           void *c);
/** dqkv := gradient from dc. */
fr_status fr_context_backward(struct fr_real *real, const struct fr_block_sizes *z,
                              const struct fr_context_scratch *r, const void *qkv,
                              const void *p, const void *c, const void *dc, void *dqkv);

#endif
