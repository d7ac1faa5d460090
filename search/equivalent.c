#include "search/equivalent.h"

#include "models/plan/recompute.h"
#include "models/price/rank_map.h"
#include "models/workload/hybrid.h"

static bool one_chunk(const struct fr_workload *model, const struct fr_plan *plan) {
    (void)model;
    return plan->schedule == &fr_schedule_interleaved && plan->chunks == 1;
}

/* An order of axes that is the program's own, but for axes of one rank. */
static bool is_linear(const struct fr_workload *model, const struct fr_plan *plan) {
    (void)model;
    if (plan->placement.row != &fr_placement_by_axis) return false;
    struct fr_mesh mesh = fr_rank_map_mesh(plan);
    int at = 0;
    for (int i = 0; i < FR_MESH_AXES; i++) {
        int axis = plan->placement.order[i];
        if (mesh.size[axis] == 1) continue;
        while (at < FR_MESH_AXES && mesh.size[mesh.order[at]] == 1) at++;
        if (mesh.order[at++] != axis) return false;
    }
    return true;
}

static bool whole_experts(const struct fr_workload *model, const struct fr_plan *plan) {
    (void)model;
    return plan->etp == plan->tp;
}

/* The earlier stages take one layer more; where chunks outnumber layers the default is another. */
static bool equal_layers(const struct fr_workload *model, const struct fr_plan *plan) {
    if (plan->stage_layers_best && plan->pp == 1) return true;
    if (!model || !plan->stage_layers || plan->n_stage_layers != plan->pp) return false;
    double layers = (double)model->transformer.layers;
    for (int k = 0; k < model->n_layers; k++) layers += model->layers[k].repeat;
    int64_t n = (int64_t)layers;
    if (plan->pp * plan->chunks > n) return false;
    for (int64_t i = 0; i < plan->pp; i++)
        if (plan->stage_layers[i] != n / plan->pp + (i < n % plan->pp)) return false;
    return true;
}

int64_t fr_equivalent_uniform(const struct fr_plan *plan) {
    if (!plan->layer_tp || plan->n_layer_tp < 1) return 0;
    for (int i = 1; i < plan->n_layer_tp; i++)
        if (plan->layer_tp[i] != plan->layer_tp[0]) return 0;
    return plan->layer_tp[0];
}

/* Groups of a transformer on the plan's own grid. */
static bool own_grids(const struct fr_workload *model, const struct fr_plan *plan) {
    return model && model->transformer.layers > 0 && !plan->pairs &&
           plan->n_layer_tp == FR_GRIDS && fr_equivalent_uniform(plan) == plan->tp;
}

/* Do branches on one rank make what tensor makes?  Not of transformers: memory of branches is counted at fewer moments
 * (models/outcome/moments.h).  Nor over stages, whose ranks they number in another order. */
static bool branches_are_whole(const struct fr_workload *model, const struct fr_plan *plan) {
    return plan->pp == 1 && model->transformer.layers == 0;
}

/* One row of a grid has nothing to gather or to reduce, and one sub-grid no slices to exchange: data parallelism, as
 * tensor with tp 1.  Stages of branches lie side by side, others apart: there it is another plan. */
static bool one_row(const struct fr_workload *model, const struct fr_plan *plan) {
    if (!model || plan->tp > 1 || plan->layer_tp || plan->layer_tp_best) return false;
    if (plan->method->branches && !branches_are_whole(model, plan)) return false;
    if (!plan->method->grids && !plan->method->branches) return false;
    if (model->transformer.layers > 0) return true;
    if (model->n_layers == 0) return false;
    for (int k = 0; k < model->n_layers; k++)
        if (!model->layers[k].fully_connected) return false;
    return true;
}

/* Forward alone there is nothing to divide but parameters. */
static bool nothing_divided(const struct fr_workload *model, const struct fr_plan *plan) {
    (void)model;
    return plan->forward && (plan->zero == 1 || plan->zero == 2);
}

const struct fr_equivalent fr_equivalent_keys[] = {
    {FR_PLAN_KEY_schedule, one_chunk},   {FR_PLAN_KEY_placement, is_linear},
    {FR_PLAN_KEY_etp, whole_experts},    {FR_PLAN_KEY_stage_layers, equal_layers},
    {FR_PLAN_KEY_layer_tp, own_grids},   {FR_PLAN_KEY_method, one_row},
    {FR_PLAN_KEY_zero, nothing_divided}, {0, NULL}};
