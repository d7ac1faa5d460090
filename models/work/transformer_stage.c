/* A transformer's stage as operations: method tensor's division (models/work/transformer.h). */
#include <math.h>

#include "models/work/experts.h"
#include "models/work/transformer.h"

/* One stage on one rank. */
struct view {
    const struct fr_transformer *t;
    const struct fr_plan *plan;
    double h, q, kv, mlp; /* widths; matrices of the MLP */
    double tp, between;   /* ranks that divide products, and what is between them */
    double batch, s, own, tokens, value_B;
    double layers, cross, attentions;
    double heads, scores;            /* of a rank; of an attention, in memory */
    double rows, wide, etp, experts; /* of the MLP, or of the experts on the rank */
    bool full, any;                  /* any: something is recomputed */
    bool gathers;                    /* sequence parallel: inputs, beside their gradients */
};

static struct view view_of(const struct fr_workload *workload, const struct fr_plan *plan,
                           int64_t i) {
    const struct fr_transformer *t = &workload->transformer;
    struct view v = {.t = t,
                     .plan = plan,
                     .h = (double)t->hidden,
                     .q = (double)(t->heads * t->head_dim),
                     .kv = (double)(t->kv_heads * t->head_dim),
                     .mlp = t->gated ? 3 : 2,
                     .tp = (double)plan->tp,
                     .between = plan->sequence_parallel ? (double)plan->tp : 1,
                     .batch = (double)fr_plan_micro_batch(plan),
                     .s = (double)t->sequence,
                     .value_B = fr_dtype_kept_B(workload->dtype),
                     .layers = (double)fr_transformer_stage_layers(t, plan, i),
                     .cross = (double)fr_transformer_stage_cross(t, plan, i),
                     .heads = (double)t->heads / (double)plan->tp,
                     .etp = (double)fr_plan_expert_tp(plan),
                     .full = plan->recompute == FR_RECOMPUTE_FULL,
                     .any = plan->recompute != FR_RECOMPUTE_NONE,
                     .gathers = plan->sequence_parallel && plan->tp > 1};
    /* Each of cp ranks has a share of the queries, and attends to all keys. */
    v.own = v.s / (double)plan->cp;
    v.tokens = v.batch * v.own;
    v.attentions = v.layers + v.cross; /* cross-attention attends to as many tokens */
    if (plan->attention == FR_ATTENTION_PLAIN) v.scores = v.batch * v.heads * v.s * v.own;
    /* Rows of the MLP and its width; with experts each token makes several rows. */
    v.rows = t->experts ? v.tokens * v.etp / v.tp * (double)t->experts_per_token : v.tokens;
    v.wide = (double)(t->experts ? t->expert_ffn : t->ffn);
    v.experts = t->experts ? (double)t->experts / (double)plan->ep : 1;
    return v;
}

/* ---- products ------------------------------------------------------------------------------------ */

static void add_product(const struct view *v, double m, double n, double k, double times,
                        double regathers, struct fr_rank_work *work) {
    fr_work_add_product(work,
                        &(struct fr_product){.m = m,
                                             .n = n,
                                             .k = k,
                                             .batch = v->batch,
                                             .times = times,
                                             .again = v->full,
                                             .regathers = v->gathers ? regathers : 0,
                                             .regather_B = v->tokens * v->h * v->value_B});
}

/* MLPs that go over tp: whole experts take what a rank has of the sequence. */
static double mlps_over_tp(const struct view *v) {
    return v->t->experts && v->etp < v->tp ? 0 : v->layers;
}

static void add_products(const struct view *v, struct fr_rank_work *work) {
    const struct fr_transformer *t = v->t;
    double each = v->tokens;
    if (t->experts) each = fr_experts_rows(v->rows / v->experts * fr_experts_load(t));
    add_product(v, (v->q + 2 * v->kv) / v->tp, v->tokens, v->h, v->attentions, v->attentions,
                work);
    fr_transformer_add_core(work, t, v->plan, v->own, v->batch,
                            v->attentions * v->batch * v->heads);
    add_product(v, v->h, v->tokens, v->q / v->tp, v->attentions, 0, work);
    add_product(v, v->wide / v->etp, each, v->h, v->layers * (v->mlp - 1) * v->experts,
                mlps_over_tp(v), work);
    add_product(v, v->h, each, v->wide / v->etp, v->layers * v->experts, 0, work);
}

/* ---- collectives --------------------------------------------------------------------------------- */

