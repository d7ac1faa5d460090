/** @file
 *  Data in the host's memory: activations between their passes, the optimiser's state.
 *
 *  A device reaches its host's memory over a link of its own, r_l bytes a second each way at once, and
 *  its share of the host goes through that memory at r_h (`host_link`, `host_bandwidth`).  Both are one
 *  device's where all of a node do it at once.
 *
 *  Activations.  The layers of a stage save A bytes of a micro-batch (embedding and logits stay on the device: their
 *  gradients come first).  They go to the host layer by layer beside the forward pass, and come back beside the
 *  backward pass, each a layer ahead of the one at work.  A pass of n layers takes T, and X = A / r_l.  The last
 *  layer's way to the host and the first one's way back have nothing to run beside:
 *
 *      shows   X / n + beside((1 - 1/n) X, (1 - 1/n) T)        beside(X, T) = max(0, X - T) + min(i, r_l / r_m) min(X, T)
 *
 *  Where k < n layers are offloaded (`offload_layers`, the first ones), X = k A / (n r_l) runs beside k T / n, and
 *  the others follow.
 *
 *  Copies are made by engines of their own.  They slow a pass by the share of the memory's bandwidth r_m that the
 *  link needs.  That is no more than collectives do (`interference` i), which take multiprocessors too.  The rest is
 *  the time of n equal products, each waiting for its copy, less the products.
 *
 *  The device holds two layers, the one at work and the one on its way.  Where weight gradients are passes of their
 *  own, it also holds the layers whose backward pass is over and whose weight gradients are not.
 *
 *  Where a layer is recomputed (`recompute` full or a policy), A is the layers' inputs and the tensors that the
 *  policy saves: MaxText's policies that offload `decoder_layer_input` or the projections of queries, keys and
 *  values.
 *
 *  Optimiser.  A rank has the state of some parameters (all of them, or the part that `zero` leaves it).  Their
 *  gradients go to the host once they are reduced, the host takes the step, and the weights come back.  Pieces of a
 *  layer each follow each other through the three:
 *
 *      T = (d + u + w) / n + (1 - 1/n) max(d, u, w)      d = N g / r_l, u = N b / r_h, w = N v / r_l
 *
 *  for N parameters with g bytes of gradient, v of weight and b that the optimiser reads and writes.  The host holds
 *  their state, and a copy of gradients and weights (Ren et al., ZeRO-Offload, ATC'21, section 4).  There the
 *  gradients' way is hidden behind the backward pass, in a model that takes no second one.  Device and passes wait;
 *  the host's energy is not counted. */
#ifndef FR_MODELS_PRICE_OFFLOAD_H
#define FR_MODELS_PRICE_OFFLOAD_H

#include "models/price/pipeline.h"

/** Can the cluster's device do what @p plan offloads?  Reasons against it. */
fr_reasons fr_offload_check(const struct fr_job *job, const struct fr_plan *plan);

/** Price it into @p stage, whose passes and step are priced.
 *  @param layers  of the stage
 *  @param splits  weight gradients are passes of their own */
void fr_offload_price(const struct fr_job *job, const struct fr_plan *plan, double layers,
                      bool splits, struct fr_stage *stage);

/** Activations of @p in_flight micro-batches (a pass of one of v chunks is 1/v) that are on the device, and those on the
 *  host [B].  @param waiting  of them, those for their weight gradients alone */
static inline double fr_offload_saved_B(const struct fr_stage *s, double in_flight,
                                        double waiting) {
    double stays_B = in_flight * (s->activation_B - s->offloaded_B) + waiting * s->offloaded_B;
    double all_B = in_flight * s->activation_B;
    double most_B = stays_B + 2 * s->layer_B;
    return s->offloaded_B <= 0 || most_B > all_B ? all_B : most_B;
}
static inline double fr_offload_host_B(const struct fr_stage *s, double in_flight) {
    return s->host_state_B + in_flight * s->offloaded_B;
}

#endif
