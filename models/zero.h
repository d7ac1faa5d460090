/** @file
 *  Replicas that divide what they would all hold: optimiser state, gradients, parameters.
 *
 *  Rajbhandari et al., ZeRO, SC'20.  With N replicas (dp cp), G bytes of gradients and W of
 *  parameters on a rank before dividing:
 *
 *      zero 0   all-reduce of G                                     every replica updates everything
 *      zero 1   reduce-scatter of G, all-gather of W, once          update of 1/N   (also called a
 *               distributed optimiser)
 *      zero 2   the reduce-scatter after every micro-batch          gradients 1/N
 *      zero 3   besides, an all-gather of W in every forward and    parameters 1/N  (FSDP)
 *               backward pass
 *
 *  What runs beside a pass shows as far as it outlasts it, and takes from the pass the device's
 *  `interference` of the rest; the first layer's gather and the last
 *  layer's scatter have nothing to hide behind.  Under `overlap` the all-gather of zero 1 and 2
 *  runs beside the next iteration's first forward pass.  Which of it overlaps is our reading of
 *  Megatron-LM and PyTorch's FSDP. */
#ifndef FR_MODELS_ZERO_H
#define FR_MODELS_ZERO_H

#include "models/pipeline.h"

/** What a stage of a zero plan holds and sends. */
struct fr_zero_stage {
    double gradient_B, parameter_B; /**< on a rank, before dividing */
    double layers;                  /**< gathered one by one */
};

/** Replace what price_gradient and the optimiser made of @p stage by the plan's zero.
 *  @param replicas  the group that divides */
void fr_zero_price(const struct fr_job *job, const struct fr_plan *plan,
                   const struct fr_group *replicas, const struct fr_zero_stage *zero,
                   struct fr_stage *stage, uint32_t *extrapolated);

#endif
