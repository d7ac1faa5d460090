/** @file
 *  What compression costs a pipeline, and what it saves.
 *
 *  Backward messages: what one rank sends down is its part of a micro-batch's activation gradient, b s /
 *  (cp tp) rows of h values (scatter-gather), each as wide as the message's: of fp8 training 16 bits, since
 *  fp8 is a format of products' inputs alone (Transformer Engine keeps what flows between layers in
 *  bf16).  A rank encodes before it sends and decodes before it uses.
 *
 *  Gradients: the matrices of a stage's layers, one by one, over all D = dp cp replicas, after the last
 *  backward pass; biases, norms and the embedding go whole.  How replicas add up what is coded is the
 *  codec's (fr_compression.op):
 *      all_reduce   factors are linear in the gradients (PowerSGD): P of all matrices, then Q with what
 *                   goes whole, two all-reduces; the same bytes whatever D
 *      all_gather   sparse parts lie elsewhere on each replica (top-k): D sent_B reach everyone, who adds
 *                   up D parts; bytes and decoding grow with D
 *
 *  A matrix or message goes compressed only where that sends fewer bytes than without, as PyTorch's PowerSGD
 *  hook (_should_compress) leaves tensors alone that its rank does not shrink; what goes whole pays no
 *  codec and is not lossy.  (That hook asks for half the bytes at least; ours for fewer.)
 *
 *  zero 1 (a distributed optimiser): a replica updates 1/D, but PowerSGD's columns are orthogonalised
 *  over whole matrices and a sparse part lies anywhere, so what is coded travels as without zero, every
 *  replica decodes it, and keeps its part; what goes whole is reduce-scattered.  zero 2 and 3 scatter
 *  whole gradients after every micro-batch: there is nothing left to compress once.
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

/** Take from gradient_B of stage @p i what goes compressed, into coded_B, with its codec.
 *  @param working_set_B  what is in use in turn between two looks at a matrix */
void fr_codec_price_gradients(const struct fr_job *job, const struct fr_plan *plan, int32_t i,
                              const struct fr_rank_work *work, double working_set_B,
                              struct fr_pipeline *pipeline, uint32_t *extrapolated);

#endif
