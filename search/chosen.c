#include "search/chosen.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "search/layer_grids.h"
#include "search/stage_layers.h"

static void cost_grids(const struct fr_job *job, const struct fr_plan *given,
                       struct fr_outcome *out) {
    struct fr_plan plan = *given;
    int n = job->workload.transformer.layers > 0 ? FR_GRIDS : job->workload.n_layers;
    int64_t *grids = fr_calloc((size_t)n + 1, sizeof *grids);
    if (grids && fr_layer_grids_best(job, &plan, grids, NULL) == FR_OK) {
        plan.layer_tp = grids;
        plan.n_layer_tp = n;
    }
    fr_cost(job, &plan, out);
    out->plan.layer_tp = NULL;
    out->plan.n_layer_tp = 0;
    free(grids);
}

/* Where both are to be chosen, stages as for a plan of one grid, then grids. */
static void cost_stages(const struct fr_job *job, const struct fr_plan *given,
                        struct fr_outcome *out) {
    struct fr_plan plan = *given;
    int64_t *layers = fr_calloc((size_t)plan.pp, sizeof *layers);
    if (layers && fr_stage_layers_best(job, &plan, layers, NULL) == FR_OK) {
        plan.stage_layers = layers;
        plan.n_stage_layers = (int)plan.pp;
    }
    (plan.layer_tp_best ? cost_grids : fr_cost)(job, &plan, out);
    out->plan.stage_layers = NULL;
    out->plan.n_stage_layers = 0;
    free(layers);
}

void fr_cost_chosen(const struct fr_job *job, const struct fr_plan *plan,
                    struct fr_outcome *out) {
    if (plan->stage_layers_best)
        cost_stages(job, plan, out);
    else if (plan->layer_tp_best)
        cost_grids(job, plan, out);
    else
        fr_cost(job, plan, out);
}
