/** @file
 *  Layers (kinds ffn, mlp, cnn, branches) as the stages of a pipeline, divided by any method.
 *
 *  A stage holds consecutive layers, as equal in number as can be or as the plan's stage_layers
 *  say; with one stage it holds all.  Its passes do what the method says a layer takes, forward and
 *  backward; what leaves it is the input of the next stage's first layer, of which each tp rank
 *  sends its 1/tp, gathered on arrival unless the method keeps activations divided (phantom).
 *
 *  On one stage a layer may have a grid of its own (layer_tp): products and collectives are those of
 *  its P_r x P_c, and what the next layer needs elsewhere is redistributed. */
#ifndef FR_MODELS_PRICE_LAYERS_H
#define FR_MODELS_PRICE_LAYERS_H

#include "models/price/pipeline.h"
#include "models/price/seats.h"

/** Reasons why the plan cannot divide this model's layers so, over tp and over stages. */
fr_reasons fr_layers_check(const struct fr_job *job, const struct fr_plan *plan);

/** Fill stage @p i: passes, gradients with their all-reduces, update, memory, message_B and
 *  gathered_B of the boundary above it. */
void fr_layers_stage(const struct fr_job *job, const struct fr_plan *plan,
                     const struct fr_seats *seats, int32_t i, struct fr_stage *stage,
                     uint32_t *extrapolated);

/** Time of moving from the grid of one layer to that of the next, in the passes of @p plan [s].
 *  With d values a sample between them, of which a rank holds its data share, the direction
 *  from more data ranks to fewer gathers d * batch / min(P_c) values from P_c/P_c' neighbours;
 *  the other direction drops what it does not need.  Our derivation; the paper leaves it open. */
double fr_redistribution_s(const struct fr_job *job, const struct fr_plan *plan,
                           int64_t tp_before, int64_t tp_after, double values,
                           double global_batch);

/** Time of one layer entry (all its repeats) in an iteration on a grid tp x dp, without fixed
 *  and redistribution [s]; INFINITY when it cannot be. For the choice of per-layer grids. */
double fr_layer_time_s(const struct fr_job *job, const struct fr_plan *plan, int layer);

#endif