static const fr_pass_kind passes[] = {FR_PASS_FORWARD, FR_PASS_INPUT, FR_PASS_AGAIN};

/* What goes between the products, once an attention and once an MLP: each way one all-reduce, or a
 * gather before and a scatter after. */
static void add_layer_tp(const struct view *v, struct fr_rank_work *work) {
    double twice = v->attentions + mlps_over_tp(v), size_B = v->tokens * v->h * v->value_B;
    for (int k = 0; k < (v->full ? 3 : 2) && v->tp > 1; k++) {
        fr_op op = v->gathers ? FR_OP_ALL_GATHER : FR_OP_ALL_REDUCE;
        fr_work_add_collective(work, passes[k], FR_AXIS_TP, op, size_B, twice);
        if (v->gathers)
            fr_work_add_collective(work, passes[k], FR_AXIS_TP, FR_OP_REDUCE_SCATTER, size_B,
                                   twice);
    }
}

/* Context parallel: the keys and values of the other ranks come in beside the attention that uses
 * them (a ring), and their gradients go back; attention that is recomputed asks for them once more. */
static void add_context(const struct view *v, struct fr_rank_work *work) {
    double size_B = 2 * v->kv / v->tp * v->batch * v->s * v->value_B, n = v->attentions;
    if (v->plan->cp <= 1) return;
    for (int k = 0; k < (v->any ? 3 : 2); k++)
        fr_work_add_collective(work, passes[k], FR_AXIS_CP, FR_OP_ALL_GATHER, size_B, n)
            ->beside = FR_BESIDE_ATTENTION;
    fr_work_add_collective(work, FR_PASS_INPUT, FR_AXIS_CP, FR_OP_REDUCE_SCATTER, size_B, n)
        ->beside = FR_BESIDE_ATTENTION;
}

/* To the experts and back, forward and backward; again where all is recomputed. */
static void add_experts(const struct fr_workload *workload, const struct view *v,
                        struct fr_rank_work *work) {
    if (!v->t->experts || v->plan->ep <= 1) return;
    double size_B = fr_experts_sent_B(workload, v->plan, v->tokens);
    for (int k = 0; k < (v->full ? 3 : 2); k++)
        fr_work_add_collective(work, passes[k], FR_AXIS_EP, FR_OP_ALL_TO_ALL, size_B,
                               2 * v->layers)
            ->beside = v->plan->overlap_experts ? FR_BESIDE_PASS : FR_BESIDE_NOTHING;
}

/* ---- the rest ------------------------------------------------------------------------------------ */

/* Read and written: two norms, two residual additions with dropout, the activation and the softmax
 * with its mask and dropout; of these one norm, one addition and the softmax belong to the
 * attention. */
static void add_elementwise(const struct view *v, struct fr_rank_work *work) {
    const struct fr_transformer *t = v->t;
    double stream = v->tokens * v->h / v->between, softmax = FR_SOFTMAX_PASSES * v->scores;
    double attention = (FR_NORM_PASSES + 3) * stream + softmax;
    double moved =
        v->layers * (attention + (FR_NORM_PASSES + 3) * stream +
                     2 * (v->mlp - 1) * v->rows * v->wide / v->etp +
                     (t->experts ? 4 * v->rows * v->h * v->tp / v->etp / v->between : 0)) +
        v->cross * attention;
    struct fr_stage_share s = {
        .forward_B = moved * v->value_B,
        .norm_B = FR_NORM_PASSES * (2 * v->layers + v->cross) * stream * v->value_B,
        .softmax_B = v->attentions * softmax * v->value_B,
        .kernels = v->layers * fr_transformer_layer_kernels(t, v->plan->tp) +
                   v->cross * fr_transformer_cross_kernels(t, v->plan->tp)};
    s.again_kernels = v->full  ? s.kernels
                      : v->any ? v->attentions * fr_transformer_head_kernels(t, v->plan->tp)
                               : 0;
    fr_transformer_add_share(work, &s, v->layers, v->plan->recompute);
}

/* Korthikanti et al. 2022, Eq. 2, s b h (10 + 24/t + 5 a s / (h t)) bytes at two bytes a
 * value, and Eq. 4 with sequence parallel, the 10 over t as well; written for any dtype, MLP
 * width and head count, with dropout or without: inputs of the norms and products, what the
 * softmax made, and what dropout made of it; masks. */
