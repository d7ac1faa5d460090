#include "models/work/subgraph.h"

#include <math.h>

/* One stage as its branches and common layers see it. */
struct view {
    const struct fr_transformer *t;
    const struct fr_plan *plan;
    double g, value_B;
    double batch, common_batch; /* samples in branches, in common layers of the busiest rank */
    double T, C;                /* tokens likewise */
    double h, f, q, kv, mlp;
    double layers, attentions; /* of the stage; a layer with cross-attention has two */
    bool heads_only, mlp_too;  /* branches "heads", "layer" */
};

static struct view view_of(const struct fr_workload *workload, const struct fr_plan *plan,
                           int64_t i) {
    const struct fr_transformer *t = &workload->transformer;
    double g = (double)plan->tp, b = (double)fr_plan_micro_batch(plan);
    struct view v = {.t = t,
                     .plan = plan,
                     .g = g,
                     .value_B = fr_dtype_size_B(workload->dtype),
                     .batch = b,
                     .common_batch = plan->common_subgrid ? b : b / g,
                     .h = (double)t->hidden,
                     .f = (double)t->ffn,
                     .q = (double)(t->heads * t->head_dim),
                     .kv = (double)(t->kv_heads * t->head_dim),
                     .mlp = t->gated ? 3 : 2,
                     .layers = (double)fr_transformer_stage_layers(t, plan, i),
                     .heads_only = plan->branches == FR_BRANCHES_HEADS,
                     .mlp_too = plan->branches == FR_BRANCHES_LAYER};
    v.attentions = v.layers + (double)fr_transformer_stage_cross(t, plan, i);
    v.T = v.batch * (double)t->sequence / (double)plan->cp;
    v.C = v.common_batch * (double)t->sequence / (double)plan->cp;
    return v;
}

fr_reasons fr_subgraph_check(const struct fr_workload *workload, const struct fr_plan *plan) {
    const struct fr_transformer *t = &workload->transformer;
    struct fr_plan one_way = *plan;
    one_way.tp = 1;
    fr_reasons reasons = fr_transformer_check(workload, &one_way);
    if (plan->sequence_parallel || t->experts > 0) reasons |= FR_BECAUSE(FR_REASON_METHOD);
    int64_t ways = plan->tp * (plan->context_heads && plan->cp > 1 ? plan->cp : 1);
    if (t->heads % ways != 0 || t->kv_heads % ways != 0 ||
        (plan->branches == FR_BRANCHES_LAYER && t->ffn % plan->tp != 0) ||
        (!plan->common_subgrid && fr_plan_micro_batch(plan) % plan->tp != 0))
        reasons |= FR_BECAUSE(FR_REASON_BRANCHES);
    return reasons;
}

/* ---- products --------------------------------------------------------------------------------- */

static void add_product(struct fr_rank_work *work, double m, double n, double k, double batch,
                        double times, bool made, bool again, fr_axis copies, bool common) {
    fr_work_add_product(work, &(struct fr_product){.m = m,
                                                   .n = n,
                                                   .k = k,
                                                   .batch = batch,
                                                   .times = times,
                                                   .made = made,
                                                   .again = again,
                                                   .copies = copies,
                                                   .common = common});
}

static void add_common_products(const struct view *v, struct fr_rank_work *work) {
    bool full = v->plan->recompute == FR_RECOMPUTE_FULL;
    double b = v->common_batch;
    fr_axis copies = v->g > 1 ? FR_AXIS_COMMON : FR_AXIS_DP; /* see add_parameters */
    if (v->heads_only) {
        add_product(work, v->q + 2 * v->kv, v->C, v->h, b, v->attentions, true, full, copies,
                    true);
        add_product(work, v->h, v->C, v->q, b, v->attentions, false, full, copies, true);
    }
    if (!v->mlp_too) {
        add_product(work, v->f, v->C, v->h, b, v->layers * (v->mlp - 1), true, full, copies,
                    true);
        add_product(work, v->h, v->C, v->f, b, v->layers, false, full, copies, true);
    }
}

