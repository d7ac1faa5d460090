/** @file
 *  Attention of a rank's heads, whose samples other ranks may share (context parallel): of each sample's
 *  tokens cp ranks have 1/cp.
 *
 *      alone        cp is 1
 *      ring         keys and values go round (real/apps/attention/ring.h)
 *      all-to-all   between the products around the heads a rank's tokens are exchanged for all tokens of 1/cp of
 *                   its heads, and back, as are their gradients (Jacobs et al., DeepSpeed Ulysses, 2023)
 *
 *  What a forward pass saves: qkv (3 q T), of all-to-all that of the tokens that came; the softmax,
 *  fr_block_softmax_size values; and c (q T), what the heads made. */
#ifndef FR_REAL_APPS_ATTENTION_CONTEXT_H
#define FR_REAL_APPS_ATTENTION_CONTEXT_H

#include "real/apps/attention/ring.h"

/** Room for a pass, q values of the heads, T tokens of the rank. */
struct fr_context_room {
    void *dp;                           /* scores of a head */
    void *qkv, *heads, *sent, *arrived; /* of all-to-all: 3 q T, q T, 3 q T of each */
    struct fr_ring_room ring;
};
int64_t fr_context_room_size(const struct fr_block_sizes *z);
struct fr_context_room fr_context_room_at(const struct fr_kernels *k,
                                          const struct fr_block_sizes *z, const void *base);

/** Where queries, keys and values are to be made, given where they are saved. */
void *fr_context_made(const struct fr_block_sizes *z, const struct fr_context_room *r,
                      void *saved);
/** c := attention of those, which are saved. */
fr_status fr_context_forward(struct fr_real *real, const struct fr_block_sizes *z,
                             const struct fr_context_room *r, void *qkv, void *p, void *c,
                             struct fr_error *err);
/** The softmax of those saved once more; c, which is there, may be made again. */
fr_status fr_context_again(struct fr_real *real, const struct fr_block_sizes *z,
                           const struct fr_context_room *r, const void *qkv, void *p, void *c,
                           struct fr_error *err);
/** dqkv := gradient from dc. */
fr_status fr_context_backward(struct fr_real *real, const struct fr_block_sizes *z,
                              const struct fr_context_room *r, const void *qkv, const void *p,
                              const void *c, const void *dc, void *dqkv, struct fr_error *err);

#endif
