#include "search/chosen.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "models/outcome/iteration.h"
#include "search/layer_grids.h"
#include "search/stage_layers.h"
#include "search/stage_ranks.h"

fr_status fr_job_choose(struct fr_job *job, fr_reasons *lacks, struct fr_error *err) {
    struct fr_error why = {.status = FR_OK};
    fr_status grids = fr_layer_grids_choose(job, &why), stages = FR_OK;
    if (grids != FR_ERR_NOMEM) stages = fr_stage_layers_choose(job, &why);
    if (grids != FR_ERR_NOMEM && stages == FR_OK) stages = fr_stage_ranks_choose(job, &why);
    *lacks = (grids != FR_OK ? FR_BECAUSE(FR_REASON_LAYER_TP) : 0) |
             (stages != FR_OK ? FR_BECAUSE(FR_REASON_STAGES) : 0);
    if (grids != FR_ERR_NOMEM && stages != FR_ERR_NOMEM) return FR_OK;
    if (err) *err = why;
    return FR_ERR_NOMEM;
}

void fr_chosen_refuse(fr_reasons lacks, struct fr_outcome *out) {
    const struct fr_plan plan = out->plan;
    const char *engine = out->engine;
    if (!lacks || out->reasons) return;
    fr_pipeline_refuse(&plan, lacks, out);
    out->engine = engine;
}

/* Ranks of stages come last: they are of stages whose layers and grids are known. */
static void cost_ranks(const struct fr_job *job, const struct fr_plan *given,
                       struct fr_outcome *out) {
    struct fr_plan plan = *given;
    if (!plan.gradient_ranks_best) {
        fr_cost(job, &plan, out);
        return;
    }
    int64_t n = plan.compression.gradient_stages;
    int64_t *ranks = n > 0 && n <= plan.pp ? fr_calloc((size_t)n, sizeof *ranks) : NULL;
    if (ranks && fr_stage_ranks_best(job, &plan, ranks, NULL) == FR_OK) {
        plan.gradient_ranks = ranks;
        plan.n_gradient_ranks = (int)n;
        plan.gradient_ranks_best = false;
        plan.compression.gradient_rank = fr_plan_default().compression.gradient_rank;
    }
    fr_cost(job, &plan, out);
    out->plan.compression.gradient_rank = given->compression.gradient_rank;
    out->plan.gradient_ranks = NULL;
    out->plan.n_gradient_ranks = 0;
    out->plan.gradient_ranks_best = true;
    free(ranks);
}

static void cost_grids(const struct fr_job *job, const struct fr_plan *given,
                       struct fr_outcome *out) {
    struct fr_plan plan = *given;
    int n = job->workload.transformer.layers > 0 ? FR_GRIDS : job->workload.n_layers;
    int64_t *grids = fr_calloc((size_t)n + 1, sizeof *grids);
    bool chosen = grids && fr_layer_grids_best(job, &plan, grids, NULL) == FR_OK;
    if (chosen) {
        plan.layer_tp = grids;
        plan.n_layer_tp = n;
    }
    cost_ranks(job, &plan, out);
    fr_chosen_refuse(chosen ? 0 : FR_BECAUSE(FR_REASON_LAYER_TP), out);
    out->plan.layer_tp = NULL;
    out->plan.n_layer_tp = 0;
    free(grids);
}

/* Where both are to be chosen, stages as for a plan of one grid, then grids. */
static void cost_stages(const struct fr_job *job, const struct fr_plan *given,
                        struct fr_outcome *out) {
    struct fr_plan plan = *given;
    bool enough = fr_stage_layers_enough(&job->workload, plan.pp);
    int64_t *layers = enough ? fr_calloc((size_t)plan.pp, sizeof *layers) : NULL;
    bool chosen = layers && fr_stage_layers_best(job, &plan, layers, NULL) == FR_OK;
    if (chosen) {
        plan.stage_layers = layers;
        plan.n_stage_layers = (int)plan.pp;
    }
    (plan.layer_tp_best ? cost_grids : cost_ranks)(job, &plan, out);
    fr_chosen_refuse(chosen ? 0 : FR_BECAUSE(FR_REASON_STAGES), out);
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
        cost_ranks(job, plan, out);
}
