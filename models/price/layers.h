/** @file
 *  Layers (kinds ffn, mlp, cnn, branches) as the stages of a pipeline, divided by any method (models/work/layers.h).
 *
 *  A stage's passes do what the method says its layers take, forward and
 *  backward; what leaves it is the input of the next stage's first layer, of which each tp rank
 *  sends its 1/tp, gathered on arrival unless the method keeps activations divided (phantom).
 *
 *  Where layers have grids of their own (layer_tp) products and collectives are those of each
 *  P_r x P_c, and what the next layer needs elsewhere is redistributed. */
#ifndef FR_MODELS_PRICE_LAYERS_H
#define FR_MODELS_PRICE_LAYERS_H

#include "models/price/codec_price.h"
#include "models/price/pipeline.h"
#include "models/price/rank_map.h"
#include "models/work/layers.h"

/** The layers of stage @p i of a checked plan. */
static inline struct fr_layers fr_layers_of_stage(const struct fr_job *job,
                                                  const struct fr_plan *plan, int64_t i) {
    return fr_layers_of(&job->workload, plan, fr_job_batch(job, plan), i);
}

/** Where a rank of stage @p i prices its layers: with the launches of what nothing hides and the working sets
 *  of all its layers. */
struct fr_pricing fr_layers_pricing(const struct fr_job *job, const struct fr_plan *plan,
                                    const struct fr_rank_map *rank_map, int64_t i);

/** Lower the layer at hand, with what of its gradients goes compressed where the stage's do. */
void fr_layers_work(const struct fr_job *job, const struct fr_layers *layers,
                    const struct fr_pricing *price, bool codes, struct fr_rank_work *work,
                    struct fr_coded *coded);

/** Fill stage @p i: passes, gradients with their all-reduces, update, memory, message_B and
 *  gathered_B of the boundary above it. */
void fr_layers_stage(const struct fr_job *job, const struct fr_plan *plan,
                     const struct fr_rank_map *rank_map, int32_t i, struct fr_stage *stage,
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
