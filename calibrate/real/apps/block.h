/** @file
 *  One transformer layer, forward and backward, on one rank: LayerNorm, multi-head attention with
 *  a real softmax, residual, LayerNorm, MLP with relu, residual.
 *
 *  Activations are features x tokens, T = samples * sequence tokens, a sample's tokens beside one
 *  another.  The products are those that models/work/transformer.h prices (a heads of d values):
 *      (3 a d) x T x h,  per head s x s x d and d x s x s,  h x T x a d,  f x T x h,  h x T x f
 *
 *  Attention and MLP are functions of their own, so that a sub-grid can run the heads and the MLP
 *  rows that are its own (program subgraph).
 */
#ifndef FR_CALIBRATE_REAL_APPS_BLOCK_H
#define FR_CALIBRATE_REAL_APPS_BLOCK_H

#include "calibrate/real/apps/app.h"

struct fr_block_sizes {
    int hidden, heads, head_dim, ffn, sequence, samples;
    bool causal;
};
static inline int fr_block_tokens(const struct fr_block_sizes *z) {
    return z->sequence * z->samples;
}

/** Weights of a layer, or their gradients: pointers into a block of parameters, in this order. */
struct fr_block {
    void *norm1_gain, *norm1_bias;
    void *qkv, *qkv_bias; /* (3 a d) x h */
    void *out, *out_bias; /* h x (a d) */
    void *norm2_gain, *norm2_bias;
    void *up, *up_bias;     /* f x h */
    void *down, *down_bias; /* h x f */
};

/** Parameters of a layer. */
int64_t fr_block_parameters(const struct fr_block_sizes *z);
/** Pointers into @p base. */
struct fr_block fr_block_at(const struct fr_kernels *k, const struct fr_block_sizes *z,
                            const void *base);
/** Random weights: deviation 1 / sqrt(inputs), gains 1, biases 0. */
void fr_block_fill(const struct fr_kernels *k, const struct fr_block_sizes *z, uint64_t seed,
                   uint64_t stream, struct fr_block *w);

/** What the backward pass of one micro-batch needs. */
struct fr_block_saved {
    void *x, *a, *mean1, *inverse1;      /* h T, h T, T, T */
    void *qkv, *p, *c;                   /* 3 a d T, a s s samples, a d T */
    void *x1, *m, *mean2, *inverse2, *u; /* h T, h T, T, T, f T */
};
/** Allocate; false when memory is exhausted.  Free with fr_block_free in any case. */
bool fr_block_alloc(const struct fr_kernels *k, const struct fr_block_sizes *z,
                    struct fr_block_saved *saved);
void fr_block_free(struct fr_block_saved *saved);

/** Room for a backward pass. */
struct fr_block_room {
    void *dh, *dh2; /* h T */
    void *wide;     /* the larger of 3 a d and f, T */
    void *dc, *dp;  /* a d T; s s */
    void *bias;     /* the larger of 3 a d and f */
};
bool fr_block_room_alloc(const struct fr_kernels *k, const struct fr_block_sizes *z,
                         struct fr_block_room *room);
void fr_block_room_free(struct fr_block_room *room);

/** y := layer of saved->x (h x T), which the caller has filled. */
void fr_block_forward(struct fr_real *real, const struct fr_block_sizes *z,
                      const struct fr_block *w, struct fr_block_saved *saved, void *y);
/** dy becomes dx; gradients are added to @p g. */
void fr_block_backward(struct fr_real *real, const struct fr_block_sizes *z,
                       const struct fr_block *w, const struct fr_block *g,
                       const struct fr_block_saved *saved, struct fr_block_room *room,
                       void *dy);

/** c (a d x T) := attention of qkv (3 a d x T); p keeps the softmax. */
void fr_attention_forward(struct fr_real *real, const struct fr_block_sizes *z, const void *qkv,
                          void *p, void *c);
/** dqkv := gradient from dc; dp: room for s s values. */
void fr_attention_backward(struct fr_real *real, const struct fr_block_sizes *z,
                           const void *qkv, const void *p, const void *dc, void *dp,
                           void *dqkv);

#endif
