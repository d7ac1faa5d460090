/** @file
 *  What a pass of a transformer's stage costs one rank: products, traffic, launches, tp.
 *
 *  Each layer takes the larger of two times: the device's (its products, the bytes it moves, the
 *  collectives over tp that lie on its way) and the host's, which launches the kernels one after
 *  another.  Small layers, or large ones divided far, are as slow as the host:
 *
 *      layer = max(device, kernels host_launch (1 + host_skew log2 tp) + host_experts)
 *
 *  A graph that was recorded before is launched like one kernel: `graphs` of layers leaves one for each layer and
 *  host_experts, whose sizes no graph of a layer knows (Megatron-Core's graphs of Transformer Engine), of
 *  the iteration nothing of the host at all.  The kernels' gaps on the device stay as they are.
 *
 *  Launches that block (plan key `launches`) leave the host nothing to launch ahead: it waits for each
 *  kernel, and the device then for its next launch, so that the two times add up, and nothing runs beside
 *  anything (CUDA C++ Programming Guide, Concurrent Execution between Host and Device:
 *  CUDA_LAUNCH_BLOCKING).  A kernel's gap on the device, its start and its end, stays:
 *
 *      layer = device + kernels host_launch (1 + host_skew log2 tp) + host_experts
 *
 *  A message to the next stage is a kernel as well: the pass that sends it takes its time.
 *  Launches that block are not priced beside graphs.
 *
 *  host_experts counts for mixtures of experts alone: the host sorts a layer's tokens by expert, has
 *  to know how many go where before it can launch what follows, and launches small products expert by
 *  expert; twice that backward.  Forward, and where that is done again, it asks the device how many they are,
 *  which then has nothing to do until they are launched: where nothing is a graph and no other
 *  micro-batch's passes are at hand (`overlap_experts`),
 *
 *      layer forward = max(device + host_experts, kernels host_launch (1 + host_skew log2 tp) + host_experts)
 *
 *  Graphs of layers hold the router and what it decides, and leave the host the launches.  Beside another
 *  micro-batch's passes layers are cut up, and the host takes 1 + host_overlap as long for them.
 *  The tp ranks wait for one another at every collective, so that the slowest of their hosts
 *  counts: host_skew says how much slower it is, per doubling of tp (our form, after layer times
 *  measured at tp 1 to 8).  The embedding and the logits are a part of their own.
 *  A schedule that splits the backward pass makes two passes of it (Qi et al., Zero Bubble Pipeline Parallelism,
 *  ICLR 2024): gradients of inputs with what is done again, and gradients of weights.  Each is priced from its own
 *  operations and launches, as above, and neither is the rest of the other: where host and device take turns
 *  to be the slower, max(a, b) + max(c, d) >= max(a + c, b + d), and the two take longer than the whole.
 *  `launch` of a pass holds the kernels' gaps on the device and what of the host's time shows.
 */
#ifndef FR_MODELS_PRICE_PASS_H
#define FR_MODELS_PRICE_PASS_H

#include "models/price/pipeline.h"
#include "models/price/rank_map.h"
#include "models/work/transformer.h"

/** Fill forward, whole backward and weight pass of @p stage from @p work, with tp, cp and ep on @p rank_map,
 *  and what they send.
 *  @param input  filled: the pass that makes gradients of inputs, where weight gradients have one of their own
 *  @param extrapolated  bits as in fr_outcome; set, never cleared */
void fr_pass_price(const struct fr_job *job, const struct fr_plan *plan,
                   const struct fr_rank_map *rank_map, const struct fr_rank_work *work,
                   struct fr_stage *stage, struct fr_pass *input, uint32_t *extrapolated);

#endif
