/** @file
 *  One transformer layer, forward and backward: LayerNorm, multi-head attention with a real softmax,
 *  residual, LayerNorm, MLP with relu, residual.
 *
 *  Activations are features x tokens, T = samples * sequence tokens, a sample's tokens beside one
 *  another.  Of p = tp ranks each has a share of the heads (a of d values) and of the MLP's width (f).
 *  The second of two products is divided
 *
 *      by its columns   each rank makes partial sums of all h values, which an all-reduce adds up (Shoeybi
 *                       et al., Megatron-LM, 2019, section 3); backward one of its input's gradient after
 *                       the first product
 *      by its rows      what is between is gathered, and h/p rows of it each of what comes out; backward an
 *                       all-reduce of each product's input's gradient (Gholami et al. 2017, Eq. 4)
 *
 *  The products are those that models/work/transformer_stage.c prices:
 *      (3 a d) x T x h,  per head s x s x d and d x s x s,  f x T x h,  and of the second ones
 *      h x T x a d, h x T x f  or, by rows,  h/p x T x p a d, h/p x T x p f
 *
 *  The backward pass is in two parts, since a schedule may put the second off: gradients of inputs,
 *  with those of norms, and gradients of weights.
 *
 *  With `parts` above 1 (sequence parallel: Korthikanti et al. 2022) each rank has its 1/p of the tokens, t of
 *  T, wherever nothing multiplies: norms and residuals.  Then what the first products read is gathered over
 *  tokens, the partial sums of the second ones are reduced and scattered in place of all-reduced; backward
 *  the same of gradients, and the products' inputs once more, for the weights' gradients.  Of those of norms
 *  each rank has a part.
 *
 *  With `cp` above 1 (context parallel, attention/context.h) so many ranks have 1/cp of each sample's tokens.
 *
 *  Attention is a function of its own, for sub-grids of heads (program subgraph).
 */
#ifndef FR_REAL_APPS_BLOCK_H
#define FR_REAL_APPS_BLOCK_H

#include "real/apps/app.h"

struct fr_block_sizes {
    int hidden, heads, head_dim, ffn, sequence, samples; /**< heads, ffn: of this rank */
    bool causal;
    bool rows;       /**< second products are divided by their rows */
    int rank, ranks; /**< of those that divide the layer */
    int parts;       /**< that tokens are in where nothing multiplies; 0 or 1: whole */
    int cp;          /**< ranks that share a sample's tokens; 0 or 1: none */
    bool ring;       /**< whose keys and values go round; else they exchange tokens for heads */
};
/** Of a sample, those of a rank; and of all samples. */
static inline int fr_block_sequence(const struct fr_block_sizes *z) {
    return z->cp > 1 ? z->sequence / z->cp : z->sequence;
}
static inline int fr_block_tokens(const struct fr_block_sizes *z) {
    return fr_block_sequence(z) * z->samples;
}
static inline bool fr_block_parted(const struct fr_block_sizes *z) { return z->parts > 1; }
/** Of them a rank's own. */
static inline int fr_block_own_tokens(const struct fr_block_sizes *z) {
    return fr_block_tokens(z) / (fr_block_parted(z) ? z->parts : 1);
}

/** Rows of a rank's second products, and their columns for @p between values of a rank. */
static inline int fr_block_out(const struct fr_block_sizes *z) {
    return z->rows ? z->hidden / z->ranks : z->hidden;
}
static inline int fr_block_in(const struct fr_block_sizes *z, int between) {
    return z->rows ? between * z->ranks : between;
}

/** Weights of a layer, or their gradients: pointers into a block of parameters, in this order. */
struct fr_block {
    void *norm1_gain, *norm1_bias;
    void *norm2_gain, *norm2_bias;
    void *qkv, *qkv_bias;   /* (3 a d) x h */
    void *out, *out_bias;   /* h x (a d), or h/p x (p a d) */
    void *up, *up_bias;     /* f x h */
    void *down, *down_bias; /* h x f, or h/p x (p f) */
};

/** Parameters of a layer on a rank. */
int64_t fr_block_parameters(const struct fr_block_sizes *z);
/** Pointers into @p base. */
struct fr_block fr_block_at(const struct fr_kernels *k, const struct fr_block_sizes *z,
                            const void *base);
/** Random weights of the rank: deviation 1 / sqrt(inputs), gains 1, biases 0. */
void fr_block_fill(const struct fr_kernels *k, const struct fr_block_sizes *z, uint64_t seed,
                   uint64_t stream, struct fr_block *w);

/** What the backward pass of one micro-batch needs beside its input; c and u by rows of all ranks. */
struct fr_block_saved {
    void *a, *mean1, *inverse1;          /* h t, t, t */
    void *qkv, *p, *c;                   /* 3 a d T, a s s samples, a d T */
    void *x1, *m, *mean2, *inverse2, *u; /* h t, h t, t, t, f T */
};
/** What gradients of weights need besides, and the gradient of the layer's output; du, and dc below, by
 *  rows of all ranks. */
struct fr_block_deferred {
    void *du, *dx1, *dqkv;                          /* f T, h t, 3 a d T */
    void *whole_dy, *whole_dx1, *whole_a, *whole_m; /* h T of each, of all ranks' parts */
};
/** Room for a pass; `whole` and `packed` where tokens are in parts. */
struct fr_block_room {
    void *dh, *dc, *bias; /* h T, a d T, f */
    void *whole, *packed; /* h T of each */
    void *context;        /* the heads' (attention/context.h) */
};
/** A part of a buffer: so many values, the next beginning on a cache line. */
struct fr_block_part {
    void **at;
    int64_t n;
};
/** @return values of all parts, which are put from @p base on unless that is NULL. */
int64_t fr_block_lay_out(const struct fr_kernels *k, const struct fr_block_part *part, int n,
                         const void *base);