static void add_branch_products(const struct view *v, struct fr_rank_work *work) {
    bool full = v->plan->recompute == FR_RECOMPUTE_FULL;
    double b = v->batch, attended = v->attentions * b * (double)v->t->heads / v->g /
                                    fr_context_heads(v->plan);
    if (!v->heads_only) {
        add_product(work, (v->q + 2 * v->kv) / v->g, v->T, v->h, b, v->attentions, true, full,
                    FR_AXIS_DP, false);
        add_product(work, v->h, v->T, v->q / v->g, b, v->attentions, false, full, FR_AXIS_DP,
                    false);
    }
    fr_transformer_add_core(work, v->t, v->plan,
                            fr_context_queries(v->plan, (double)v->t->sequence), b, attended);
    if (!v->mlp_too) return;
    add_product(work, v->f / v->g, v->T, v->h, b, v->layers * (v->mlp - 1), true, full,
                FR_AXIS_DP, false);
    add_product(work, v->h, v->T, v->f / v->g, b, v->layers, false, full, FR_AXIS_DP, false);
}

/* ---- exchanges --------------------------------------------------------------------------------- */

/* Bytes that the exchanges of a stage pack and unpack, forward. */
struct packed {
    double kernels, moved_B;
};

/* One kind of joint both ways: what the forward pass does, and its mirror backward.  The host waits;
 * each is packed before and unpacked after it (the transposes of the paper's Figure 10). */
static void add_joint(const struct view *v, fr_op forward, fr_op backward, double values,
                      double times, struct fr_rank_work *work, struct packed *packed) {
    double size_B = values * v->value_B;
    static const fr_pass_kind passes[] = {FR_PASS_FORWARD, FR_PASS_INPUT, FR_PASS_AGAIN};
    int n = v->plan->recompute == FR_RECOMPUTE_FULL ? 3 : 2;
    for (int k = 0; k < n; k++)
        fr_work_add_collective(work, passes[k], FR_AXIS_TP, k == 1 ? backward : forward, size_B,
                               times)
            ->stalls = true;
    packed->kernels += 2 * times;
    packed->moved_B += 4 * times * size_B;
    work->working_B = fmax(work->working_B, size_B);
}

/* Slices of @p width values a token, and their concatenation the other way round. */
static void add_slices(const struct view *v, double width, double slices, double joins,
                       struct fr_rank_work *work, struct packed *packed) {
    if (v->plan->common_subgrid) {
        if (slices > 0)
            add_joint(v, FR_OP_SCATTER, FR_OP_GATHER, v->T * width, slices, work, packed);
        if (joins > 0)
            add_joint(v, FR_OP_GATHER, FR_OP_SCATTER, v->T * width, joins, work, packed);
    } else if (v->plan->gather_all)
        add_joint(v, FR_OP_ALL_GATHER, FR_OP_ALL_GATHER, v->g * v->C * width, slices + joins,
                  work, packed);
    else
        add_joint(v, FR_OP_ALL_TO_ALL, FR_OP_ALL_TO_ALL, v->C * width, slices + joins, work,
                  packed);
}

static struct packed add_exchanges(const struct view *v, struct fr_rank_work *work) {
    struct packed all = {0, 0}, *packed = &all;
    double splits = v->attentions + (v->mlp_too ? v->layers : 0),
           crossings =
               v->attentions - v->layers; /* whose keys' and values' input is split too */
    if (v->g < 2) return all;
    if (v->heads_only) { /* queries, keys and values are sliced apart, then heads concatenated */
        add_slices(v, v->q, v->attentions, v->attentions, work, packed);
        add_slices(v, v->kv, 2 * v->attentions, 0, work, packed);
    } else if (v->plan->common_subgrid) {
        add_joint(v, FR_OP_BROADCAST, FR_OP_REDUCE, v->T * v->h, splits, work, packed);
        add_joint(v, FR_OP_REDUCE, FR_OP_BROADCAST, v->T * v->h, splits, work, packed);
        if (crossings > 0)
            add_joint(v, FR_OP_BROADCAST, FR_OP_REDUCE, v->T * v->h, crossings, work, packed);
    } else {
        add_joint(v, FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER, v->T * v->h, splits, work, packed);
        add_joint(v, FR_OP_REDUCE_SCATTER, FR_OP_ALL_GATHER, v->T * v->h, splits, work, packed);
        if (crossings > 0)
            add_joint(v, FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER, v->T * v->h, crossings, work,
                      packed);
    }
    return all;
}

