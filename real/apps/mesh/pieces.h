/** @file
 *  Products of tokens in parts, in p pieces beside the exchanges around them (`overlap_tp`, Megatron-LM's
 *  tp-comm-overlap).
 *
 *  A gather sends a rank's own tokens to every other rank, and multiplies each part as it arrives, its own first.  A
 *  scatter sends the product of each other rank's tokens as soon as it is made, makes its own last, and adds up those
 *  that arrive.  They move the bytes of an all-gather and of a reduce-scatter.  Embedding and logits exchange in one
 *  piece here.
 *
 *  An MPI that moves nothing outside its calls moves most of them there: then nothing is gained. */
#ifndef FR_REAL_APPS_MESH_PIECES_H
#define FR_REAL_APPS_MESH_PIECES_H

#include "real/apps/block.h"

/** The product y (out x tokens) := w x (in x tokens), with w out x in, or y := w^T x with w in x out. */
struct fr_piece_product {
    const void *w;
    int out, in;
    bool transposed;
};

/** Messages that are on their way. */
struct fr_pieces {
    MPI_Request *request; /**< of the ranks that divide tokens */
};

/** y (out x T) := the product of all ranks' tokens, of which this one has @p own (in x t).
 *  @param packed  buffer for in T values
 *  @param whole   in x T := all tokens, or NULL.  @return FR_OK, FR_ERR_NOMEM, FR_ERR_EXTERNAL */
fr_status fr_pieces_gather(struct fr_real *real, const struct fr_token_parts *z,
                           const struct fr_piece_product *product, const void *own,
                           void *packed, void *whole, void *y);

/** Begin sum (out x t) := this rank's tokens of the sum over ranks of products of x (in x T).
 *  @param pieces  buffer for out T values, until the end.  End in any case. */
fr_status fr_pieces_scatter_begin(struct fr_real *real, const struct fr_token_parts *z,
                                  const struct fr_piece_product *product, const void *x,
                                  void *pieces, void *sum, struct fr_pieces *sent);
/** @param packed  buffer for @p values T / t values, of sum's. */
fr_status fr_pieces_scatter_end(struct fr_real *real, const struct fr_token_parts *z,
                                int64_t values, void *packed, void *sum,
                                struct fr_pieces *sent);

#endif
