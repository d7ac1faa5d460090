/** @file
 *  Cross-attention of a decoder's layer (Vaswani et al. 2017, section 3.1): LayerNorm, heads whose queries are made
 *  of the decoder's stream and whose keys and values are made of e, what the encoder made, residual.
 *
 *  Divided over p ranks as attention in pairs (real/apps/block.h): an all-reduce of h T values
 *  forward; backward one of the gradient of each of its two inputs.  All tokens see all of e, which has as many. */
#ifndef FR_REAL_APPS_ATTENTION_CROSSING_H
#define FR_REAL_APPS_ATTENTION_CROSSING_H

#include "real/apps/attention/context.h"

/** Weights, or their gradients: norm (h each), queries, keys and values (3 a d x h), out (h x a d). */
struct fr_crossing {
    void *gain, *bias, *qkv, *qkv_bias, *out, *out_bias;
};
int64_t fr_crossing_parameters(const struct fr_block_sizes *z);
struct fr_crossing fr_crossing_at(const struct fr_kernels *k, const struct fr_block_sizes *z,
                                  const void *base);
void fr_crossing_fill(const struct fr_kernels *k, const struct fr_block_sizes *z, uint64_t seed,
                      uint64_t stream, const struct fr_crossing *w);

/** x: its input; the others as struct fr_block_saved has them. */
struct fr_crossing_saved {
    void *x, *a, *mean, *inverse, *qkv, *c, *p;
};
struct fr_crossing_deferred {
    void *dqkv, *dx; /**< dx: gradient of its input */
};
struct fr_crossing_room {
    void *dh, *dc, *de, *context; /**< de: the caller's */
};
int64_t fr_crossing_saved_size(const struct fr_block_sizes *z, bool softmax);
int64_t fr_crossing_deferred_size(const struct fr_block_sizes *z);
int64_t fr_crossing_room_size(const struct fr_block_sizes *z);
struct fr_crossing_saved fr_crossing_saved_at(const struct fr_kernels *k,
                                              const struct fr_block_sizes *z, const void *base,
                                              void *softmax);
struct fr_crossing_deferred fr_crossing_deferred_at(const struct fr_kernels *k,
                                                    const struct fr_block_sizes *z,
                                                    const void *base);
struct fr_crossing_room fr_crossing_room_at(const struct fr_kernels *k,
                                            const struct fr_block_sizes *z, const void *base);

/** y := saved->x with what the heads make of it and of e, h x T. */
fr_status fr_crossing_forward(struct fr_real *real, const struct fr_block_sizes *z,
                              const struct fr_crossing *w, const struct fr_crossing_saved *s,
                              const struct fr_crossing_room *r, const void *e, void *y,
                              struct fr_error *err);
/** The heads once more. */
fr_status fr_crossing_attend(struct fr_real *real, const struct fr_block_sizes *z,
                             const struct fr_crossing_saved *s,
                             const struct fr_crossing_room *r, struct fr_error *err);
/** d->dx := from dy; de is added to, and gradients of the norm to @p g. */
fr_status fr_crossing_input(struct fr_real *real, const struct fr_block_sizes *z,
                            const struct fr_crossing *w, const struct fr_crossing *g,
                            const struct fr_crossing_saved *s,
                            const struct fr_crossing_deferred *d,
                            const struct fr_crossing_room *r, const void *dy, void *de,
                            struct fr_error *err);
/** The other gradients are added to @p g. */
void fr_crossing_weight(struct fr_real *real, const struct fr_block_sizes *z,
                        const struct fr_crossing *g, const struct fr_crossing_saved *s,
                        const struct fr_crossing_deferred *d, const void *e, const void *dy);

#endif
