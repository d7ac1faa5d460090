/** @file
 *  How much does compression cost a pipeline, and how much does it save?
 *
 *  Backward messages: one rank sends down its part of a micro-batch's activation gradient.  That is a matrix of
 *  tokens or samples x values; the stage states its rows and columns (message_rows, message_columns).  A method
 *  divides one or the other:
 *      tensor      b s / (cp tp) x h     each rank of tp sends its part of the rows (scatter-gather)
 *      phantom     b s / cp x h / tp     what flows between layers is divided by its width anyway
 *      subgraph    b s / tp x h          common layers hold 1/tp of the samples; cSub: all, one rank
 *      layers      b x n / tp            samples x values that cross: tensor, grid, phantom
 *  each value as wide as the message's: of fp8 training 16 bits, since fp8 is a format of products' inputs
 *  alone (Transformer Engine keeps what flows between layers in bf16).  A rank encodes before it sends and
 *  decodes before it uses.  Activations forward are as large and are coded alike, to a rank of their own,
 *  always with what the message before lost (Song et al. tried that, section 5.1, and saw divergence).
 *
 *  Gradients: the matrices of a stage's layers, one by one, after the last backward pass, over the ranks that hold
 *  copies.  These are the D = dp cp replicas, an expert's own copies, and for common layers of sub-graphs all ranks
 *  of the stage.  A rank codes the part that it holds.  For phantom that is its local block, its compressor and each
 *  decompressor; for a grid, its rows of W. A convolution's filters are coded as out_channels x (in kh kw).  Biases,
 *  norms and the embedding go whole.  A transformer's stage sends all its codes at once; layers go one by one, as
 *  their gradients do without compression.  The codec decides how copies add up codes (fr_compression.op):
 *      all_reduce   factors are linear in the gradients (PowerSGD): P of all matrices, then Q with what
 *                   goes whole, two all-reduces; the same bytes whatever D
 *      all_gather   sparse parts lie elsewhere on each replica (top-k): D sent_B reach everyone, who adds
 *                   up D parts; bytes and decoding grow with D
 *
 *  A matrix or message goes compressed only where that sends fewer bytes than without.  PyTorch's PowerSGD hook
 *  (_should_compress) likewise leaves tensors alone that its rank does not shrink.  A tensor that goes whole pays no
 *  codec and is not lossy.  (The hook compresses only where that at least halves the bytes; here any saving is
 *  enough.)
 *
 *  zero 1 (a distributed optimiser): a replica updates 1/D. But PowerSGD orthogonalises columns over whole matrices,
 *  and a sparse part may lie anywhere.  So codes travel as without zero, and every replica decodes them and keeps its
 *  part.  Tensors that go whole are reduce-scattered.  zero 2 and 3 scatter whole gradients after every micro-batch,
 *  so there is nothing left to compress once.
 */
#ifndef FR_MODELS_PRICE_CODEC_PRICE_H
#define FR_MODELS_PRICE_CODEC_PRICE_H

#include "models/price/operation.h"
#include "models/price/pipeline.h"

/** Why @p plan's compression is not priced for this model, as a sentence; or NULL. */
const char *fr_codec_refused(const struct fr_job *job, const struct fr_plan *plan);

/** Time of a codec's work [s]; price->products_B is what is in use in turn between one matrix and its
 *  next time, 0: the matrix has just been made. */
double fr_codec_s(const struct fr_pricing *price, const struct fr_codec_work *work);

/** Fill what of @p pipeline is about compressed messages; message_B is known. */
void fr_codec_price_messages(const struct fr_job *job, const struct fr_plan *plan,
                             struct fr_pipeline *pipeline, uint32_t *extrapolated);

/** Part of a list's weight gradients that goes compressed, by the ranks that hold copies (fr_axis). */
struct fr_coded {
    double whole_B[FR_AXES]; /**< that it stands for */
    double coded_B[FR_AXES]; /**< buffer of the collective that carries it */
    double time_s;           /**< to compress and decompress */
    double stored_B;         /**< memory */
    double saved_B;          /**< that a rank sends less for it */
};

/** Do gradients of stage @p i go compressed, where that makes them smaller? */
bool fr_codec_codes(const struct fr_plan *plan, int64_t i);
/** @p plan with stage @p i's rank as the rank of all: in @p own where ranks differ. */
const struct fr_plan *fr_codec_plan_of(const struct fr_plan *plan, int64_t i,
                                       struct fr_plan *own);

/** Add what of the weight gradients among the first @p to operations of @p work goes compressed.
 *  @param price  its groups, and update_B: what is in use in turn between two looks at a matrix */
void fr_codec_code(const struct fr_job *job, const struct fr_plan *plan,
                   const struct fr_pricing *price, const struct fr_rank_work *work, int to,
                   struct fr_coded *sum);

/** The same of a layer whose list reduces its own gradients: what goes whole stays there, what is coded
 *  comes after it as a collective of its own (as_one). */
void fr_codec_code_layer(const struct fr_job *job, const struct fr_plan *plan,
                         const struct fr_pricing *price, struct fr_rank_work *work,
                         struct fr_coded *coded);

#endif