static void add_memory(const struct view *v, struct fr_rank_work *work) {
    const struct fr_transformer *t = v->t;
    double stream = v->tokens * v->h / v->between;
    double heads_kept = 2 * stream + (v->q + 2 * v->kv + v->q) / v->tp * v->tokens +
                        (t->qk_norms ? (v->q + v->kv) / v->tp * v->tokens : 0);
    double mask_B = fr_transformer_mask_B(t) * stream,
           core_B = fr_transformer_score_B(t, v->value_B) * v->scores;
    double attention_B = heads_kept * v->value_B + core_B + mask_B;
    double mlp_kept = 2 * stream + v->mlp * v->rows * v->wide / v->etp;
    double all_B = attention_B + mlp_kept * v->value_B + mask_B;
    bool gathers = v->gathers && v->attentions > 0;
    work->working_B = gathers ? v->tokens * v->h * v->value_B : 0; /* an input */
    work->activation_B = v->layers * all_B + v->cross * attention_B;
    if (!v->any) return;
    if (v->full)
        work->activation_B = v->layers * stream * v->value_B;
    else
        work->activation_B -= v->attentions * core_B;
    work->working_B += v->layers > 0 ? v->full ? all_B : core_B : 0;
}

static void add_parameters(const struct view *v, struct fr_rank_work *work) {
    const struct fr_transformer *t = v->t;
    struct fr_transformer_parts parts = fr_transformer_layer_parts(t);
    work->parameters = v->layers * fr_transformer_layer_parameters(t) +
                       v->cross * (parts.attention + parts.cross_replicated);
    work->parameters_rank = v->layers * fr_transformer_layer_parameters_rank(t, v->plan->tp) +
                            v->cross * (parts.attention / v->tp + parts.cross_replicated);
    if (!t->experts) return;
    double all = v->layers * fr_experts_parameters(t); /* a rank holds its share */
    work->expert_rank = all / (v->etp * (double)v->plan->ep);
    work->parameters_rank += work->expert_rank - all / v->tp;
}

/* ---- embedding and logits ------------------------------------------------------------------------ */

/* The vocabulary is divided: each rank looks up its part of it, so the embeddings are summed;
 * each makes a part of the logits, so their input gradients are. */
static void add_vocabulary_tp(const struct view *v, bool first, bool last,
                              struct fr_rank_work *work) {
    double size_B = v->tokens * v->h * v->value_B;
    fr_op sum = v->gathers ? FR_OP_REDUCE_SCATTER : FR_OP_ALL_REDUCE;
    if (v->tp <= 1) return;
    if (first) fr_work_add_collective(work, FR_PASS_FORWARD, FR_AXIS_TP, sum, size_B, 1);
    if (last) fr_work_add_collective(work, FR_PASS_INPUT, FR_AXIS_TP, sum, size_B, 1);
    if (first && v->gathers)
        fr_work_add_collective(work, FR_PASS_INPUT, FR_AXIS_TP, FR_OP_ALL_GATHER, size_B, 1);
    if (last && v->gathers)
        fr_work_add_collective(work, FR_PASS_FORWARD, FR_AXIS_TP, FR_OP_ALL_GATHER, size_B, 1);
}

static void add_ends(const struct view *v, bool first, bool last, struct fr_rank_work *work) {
    double words = (double)fr_transformer_padded_vocabulary(v->t, v->plan->tp);
    const struct fr_ends ends = {.tokens = v->tokens,
                                 .batch = v->batch,
                                 .words = words / v->tp,
                                 .value_B = v->value_B,
                                 .kept = v->h / v->between,
                                 .logits_kept = v->h / v->between,
                                 .regathers = v->gathers ? 1 : 0};
    fr_transformer_add_vocabulary(work, v->t, v->plan, first, last);
    fr_transformer_add_ends(work, v->t, first, last, &ends);
    add_vocabulary_tp(v, first, last, work);
}

void fr_transformer_stage(const struct fr_workload *workload, const struct fr_plan *plan,
                          int64_t i, struct fr_rank_work *work) {
    const struct view v = view_of(workload, plan, i);
    fr_work_begin(work);
    work->layers = v.layers;
    add_parameters(&v, work);
    add_products(&v, work);
    add_layer_tp(&v, work);
    add_context(&v, work);
    add_experts(workload, &v, work);
    add_elementwise(&v, work);
    add_memory(&v, work);
    work->n_layer_ops = work->n_ops;
    add_ends(&v, i == 0, i == plan->pp - 1, work);
}
