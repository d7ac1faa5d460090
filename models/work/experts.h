/** @file
 *  Mixture of experts: every MLP is E of them, and each token goes to k.
 *
 *  With ep ranks of the replicas sharing the experts, each holds E / ep.  T tokens of a micro-batch make T k rows.
 *  An all-to-all over the ep ranks brings them to their experts and another brings them back; both run again
 *  backward.  (Or one copy serves several experts: models/work/dispatch.h.)  An expert then has, in the mean, n = T k
 *  ep / E rows.  The fullest rank has i times as many: `imbalance` where that is stated, else by what keeps experts
 *  equally busy (`balance`)
 *
 *      i = min(ep, 1 + s m / sqrt(E / ep))        s = 0 tokens spread evenly, 0.3 by a loss or biases, 3.8 by nothing
 *
 *  where the loads of experts differ by s of their mean and m is the mean of the largest of ep normal values.  Both s are
 *  calibrations on runs of MLPerf Training v6.0: 0.3 on one of DeepSeek-V3, 3.8 on four of GPT-OSS 20B on three
 *  machines, which has no balancing loss.  Where tokens beyond a limit are dropped it has no more than `capacity` times n.  Experts are as wide as `expert_ffn`; a router of h x E
 *  sends.  With `overlap_experts` the exchanges of one micro-batch run beside the products of another, and show as
 *  far as they outlast them.  All layers are alike except the first `dense_layers`, which have an MLP.  Beside its
 *  experts a token may go through a shared MLP of `shared_ffn`, divided over tp as MLPs are.  With `etp` 1 an expert
 *  is whole on its rank.  The tp ranks then each bring their share of a divided sequence, and ep counts them too
 *  (Megatron-Core's expert tensor parallelism of 1).  An expert's shard has dp cp tp / (ep etp) copies, over which
 *  its gradients are reduced and zero divides its state (models/price/zero.h). */
#ifndef FR_MODELS_WORK_EXPERTS_H
#define FR_MODELS_WORK_EXPERTS_H

#include "models/work/transformer.h"

/** Parameters of a layer's experts, all of them. */
double fr_experts_parameters(const struct fr_transformer *t);

/** How many rows the fullest rank's experts have of the mean, at most. */
double fr_experts_load(const struct fr_transformer *t, const struct fr_plan *plan);

/** Rows that an expert's products work on: grouped products fill whole tiles of 128. */
double fr_experts_rows(double rows);

/** Bytes of one all-to-all of a layer, of what one rank sends with @p copies of each of its tokens. */
double fr_experts_sent_B(const struct fr_workload *workload, const struct fr_plan *plan,
                         double tokens, double copies);

#endif