/* ---- the rest ---------------------------------------------------------------------------------- */

static void count_kernels(const struct view *v, struct fr_stage_share *share) {
    double heads = v->attentions * fr_transformer_head_kernels(v->t, v->plan->tp);
    double branch =
        heads + (v->mlp_too ? v->layers * v->mlp : 0) + (v->heads_only ? 0 : 2 * v->attentions);
    double all = v->layers * fr_transformer_layer_kernels(v->t, v->plan->tp) +
                 (v->attentions - v->layers) * fr_transformer_cross_kernels(v->t, v->plan->tp);
    share->kernels += all;
    share->common_kernels = all - branch;
    share->again_kernels = v->plan->recompute == FR_RECOMPUTE_FULL   ? all
                           : v->plan->recompute == FR_RECOMPUTE_NONE ? 0
                                                                     : heads;
}

/* Kernels of single operations, in branches and in common layers. */
static struct fr_unfused unfused(const struct view *v, double hidden) {
    double tokens = v->heads_only ? v->C : v->T / v->g;
    return fr_unfused_of(&(struct fr_unfused_sizes){.t = v->t,
                                                    .plan = v->plan,
                                                    .attentions = v->attentions,
                                                    .dense = v->layers,
                                                    .queries = tokens * v->q,
                                                    .keys = tokens * v->kv,
                                                    .values = tokens * v->kv,
                                                    .hidden = hidden,
                                                    .attention_stream = v->C * v->h,
                                                    .mlp_stream = v->C * v->h,
                                                    .value_B = v->value_B});
}

/* Element-wise traffic and what is kept for the backward pass: the terms of models/work/transformer.c,
 * tokens of the common layers and of the branches told apart. */
static void add_memory(const struct view *v, const struct packed *packed,
                       struct fr_rank_work *work) {
    double s = (double)v->t->sequence,
           joints = v->attentions + v->layers;             /* norm and residual */
    bool flash = v->plan->attention != FR_ATTENTION_PLAIN; /* keeps no scores */
    double scores = flash ? 0
                          : v->attentions * v->batch * (double)v->t->heads / v->g * s * s /
                                (double)v->plan->cp;
    double up = v->f * (v->mlp_too ? v->T / v->g : v->C);
    double common = (FR_NORM_PASSES + 3) * joints * v->C * v->h +
                    (v->mlp_too ? 0 : 2 * v->layers * (v->mlp - 1) * up);
    double moved = (FR_NORM_PASSES + 3) * joints * v->C * v->h +
                   2 * v->layers * (v->mlp - 1) * up + FR_SOFTMAX_PASSES * scores;
    double inputs = v->heads_only ? v->C : v->T, mlp_inputs = v->mlp_too ? v->T : v->C;
    double heads = (2 * v->q + 2 * v->kv) * (v->heads_only ? v->C : v->T / v->g);
    double saved = joints * v->C * v->h + v->attentions * (inputs * v->h + heads) +
                   v->layers * (mlp_inputs * v->h + v->mlp * up);
    double core_B = fr_transformer_score_B(v->t, v->value_B) * scores;
    double all_B =
        saved * v->value_B + fr_transformer_mask_B(v->t) * joints * v->C * v->h + core_B;
    struct fr_stage_share share = {.forward_B = moved * v->value_B + packed->moved_B,
                                   .once_B = packed->moved_B,
                                   .kernels = packed->kernels,
                                   .norm_B = FR_NORM_PASSES * joints * v->C * v->h * v->value_B,
                                   .softmax_B = FR_SOFTMAX_PASSES * scores * v->value_B,
                                   .common_B = common * v->value_B,
                                   .common_norm_B =
                                       FR_NORM_PASSES * joints * v->C * v->h * v->value_B};
    count_kernels(v, &share);
    share.apart = unfused(v, up);
    if (v->t->gated && v->plan->recompute != FR_RECOMPUTE_FULL)
        work->apart_B = v->layers * up * v->value_B;
    fr_transformer_add_share(work, &share, v->layers, v->plan->recompute);
    if (v->plan->recompute == FR_RECOMPUTE_NONE) {
        work->activation_B += all_B;
    } else if (v->plan->recompute == FR_RECOMPUTE_FULL) {
        work->activation_B += v->layers * v->C * v->h * v->value_B;
        work->working_B += v->layers > 0 ? all_B / v->layers : 0;
    } else {
        work->activation_B += all_B - core_B;
        work->working_B += v->layers > 0 ? core_B / v->layers : 0;
    }
}

