/** @file
 *  Layers (kinds ffn, mlp, cnn) as the stages of a pipeline, divided by any method.
 *
 *  A stage holds consecutive layers, as equal in number as can be or as the plan's stage_layers
 *  say.  Its passes do what the method says a layer takes, forward and backward; what leaves
 *  it is the input of the next stage's first layer, of which each tp rank sends its 1/tp,
 *  gathered on arrival unless the method keeps activations divided (phantom).  At pp = 1 the
 *  outcome is that of models/outcome/cost.h, to rounding. */
#ifndef FR_MODELS_PRICE_LAYERS_H
#define FR_MODELS_PRICE_LAYERS_H

#include "models/price/pipeline.h"
#include "models/price/seats.h"

/** Reasons why the plan cannot divide this model's layers so, over tp and over stages. */
fr_reasons fr_pipeline_layers_check(const struct fr_job *job, const struct fr_plan *plan);

/** Fill stage @p i: passes, gradients with their all-reduces, update, memory, message_B and
 *  gathered_B of the boundary above it; and @p pipeline's tp_B and gradient_B. */
void fr_pipeline_layers_stage(const struct fr_job *job, const struct fr_plan *plan,
                              const struct fr_seats *seats, int32_t i,
                              struct fr_pipeline *pipeline, uint32_t *extrapolated);

#endif
