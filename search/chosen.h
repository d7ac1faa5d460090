/** @file
 *  What a plan costs with what it leaves to be chosen: grids of layers, layers of stages. */
#ifndef FR_SEARCH_CHOSEN_H
#define FR_SEARCH_CHOSEN_H

#include "models/outcome/cost.h"

/** Does @p plan leave anything to be chosen? */
static inline bool fr_plan_chooses(const struct fr_plan *plan) {
    return plan->layer_tp_best || plan->stage_layers_best;
}

/** As fr_cost; what was chosen is "best" again in the outcome, whose plan owns nothing. */
void fr_cost_chosen(const struct fr_job *job, const struct fr_plan *plan,
                    struct fr_outcome *out);

#endif