static void add_parameters(const struct view *v, bool first, bool last,
                           struct fr_rank_work *work) {
    struct fr_transformer_parts p = fr_transformer_layer_parts(v->t);
    double embedding = (double)fr_transformer_padded_vocabulary(v->t, 1) * v->h;
    double attention = v->attentions * p.attention, mlp = v->layers * p.mlp;
    double branch = (v->heads_only ? 0 : attention) + (v->mlp_too ? mlp : 0);
    double common = attention + mlp - branch + v->layers * p.replicated +
                    (v->attentions - v->layers) * p.cross_replicated;
    if (first) common += embedding + (v->t->positions ? (double)v->t->sequence * v->h : 0);
    if (last) common += v->h * (v->t->norm_biases ? 2 : 1) + (v->t->tied ? 0 : embedding);
    work->parameters = common + branch;
    if (last && !first && v->t->tied) common += embedding; /* a copy */
    work->parameters_rank = common + branch / v->g;
    /* One way: all ranks are one sub-grid, and one all-reduce serves both. */
    work->common_rank = v->g < 2 ? 0 : common;
    if (v->t->tied && (first || last)) work->embedding_rank = embedding;
}

static void add_ends(const struct view *v, bool first, bool last, struct fr_rank_work *work) {
    const struct fr_ends ends = {.tokens = v->C,
                                 .batch = v->common_batch,
                                 .words = (double)fr_transformer_padded_vocabulary(v->t, 1),
                                 .value_B = v->value_B,
                                 .saved = v->h,
                                 .logits_saved = v->h,
                                 .loss = v->plan->loss,
                                 .common = true};
    fr_transformer_add_ends(work, v->t, first, last, &ends);
}

void fr_subgraph_stage(const struct fr_workload *workload, const struct fr_plan *plan,
                       int64_t i, struct fr_rank_work *work) {
    struct view v = view_of(workload, plan, i);
    bool first = i == 0, last = i == fr_plan_last_stage(plan);
    fr_work_begin(work);
    work->layers = v.layers;
    add_parameters(&v, first, last, work);
    add_common_products(&v, work);
    add_branch_products(&v, work);
    const struct packed packed = add_exchanges(&v, work);
    fr_transformer_add_context(
        work, v.t, plan,
        &(struct fr_context){v.q, 2 * v.kv, v.q, v.g, v.T, v.batch, v.value_B, v.attentions});
    add_memory(&v, &packed, work);
    work->n_layer_ops = work->n_ops;
    add_ends(&v, first, last, work);
    if (plan->common_subgrid) work->idle_ranks = (v.g - 1) / v.g;
}
