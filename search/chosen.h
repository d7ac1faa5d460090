/** @file
 *  What a plan costs with what it leaves to be chosen: grids of layers, layers of stages, ranks of stages. */
#ifndef FR_SEARCH_CHOSEN_H
#define FR_SEARCH_CHOSEN_H

#include "models/outcome/cost.h"

/** Does @p plan leave anything to be chosen? */
static inline bool fr_plan_chooses(const struct fr_plan *plan) {
    return plan->layer_tp_best || plan->stage_layers_best || plan->gradient_ranks_best;
}

/** Choose what the job's plan leaves open; what is chosen is the plan's, and the job's lists hold it.
 *  @param[out] lacks  why nothing could be chosen: it stays open then, and the plan cannot be; else 0
 *  @return FR_OK; FR_ERR_NOMEM */
fr_status fr_job_choose(struct fr_job *job, fr_reasons *lacks, struct fr_error *err);

/** A plan that can be but for what could not be chosen for it cannot be. */
void fr_chosen_refuse(fr_reasons lacks, struct fr_outcome *out);

/** As fr_cost; what was chosen is "best" again in the outcome, whose plan owns nothing. */
void fr_cost_chosen(const struct fr_job *job, const struct fr_plan *plan,
                    struct fr_outcome *out);

#endif
