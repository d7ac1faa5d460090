/** @file
 *  Which ranks hold the same parameters, and how do `zero` and `zero_ranks` divide these?
 *
 *  A stage's parameters are of a few kinds.  Each kind has copies of its own, over which its gradients are reduced
 *  and its state may be divided.  Parameters divided over tp, or not at all, have D = dp cp copies.  An expert has dp
 *  cp tp / (ep etp), and a sub-graph's common layers have tp dp.  A group of products on a grid of P_r rows has R /
 *  P_r, among the R = tp dp cp ranks of a stage.
 *
 *  Among N copies, Z = min(zero_ranks, N) neighbours divide what zero divides (all N where zero_ranks is not given).
 *  N / Z such groups hold the same (hybrid sharding, HSDP). */
#ifndef FR_MODELS_PLAN_COPIES_H
#define FR_MODELS_PLAN_COPIES_H

#include "models/plan/plan.h"

/** Groups of a transformer's products, as `layer_tp` lists them. */
enum { FR_GRID_ATTENTION, FR_GRID_MLP, FR_GRID_ENDS, FR_GRIDS };

typedef enum {
    FR_COPIES_REST,
    FR_COPIES_EXPERTS,
    FR_COPIES_COMMON,    /**< of method subgraph */
    FR_COPIES_ATTENTION, /**< of a grid of its own, and so on */
    FR_COPIES_MLP,
    FR_COPIES_ENDS,
    FR_COPIES
} fr_copies;

/** P_r of a group of a transformer's products. */
static inline int64_t fr_plan_grid(const struct fr_plan *plan, int group) {
    return plan->layer_tp && plan->n_layer_tp == FR_GRIDS ? plan->layer_tp[group] : plan->tp;
}
/** Has the group a grid that is not the plan's? */
static inline bool fr_plan_own_grid(const struct fr_plan *plan, int group) {
    return fr_plan_grid(plan, group) != plan->tp;
}

/** Over how many a transformer's message between stages is gathered: the activations on the attention's
 *  grid, their gradients on the MLP's; of both the larger. */
static inline int64_t fr_plan_arriving(const struct fr_plan *plan) {
    int64_t a = fr_plan_grid(plan, FR_GRID_ATTENTION), m = fr_plan_grid(plan, FR_GRID_MLP);
    return a > m ? a : m;
}

/** How many hold the same; 0 of a kind that the plan cannot have. */
static inline int64_t fr_plan_copies(const struct fr_plan *plan, fr_copies kind) {
    int64_t replicas = fr_plan_replicas(plan);
    if (kind == FR_COPIES_REST) return replicas;
    if (kind == FR_COPIES_EXPERTS) return fr_plan_expert_copies(plan);
    if (kind == FR_COPIES_COMMON) return plan->common_subgrid ? replicas : replicas * plan->tp;
    return replicas * plan->tp / fr_plan_grid(plan, (int)kind - FR_COPIES_ATTENTION);
}

/** How many of them divide what zero divides. */
static inline int64_t fr_plan_dividing(const struct fr_plan *plan, fr_copies kind) {
    int64_t copies = fr_plan_copies(plan, kind);
    return plan->zero_ranks > 0 && plan->zero_ranks < copies ? plan->zero_ranks : copies;
}

#endif
