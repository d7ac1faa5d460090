/** @file
 *  What a state-space block (models/workload/ssm.h) asks of a rank of p = tp.
 *
 *  Divided by heads and groups, as Megatron-Core's MambaMixer divides it, of T tokens:
 *
 *      (2 d + 2 G N + H)/p x T x h     columns; its convolution, scan and gated norm on the rank's own heads
 *      h x T x d/p                     rows; both around the exchanges of an attention's pair
 *
 *  so that p divides G.  Bytes moved besides, v a value, states and C B^T in fp32 (w = 4 / v values each):
 *
 *      norm, residual                  2 + 3 of h values a token
 *      convolution                     2 c                                          c, d, G N, G Q of a rank
 *      C B^T                           2 G N read, w G Q written
 *      states of chunks                d + G N read, w d N / Q written
 *      passed from chunk to chunk      w d N / Q read, d N / Q written
 *      outputs                         w G Q + d + G N + d N / Q read, z read, 2 d written (before the gate and behind)
 *      norm of the groups              2 d
 *
 *  forward, twice that backward, and once more what is made again: the convolution, C B^T, states and their way.
 *
 *  Kept for the backward pass: the block's input and the product's (h each), all that the first product made, d before
 *  the gate, behind it, and behind the norm (mamba_ssm's module without Megatron makes the last two again).
 *
 *  Over cp ranks of a sequence heads are divided further, whatever `context` says of attention: all-to-alls bring
 *  all tokens of 1/cp of a rank's heads and groups together before the convolution, and back before the second
 *  product (Megatron-Core, mamba_context_parallel.py), so that p cp divides G.  Left out: heads that share a group
 *  over several ranks, with copies of its B and C, which it has too. */
#ifndef FR_MODELS_WORK_SSM_H
#define FR_MODELS_WORK_SSM_H

#include "models/work/transformer_view.h"

/** Kernels launched forward: norm, two products, convolution, five of the scan, norm of the groups, residual. */
#define FR_SSM_KERNELS 11.0

/** Add products, scans, what backward makes again, and exchanges over cp, of the stage's blocks. */
void fr_ssm_add(const struct fr_stage_view *v, struct fr_rank_work *work);

/** Values that one block moves forward besides products, without the norm before it and the residual's addition;
 *  of them by the norm of the groups. */
double fr_ssm_moved(const struct fr_stage_view *v, double *norm);

/** Bytes that one block keeps on a rank. */
double fr_ssm_saved_B(const struct fr_stage_view *v);

#endif