/** Values of each, of what is saved with the softmax or without; and pointers into @p base, where a
 *  softmax that is not with it is at @p softmax. */
int64_t fr_block_saved_size(const struct fr_block_sizes *z, bool softmax);
int64_t fr_block_softmax_size(const struct fr_block_sizes *z);
int64_t fr_block_deferred_size(const struct fr_block_sizes *z);
int64_t fr_block_room_size(const struct fr_block_sizes *z);
struct fr_block_saved fr_block_saved_at(const struct fr_kernels *k,
                                        const struct fr_block_sizes *z, const void *base,
                                        void *softmax);
struct fr_block_deferred fr_block_deferred_at(const struct fr_kernels *k,
                                              const struct fr_block_sizes *z, const void *base);
struct fr_block_room fr_block_room_at(const struct fr_kernels *k,
                                      const struct fr_block_sizes *z, const void *base);

/** whole (h x T) := own parts (h x t) of all ranks; packed: room for h T values. */
fr_status fr_block_gather_tokens(struct fr_real *real, const struct fr_block_sizes *z,
                                 const void *own, void *packed, void *whole,
                                 struct fr_error *err);
/** The same in two parts, with something between them that leaves packed alone. */
fr_status fr_block_gather_begin(struct fr_real *real, const struct fr_block_sizes *z,
                                const void *own, void *packed, MPI_Request *request,
                                struct fr_error *err);
fr_status fr_block_gather_end(struct fr_real *real, const struct fr_block_sizes *z,
                              const void *packed, void *whole, MPI_Request *request,
                              struct fr_error *err);
/** own (h x t) := this rank's part of the sum of all ranks' whole (h x T); packed likewise. */
fr_status fr_block_scatter_tokens(struct fr_real *real, const struct fr_block_sizes *z,
                                  const void *whole, void *packed, void *own,
                                  struct fr_error *err);

/** y := layer of x, both h x t on every rank of real->tp. */
fr_status fr_block_forward(struct fr_real *real, const struct fr_block_sizes *z,
                           const struct fr_block *w, const struct fr_block_saved *saved,
                           const struct fr_block_room *room, const void *x, void *y,
                           struct fr_error *err);
/** dx := from dy, h x t, which stays; gradients of norms, and of the MLP's first bias, are added to @p g. */
fr_status fr_block_input(struct fr_real *real, const struct fr_block_sizes *z,
                         const struct fr_block *w, const struct fr_block *g,
                         const struct fr_block_saved *saved,
                         const struct fr_block_deferred *deferred,
                         const struct fr_block_room *room, const void *x, const void *dy,
                         void *dx, struct fr_error *err);
/** The other gradients are added to @p g. @param dx1  that of what the heads made, deferred->dx1 unless something
 *  stands between them and the MLP */
void fr_block_weight(struct fr_real *real, const struct fr_block_sizes *z,
                     const struct fr_block *g, const struct fr_block_saved *saved,
                     const struct fr_block_deferred *deferred, const void *dx1, const void *dy);

/* Halves of both passes, with what is between them: x1 from x, y from saved->x1; deferred->dx1 from dy, dx from
 * dx1. */
fr_status fr_block_heads_forward(struct fr_real *real, const struct fr_block_sizes *z,
                                 const struct fr_block *w, const struct fr_block_saved *saved,
                                 const struct fr_block_room *room, const void *x, void *x1,
                                 struct fr_error *err);
fr_status fr_block_mlp_forward(struct fr_real *real, const struct fr_block_sizes *z,
                               const struct fr_block *w, const struct fr_block_saved *saved,
                               const struct fr_block_room *room, void *y, struct fr_error *err);
fr_status fr_block_mlp_input(struct fr_real *real, const struct fr_block_sizes *z,
                             const struct fr_block *w, const struct fr_block *g,
                             const struct fr_block_saved *saved,
                             const struct fr_block_deferred *deferred,
                             const struct fr_block_room *room, const void *dy,
                             struct fr_error *err);
fr_status fr_block_heads_input(struct fr_real *real, const struct fr_block_sizes *z,
                               const struct fr_block *w, const struct fr_block *g,
                               const struct fr_block_saved *saved,
                               const struct fr_block_deferred *deferred,
                               const struct fr_block_room *room, const void *x, const void *dx1,
                               void *dx, struct fr_error *err);

/** The heads once more, to where the forward pass put what they make. */
fr_status fr_block_attend(struct fr_real *real, const struct fr_block_sizes *z,
                          const struct fr_block_saved *saved, const struct fr_block_room *room,
                          struct fr_error *err);
/** c (a d x T) := attention of qkv (3 a d x T); p keeps the softmax. */
void fr_attention_forward(struct fr_real *real, const struct fr_block_sizes *z, const void *qkv,
                          void *p, void *c);
/** dqkv := gradient from dc; dp: room for s s values. */
void fr_attention_backward(struct fr_real *real, const struct fr_block_sizes *z,
                           const void *qkv, const void *p, const void *dc, void *dp,
                           void *dqkv);

/** y (m x T) := w (m x n) x (n x T). */
void fr_block_multiply(struct fr_real *real, int m, int t, int n, const void *w, const void *x,
                       void *y);
/** dx (n x T) := w^T dy. */
void fr_block_multiply_back(struct fr_real *real, int m, int t, int n, const void *w,
                            const void *dy, void *dx);
/** dw (m x n) += dy x^T. */
void fr_block_add_outer(struct fr_real *real, int m, int t, int n, const void *dy,
                        const void *x, void *dw);

#endif
