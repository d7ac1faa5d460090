/** @file
 *  Sizes of a transformer's layer on a rank, its attention, and what its products and buffers are made with.
 *
 *  Activations are features x tokens, T = samples * sequence tokens, a sample's tokens beside
 *  one another.  Each of p = tp ranks has a share of the heads (a of d values) and of the
 *  MLP's width (f).  Per head the products are s x s x d and d x s x s.
 *
 *  With `parted` (sequence parallel) each rank has its 1/p of the tokens, t of T, wherever nothing multiplies.
 *  With `cp` above 1 (context parallel, attention/context.h) so many ranks have 1/cp of each sample's tokens.
 */
#ifndef FR_REAL_APPS_BLOCK_H
#define FR_REAL_APPS_BLOCK_H

#include "real/apps/app.h"

struct fr_block_sizes {
    int hidden, heads, head_dim, ffn, sequence, samples; /**< heads, ffn: of this rank */
    bool causal, flash; /**< flash: scores are made in tiles, and not kept */
    bool rows;          /**< second products are divided by their rows */
    int rank, ranks;    /**< of those that divide the layer */
    bool parted;        /**< tokens are in parts where nothing multiplies */
    int cp;             /**< ranks that share a sample's tokens; 0 or 1: none */
    bool ring; /**< whose keys and values go round; else they exchange tokens for heads */
};
/** Tokens of a sample on a rank, and of all samples. */
static inline int fr_block_sequence(const struct fr_block_sizes *z) {
    return z->cp > 1 ? z->sequence / z->cp : z->sequence;
}
static inline int fr_block_tokens(const struct fr_block_sizes *z) {
    return fr_block_sequence(z) * z->samples;
}

/** Values of T = all tokens, of which each of a group's p ranks has t = T / p in a row (sequence parallel). */
struct fr_token_parts {
    MPI_Comm group;
    int values, all, p, rank;
};
static inline int fr_parts_own(const struct fr_token_parts *z) { return z->all / z->p; }

/** A part of a buffer: so many values, the next beginning on a cache line. */
struct fr_block_part {
    void **at;
    int64_t n;
};
/** @return values of all parts, which are put from @p base on unless that is NULL. */
int64_t fr_block_lay_out(const struct fr_kernels *k, const struct fr_block_part *part, int n,
                         const void *base);

/** Values of a softmax, or in tiles of what is kept of it: largest scores and sums; behind them what the heads made, where
 *  ranks exchange it for tokens. */
int64_t fr_block_softmax_size(const struct fr_block_sizes *z);

/** whole (h x T) := own parts (h x t) of all ranks; packed: buffer for h T values. */
fr_status fr_parts_gather(struct fr_real *real, const struct fr_token_parts *z, const void *own,
                          void *packed, void *whole);
/** The same in two parts, with something between them that leaves packed alone. */
fr_status fr_parts_gather_begin(struct fr_real *real, const struct fr_token_parts *z,
                                const void *own, void *packed, MPI_Request *request);
fr_status fr_parts_gather_end(struct fr_real *real, const struct fr_token_parts *z,
                              const void *packed, void *whole, MPI_Request *request);
/** own (h x t) := this rank's part of the sum of all ranks' whole (h x T); packed likewise. */
fr_status fr_parts_scatter(struct fr_real *real, const struct fr_token_parts *z,
                           const void *whole, void *packed, void *own);
/** own (h x t) := from each rank's rows (h/p x T) of all tokens; and back.  packed likewise. */
fr_status fr_parts_from_rows(struct fr_real *real, const struct fr_token_parts *z,
                             const void *rows, void *packed, void *own);
fr_status fr_parts_to_rows(struct fr_real *real, const struct fr_token_parts *z,
                           const void *own, void *packed, void *rows);

/** c (a d x T) := attention of qkv (3 a d x T); p saves the softmax. */
void fr_attention_forward(struct fr_real *real, const struct fr_block_sizes *z, const void *qkv,
                          void *p, void *c);
/** dqkv := gradient from dc; dp: buffer for s s values. */
void fr_attention_backward(struct fr_real *real, const struct fr_block_sizes *z,
                           const void *qkv, const void *p, const void *dc, void *dp,
                           void *dqkv);

/** y (m x T) := w (m x n) x (n x T) + beta y. */
void fr_multiply(struct fr_real *real, int m, int t, int n, const void *w, const void *x,
                 double beta, void *y);
/** dx (n x T) := w^T dy + beta dx. */
void fr_multiply_back(struct fr_real *real, int m, int t, int n, const void *w, const void *dy,
                      double beta, void *dx);
/** dw (m x n) := dy x^T + beta dw. */
void fr_add_outer(struct fr_real *real, int m, int t, int n, const void *dy, const void *x,
                  double beta, void *dw);

#endif
