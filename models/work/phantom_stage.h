/** @file
 *  How a transformer divides over tp = p ranks with a phantom MLP and tensor-parallel attention.
 *
 *  Between layers each rank holds h/p of every token's values.  Attention is Megatron's, heads over
 *  ranks: the values are gathered before its products and summed and scattered after them.  Every
 *  matrix of the MLP is phantom (Seal et al. 2025, section IV): a rank keeps its own block, compresses its
 *  part of the input to k ghost neurons a token, gathers those of all ranks and decompresses the
 *  p - 1 foreign ones.  T tokens of a micro-batch, l layers:
 *
 *      forward     l all-gathers and reduce-scatters of T h; an all-gather of p k T for each matrix; an
 *                  all-reduce of the sums, 2 T, that the MLP's norm needs of a token's divided values
 *      backward    their mirror images
 *      parameters  of an n x m matrix on one rank: (n m)/p^2 + k n/p + (p-1) k m/p; the norm before the
 *                  heads whole, since it works on gathered values; the other, and biases, over p
 *
 *  Left out: once an iteration the sums over p of the whole norms' gradients.  Our composition of the two
 *  methods, which real/apps/mesh/unit/ghost_block.c runs; the paper has fully connected networks
 *  alone.
 */
#ifndef FR_MODELS_WORK_PHANTOM_STAGE_H
#define FR_MODELS_WORK_PHANTOM_STAGE_H

#include "models/work/transformer.h"

fr_reasons fr_phantom_check_stage(const struct fr_workload *workload,
                                  const struct fr_plan *plan);

/** Work of stage @p i on one rank, for one micro-batch. */
void fr_phantom_stage(const struct fr_workload *workload, const struct fr_plan *plan, int64_t i,
                      struct fr_rank_work *work);

#endif
