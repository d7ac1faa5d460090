/** @file
 *  How long does a pass of a transformer's stage take on one rank?  Products, traffic, launches, tp.
 *
 *  Each layer takes the larger of two times: the device's (its products, the bytes it moves, the
 *  collectives over tp that lie on its way) and the host's, which launches the kernels one after
 *  another.  Small layers, or large ones divided far, are as slow as the host:
 *
 *      layer = max(device, kernels host_launch (1 + host_skew log2 tp) + host_experts)
 *
 *  A recorded graph is launched like one kernel.  With `graphs` of layers the host launches one for each layer and
 *  does the work of host_experts, whose sizes no graph of a layer knows (Megatron-Core's graphs of Transformer
 *  Engine).  With `graphs` of the iteration the host has no work at all.  The kernels' gaps on the device stay as
 *  they are.
 *
 *  Launches that block (plan key `launches`) keep the host from launching ahead.  It waits for each kernel, and the
 *  device then waits for the next launch.  So the two times add up, and nothing runs beside anything (CUDA C++
 *  Programming Guide, Concurrent Execution between Host and Device: CUDA_LAUNCH_BLOCKING).  A kernel's gap on the
 *  device, its start and its end, stays:
 *
 *      layer = device + kernels host_launch (1 + host_skew log2 tp) + host_experts
 *
 *  A message to the next stage is a kernel as well: the pass that sends it takes its time.
 *  Launches that block are not priced beside graphs.
 *
 *  host_experts counts for mixtures of experts alone.  The host sorts a layer's tokens by expert and must know the
 *  counts before it can launch the next work.  It then launches small products expert by expert; backward takes twice
 *  that.
 *
 *  In a forward pass, and in its recomputation, the host asks the device for the counts.  The device is then idle
 *  until the products are launched.  So where nothing is a graph and no other micro-batch's passes are at hand
 *  (`overlap_experts`),
 *
 *      layer forward = max(device + host_experts, kernels host_launch (1 + host_skew log2 tp) + host_experts)
 *
 *  Where experts have a `capacity` and are padded to it, all sizes are known before, and the host has no such work.
 *
 *  Graphs of layers hold the router and its decisions, and leave the launches to the host.  Beside another
 *  micro-batch's passes layers are cut up, and the host takes 1 + host_overlap times as long for them.  The tp ranks
 *  wait for one another at every collective, so the slowest of their hosts counts.  host_skew states how much slower
 *  that host is, per doubling of tp (our form, after layer times measured at tp 1 to 8).  The embedding and the
 *  logits are a part of their own.
 *
 *  A schedule may split the backward pass in two (Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024): gradients
 *  of inputs with the recomputation, and gradients of weights.  Each is priced from its own operations and launches,
 *  as above; neither is the rest of the other.  Where host and device take turns to be the slower, max(a, b) + max(c,
 *  d) >= max(a + c, b + d), so the two take longer than the whole.  `launch` of a pass holds the kernels' gaps on the
 *  device and the part of the host's time that shows.
 */
#ifndef FR_MODELS_PRICE_PASS_H
#define FR_MODELS_PRICE_PASS_H

#include "models/price/operation.h"
#include "models/price/pipeline.h"
#include "models/price/rank_map.h"
#include "models/work/transformer.h"

/** Where the operations of a stage's passes are priced: sent_B and extrapolated are the caller's to set. */
struct fr_pricing fr_pass_pricing(const struct fr_job *job, const struct fr_plan *plan,
                                  const struct fr_rank_map *rank_map,
                                  const struct fr_rank_work *work);

/** Fill forward, whole backward and weight pass of @p stage from @p work, with tp, cp and ep on @p rank_map,
 *  and what they send.
 *  @param input  filled: the pass that makes gradients of inputs, where weight gradients have one of their own
 *  @param extrapolated  bits as in fr_outcome; set, never cleared */
void fr_pass_price(const struct fr_job *job, const struct fr_plan *plan,
                   const struct fr_rank_map *rank_map, const struct fr_rank_work *work,
                   struct fr_stage *stage, struct fr_pass *input, uint32_t *extrapolated);

#endif
