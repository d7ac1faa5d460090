/** @file
 *  How a transformer divides over tp = p ranks with phantom matrices in its MLP, its attention, or both.
 *
 *  Between layers each rank holds h/p of every token's values.  The plan's `phantom_parts` says which sublayers have
 *  phantom matrices (Seal et al. 2025, section IV).  There a rank keeps its own block, compresses its part of the
 *  input to k ghost neurons a token, gathers those of all ranks and decompresses the p - 1 foreign ones.  The other
 *  sublayer is Megatron's: the values are gathered before its first product and summed and scattered after its second.
 *
 *  Phantom attention.  Heads lie on ranks as with method tensor: a heads and g key-value heads of d values, q = a d,
 *  c = (a + 2 g) d, and p divides a and g.  Queries, keys and values are one matrix W, c x h.  Rank j makes those of its
 *  own heads from its own values x_j and the ghost neurons g_i = C_i x_i of the others:
 *
 *      qkv_j = L_j x_j + sum over i != j of D_ij g_i        L_j c/p x h/p    C_i k x h/p    D_ij c/p x k
 *
 *  Head by head this is W x with W_ij (i != j) replaced by a matrix of rank k.  So a head attends to all tokens, by
 *  its rank's values in full and the others' through k values.  Scores, softmax and the weighted sum stay on the rank.
 *  The output matrix, h x q, goes the same way from the heads' values to h/p values of the residual stream.  Nothing
 *  of width h is gathered or scattered in such a layer.  A cross-attention reads two streams and compresses both.
 *
 *  T tokens of a micro-batch, l layers, for each sublayer:
 *
 *                  phantom                                      Megatron's
 *      forward     an all-gather of p k T for each matrix;      an all-gather and a reduce-scatter of T h
 *                  an all-reduce of the norm's sums, 2 T
 *      backward    their mirror images                          likewise
 *      norm        over p, of a rank's values                   whole, since it works on gathered values
 *      matrix      (n m)/p^2 + k n/p + (p-1) k m/p on a rank    n m / p
 *
 *  Attention has two matrices and the MLP two or three.  Biases lie over p.
 *
 *  Left out: once an iteration the sums over p of the whole norms' gradients.  Our composition of the two
 *  methods, which real/apps/mesh/layer.h runs; the paper has fully connected networks
 *  alone, and names transformers as its future work.
 */
#ifndef FR_MODELS_WORK_PHANTOM_STAGE_H
#define FR_MODELS_WORK_PHANTOM_STAGE_H

#include "models/work/transformer.h"

fr_reasons fr_phantom_check_stage(const struct fr_workload *workload,
                                  const struct fr_plan *plan);

/** Inputs or outputs of the narrowest matrix that is phantom. */
double fr_phantom_narrowest(const struct fr_transformer *t, const struct fr_plan *plan);

/** Work of stage @p i on one rank, for one micro-batch. */
void fr_phantom_stage(const struct fr_workload *workload, const struct fr_plan *plan, int64_t i,
                      struct fr_rank_work *work);

#endif
