/** @file
 *  A model of layers (kinds ffn, mlp, cnn, branches) as operations of one rank: where layers are lowered, for the
 *  closed form and the event engine alike.
 *
 *  A stage holds consecutive layers, as equal in number as can be or as the plan's stage_layers say;
 *  with one stage it holds all.  An entry of the model stands for `repeat` equal layers, of which a stage may have
 *  some.  A micro-batch is the plan's; on one stage, unless the plan says otherwise, all samples of a rank.
 *
 *  On one stage an entry may have a grid of its own (layer_tp): P_r x P_c of all ranks, with a rank's samples in
 *  micro-batches of its own.
 *
 *      struct fr_layers l = fr_layers_of(&job->workload, plan, batch, stage);
 *      while (fr_layers_next(&l)) { fr_layers_lower(&l, &work); ... l.n of them ... }
 */
#ifndef FR_MODELS_WORK_LAYERS_H
#define FR_MODELS_WORK_LAYERS_H

#include "models/plan/plan.h"
#include "models/work/method.h"

/** The layers of a stage, an entry at a time. */
struct fr_layers {
    struct fr_work_part part; /**< the entry at hand, on its grid */
    int entry;                /**< which of the model's; -1: before the first */
    double n;                 /**< equal layers of it in the stage */
    double micro_batches;     /**< of the entry, in an iteration */
    double passes;            /**< of them in each of the stage's */
    double of_stage;          /**< micro-batches of the stage */
    double from, to, at;      /**< layers of the stage; where the entry after begins */
    int64_t batch;            /**< samples of an iteration */
};

/** Before the first entry of stage @p i. @param batch  samples of an iteration, which dp divides */
struct fr_layers fr_layers_of(const struct fr_workload *workload, const struct fr_plan *plan,
                              int64_t batch, int64_t i);
/** The next entry that has layers in the stage; false: there is none. */
bool fr_layers_next(struct fr_layers *layers);
/** One layer of the entry at hand, in a micro-batch. */
void fr_layers_lower(const struct fr_layers *layers, struct fr_rank_work *work);

/** The entry whose input leaves stage @p i: with which the next one begins, with chunks also the first after the
 *  last; -1: nothing leaves it. */
int fr_layers_above(const struct fr_workload *workload, const struct fr_plan *plan, int64_t i);

/** Reasons why the plan cannot divide this model's layers so, over tp and over stages.
 *  @param staged  the plan is priced as a pipeline (fr_job_is_pipeline) */
fr_reasons fr_layers_check(const struct fr_workload *workload, const struct fr_plan *plan,
                           int64_t batch, bool staged);

#endif
