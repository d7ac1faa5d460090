#include "models/work/layers.h"

#include <math.h>

#include "base/extremes.h"
#include "models/work/domain.h"

static int64_t layer_count(const struct fr_workload *w) {
    double count = 0;
    for (int i = 0; i < w->n_layers; i++) count += w->layers[i].repeat;
    return (int64_t)count;
}

/* Layers of stages before @p i. */
static double first_layer(const struct fr_workload *w, const struct fr_plan *plan, int64_t i) {
    int64_t before = 0;
    if (!plan->stage_layers) {
        int64_t layers = layer_count(w),
                more = layers % plan->pp; /* the earlier stages take one more */
        return (double)(i * (layers / plan->pp) + (i < more ? i : more));
    }
    for (int64_t k = 0; k < i; k++) before += plan->stage_layers[k];
    return (double)before;
}

/* ---- the grid of a layer --------------------------------------------------------------------- */

static struct fr_shard shard_of(const struct fr_plan *plan, int64_t tp, int64_t dp,
                                double micro_batch) {
    return (struct fr_shard){.tp = (double)tp,
                             .dp = (double)dp,
                             .ghost = (double)plan->ghost,
                             .batch = micro_batch,
                             .common_subgrid = plan->common_subgrid,
                             .gather_all = plan->gather_all};
}

static int64_t micro_batch_of(const struct fr_plan *plan, int64_t batch) {
    return plan->micro_batch ? plan->micro_batch : plan->pp > 1 ? 1 : batch / plan->dp;
}

/* The grid of entry @p k, where it has its own: unless the plan says otherwise all samples of a rank at once. */
static void take_grid(struct fr_layers *l, int k) {
    const struct fr_plan *plan = l->part.plan;
    int64_t tp = plan->layer_tp[k], dp = fr_plan_ranks(plan) / tp;
    double own = (double)l->batch / (double)dp,
           micro = plan->micro_batch ? (double)plan->micro_batch : own;
    l->part.shard = shard_of(plan, tp, dp, micro);
    l->micro_batches = own / micro;
    l->passes = l->micro_batches / l->of_stage;
}

/* ---- entry by entry ---------------------------------------------------------------------------- */

struct fr_layers fr_layers_of(const struct fr_workload *workload, const struct fr_plan *plan,
                              int64_t batch, int64_t i) {
    bool one = plan->pp == 1;
    double micro = (double)micro_batch_of(plan, batch),
           micro_batches = (double)batch / (double)plan->dp / micro;
    return (struct fr_layers){.part = {.workload = workload,
                                       .plan = plan,
                                       .stage = i,
                                       .shard = shard_of(plan, plan->tp, plan->dp, micro)},
                              .entry = -1,
                              .micro_batches = micro_batches,
                              .passes = 1,
                              .of_stage = micro_batches,
                              .from = one ? 0 : first_layer(workload, plan, i),
                              .to = one ? INFINITY : first_layer(workload, plan, i + 1),
                              .batch = batch};
}

bool fr_layers_next(struct fr_layers *l) {
    const struct fr_workload *w = l->part.workload;
    while (++l->entry < w->n_layers) {
        const struct fr_layer *layer = &w->layers[l->entry];
        double begin = fr_larger(l->at, l->from),
               end = fr_smaller(l->at + layer->repeat, l->to);
        l->at += layer->repeat;
        if (end <= begin) continue;
        l->n = end - begin;
        l->part.layer = layer;
        if (l->part.plan->layer_tp) take_grid(l, l->entry);
        l->part.shard.by_height = fr_domain_divides(l->part.plan, l->entry);
        return true;
    }
    return false;
}

void fr_layers_lower(const struct fr_layers *l, struct fr_rank_work *work) {
    l->part.plan->method->lower(&l->part, work);
    if (l->part.plan->forward) fr_work_keep_forward(work);
}

int fr_layers_above(const struct fr_workload *workload, const struct fr_plan *plan, int64_t i) {
    if (i == plan->pp - 1) return plan->chunks > 1 ? 0 : -1;
    double to = first_layer(workload, plan, i + 1), end = 0;
    int k = 0;
    while (k < workload->n_layers && (end += workload->layers[k].repeat) <= to) k++;
    return k < workload->n_layers ? k : -1;
}

/* ---- what cannot be -------------------------------------------------------------------------- */

/* Entries from @p k on that share a grid of @p tp rows. */
static fr_reasons check_entries(const struct fr_workload *workload, const struct fr_plan *plan,
                                int64_t batch, int64_t tp, int k, int to) {
    int64_t ranks = fr_plan_ranks(plan) / plan->pp;
    fr_reasons reasons = 0;
    if (ranks % tp != 0 ||
        batch % (ranks / tp) != 0) /* for the plan's own axes it is reported as such */
        return plan->layer_tp ? FR_BECAUSE(FR_REASON_LAYER_TP) : 0;
    bool whole = plan->layer_tp && !plan->micro_batch;
    int64_t micro = whole ? batch * tp / ranks : micro_batch_of(plan, batch);
    struct fr_work_part part = {.workload = workload,
                                .plan = plan,
                                .shard = shard_of(plan, tp, ranks / tp, (double)micro)};
    for (; k < to; k++) {
        part.layer = &workload->layers[k];
        part.shard.by_height = fr_domain_divides(plan, k);
        reasons |= plan->method->check(&part);
    }
    return reasons;
}

/* A grid for every layer, of a method that has them, where ranks lie in their order. */
static fr_reasons check_grids(const struct fr_workload *workload, const struct fr_plan *plan) {
    fr_reasons reasons = 0;
    if (!plan->layer_tp) return 0;
    if (!plan->method->grids || plan->n_layer_tp != workload->n_layers)
        reasons |= FR_BECAUSE(FR_REASON_LAYER_TP);
    if (!plan->placement.row->in_order) reasons |= FR_BECAUSE(FR_REASON_PLACEMENT);
    return reasons;
}

static fr_reasons check_stages(const struct fr_workload *workload, const struct fr_plan *plan) {
    fr_reasons reasons = 0;
    int64_t layers = layer_count(workload), listed = 0;
    for (int k = 0; k < plan->n_stage_layers; k++) listed += plan->stage_layers[k];
    bool fits = plan->stage_layers ? plan->n_stage_layers == plan->pp && listed == layers
                                   : plan->pp * plan->chunks <= layers;
    if (!fits) reasons |= FR_BECAUSE(FR_REASON_STAGES);
    if (plan->layer_tp) reasons |= FR_BECAUSE(FR_REASON_PIPELINE);
    if (plan->chunks > 1 && workload->n_layers > 1) reasons |= FR_BECAUSE(FR_REASON_SCHEDULE);
    return reasons;
}

fr_reasons fr_layers_check(const struct fr_workload *workload, const struct fr_plan *plan,
                           int64_t batch, bool staged) {
    fr_reasons reasons = check_grids(workload, plan);
    int n = workload->n_layers;
    if (staged) reasons |= check_stages(workload, plan);
    if (reasons & FR_BECAUSE(FR_REASON_LAYER_TP)) return reasons;
    if (!plan->layer_tp) return reasons | check_entries(workload, plan, batch, plan->tp, 0, n);
    for (int k = 0; k < n; k++)
        reasons |= check_entries(workload, plan, batch, plan->layer_tp[k], k, k + 1);
    return reasons;
}
