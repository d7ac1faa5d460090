#include "models/work/phantom_stage.h"

#include <math.h>

/* One stage on one rank. */
struct view {
    const struct fr_transformer *t;
    const struct fr_plan *plan;
    double p, k, value_B;
    double batch, T;              /* samples and tokens of a micro-batch */
    double h, f, q, kv, matrices; /* of a layer; matrices of its MLP */
    double layers, attentions;    /* of the stage */
    bool full, any;               /* recomputes all of it, some of it */
};

static struct view view_of(const struct fr_workload *workload, const struct fr_plan *plan,
                           int64_t i) {
    const struct fr_transformer *t = &workload->transformer;
    struct view v = {.t = t,
                     .plan = plan,
                     .p = (double)plan->tp,
                     .k = (double)plan->ghost,
                     .value_B = fr_dtype_size_B(workload->dtype),
                     .batch = (double)fr_plan_micro_batch(plan),
                     .h = (double)t->hidden,
                     .f = (double)t->ffn,
                     .q = (double)(t->heads * t->head_dim),
                     .kv = (double)(t->kv_heads * t->head_dim),
                     .matrices = t->gated ? 3 : 2,
                     .layers = (double)fr_transformer_stage_layers(t, plan, i),
                     .full = plan->recompute == FR_RECOMPUTE_FULL,
                     .any = plan->recompute != FR_RECOMPUTE_NONE};
    v.attentions = v.layers + (double)fr_transformer_stage_cross(t, plan, i);
    v.T = v.batch * (double)t->sequence / (double)plan->cp;
    return v;
}

fr_reasons fr_phantom_check_stage(const struct fr_workload *workload,
                                  const struct fr_plan *plan) {
    const struct fr_transformer *t = &workload->transformer;
    double p = (double)plan->tp, narrower = fmin((double)t->hidden, (double)t->ffn);
    fr_reasons reasons = fr_transformer_check(workload, plan);
    if (t->hidden % plan->tp != 0) reasons |= FR_BECAUSE(FR_REASON_WIDTH);
    if (plan->sequence_parallel || t->experts > 0) reasons |= FR_BECAUSE(FR_REASON_METHOD);
    if (plan->ghost < 1) return reasons | FR_BECAUSE(FR_REASON_GHOST);
    if (!((double)plan->ghost < narrower / p * (1 - 1 / p)))
        reasons |= FR_BECAUSE(FR_REASON_GHOST_EQ8);
    return reasons;
}

static void add_product(struct fr_rank_work *work, const struct view *v, double m, double n,
                        double k, double times, bool made, bool again) {
    fr_work_add_product(work, &(struct fr_product){.m = m,
                                                   .n = n,
                                                   .k = k,
                                                   .batch = v->batch,
                                                   .times = times,
                                                   .made = made,
                                                   .again = again});
}

/* A matrix of the MLP, after a norm or not: own block, compressor, decompressors. */
static void add_phantom(const struct view *v, double out, double in, double times, bool made,
                        struct fr_rank_work *work) {
    add_product(work, v, out / v->p, v->T, in / v->p, times, made, v->full);
    add_product(work, v, v->k, v->T, in / v->p, times, made, v->full);
    add_product(work, v, out / v->p, v->T, v->k, times * (v->p - 1), false, v->full);
}

static void add_products(const struct view *v, struct fr_rank_work *work) {
    double attended =
        v->attentions * v->batch * (double)v->t->heads / v->p / fr_context_heads(v->plan);
    add_product(work, v, (v->q + 2 * v->kv) / v->p, v->T, v->h, v->attentions, true, v->full);
    add_product(work, v, v->h, v->T, v->q / v->p, v->attentions, false, v->full);
    fr_transformer_add_core(work, v->t, v->plan,
                            fr_context_queries(v->plan, (double)v->t->sequence), v->batch,
                            attended);
    add_phantom(v, v->f, v->h, v->layers * (v->matrices - 1), true, work);
    add_phantom(v, v->h, v->f, v->layers, false, work);
}

/* A collective of the forward pass and its mirror image; the host waits for both. */
static void add_exchange(const struct view *v, fr_op forward, fr_op backward, double values,
                         double times, bool again, struct fr_rank_work *work) {
    double size_B = values * v->value_B;
    static const fr_pass_kind passes[] = {FR_PASS_FORWARD, FR_PASS_INPUT, FR_PASS_AGAIN};
    for (int k = 0; k < (again ? 3 : 2); k++)
        fr_work_add_collective(work, passes[k], FR_AXIS_TP, k == 1 ? backward : forward, size_B,
                               times)
            ->stalls = true;
    work->working_B = fmax(work->working_B, size_B);
}

static void add_exchanges(const struct view *v, struct fr_rank_work *work) {
    double values = v->T * v->h, ghost_neurons = v->p * v->k * v->T;
    /* Further input of a cross-attention's keys and values. */
    double gathered = v->attentions + (v->attentions - v->layers);
    add_exchange(v, FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER, values, gathered, v->full, work);
    add_exchange(v, FR_OP_REDUCE_SCATTER, FR_OP_ALL_GATHER, values, v->attentions, v->full,
                 work);
    add_exchange(v, FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER, ghost_neurons,
                 v->layers * v->matrices, v->full, work);
    if (v->layers > 0) /* of the second norm */
        add_exchange(v, FR_OP_ALL_REDUCE, FR_OP_ALL_REDUCE, 2 * v->T, v->layers, v->full, work);
}

/* The terms of models/work/transformer.c, with the residual stream divided over p. */
static void add_memory(const struct view *v, struct fr_rank_work *work) {
    double s = (double)v->t->sequence, stream = v->T * v->h / v->p,
           cross = v->attentions - v->layers;
    double scores = v->plan->attention != FR_ATTENTION_PLAIN
                        ? 0
                        : v->attentions * v->batch * (double)v->t->heads / v->p * s * s /
                              (double)v->plan->cp;
    double hidden = v->T * v->f / v->p, ghost_neurons = v->p * v->k * v->T;
    double moved = v->attentions * (FR_NORM_PASSES * v->T * v->h + 3 * stream) +
                   v->layers * (FR_NORM_PASSES + 3) * stream +
                   2 * v->layers * (v->matrices - 1) * hidden + FR_SOFTMAX_PASSES * scores;
    double saved =
        v->attentions * (stream + v->T * v->h + (2 * v->q + 2 * v->kv) / v->p * v->T) +
        v->layers * (2 * stream + v->matrices * (hidden + ghost_neurons));
    double core_B = fr_transformer_score_B(v->t, v->value_B) * scores;
    double all_B = saved * v->value_B +
                   fr_transformer_mask_B(v->t) * (v->attentions + v->layers) * stream + core_B;
    double kernels =
        v->layers * (fr_transformer_layer_kernels(v->t, v->plan->tp) + v->matrices * v->p) +
        cross * fr_transformer_cross_kernels(v->t, v->plan->tp);
    double heads = v->attentions * fr_transformer_head_kernels(v->t, v->plan->tp);
    const struct fr_stage_share share = {
        .forward_B = moved * v->value_B,
        .norm_B =
            FR_NORM_PASSES * (v->attentions * v->T * v->h + v->layers * stream) * v->value_B,
        .softmax_B = FR_SOFTMAX_PASSES * scores * v->value_B,
        .kernels = kernels,
        .again_kernels = v->full  ? kernels
                         : v->any ? heads
                                  : 0};
    fr_transformer_add_share(work, &share, v->layers, v->plan->recompute);
    if (!v->any) {
        work->activation_B += all_B;
        return;
    }
    work->activation_B += v->full ? v->layers * stream * v->value_B : all_B - core_B;
    if (v->layers > 0) work->working_B += (v->full ? all_B : core_B) / v->layers;
}

static void add_parameters(const struct view *v, struct fr_rank_work *work) {
    struct fr_transformer_parts parts = fr_transformer_layer_parts(v->t);
    double in_blocks = v->h * v->f / v->p / v->p, to_ghost_neurons = v->k / v->p;
    double up = in_blocks + to_ghost_neurons * v->h + (v->p - 1) * to_ghost_neurons * v->f;
    double down = in_blocks + to_ghost_neurons * v->f + (v->p - 1) * to_ghost_neurons * v->h;
    double bias = v->t->biases ? 1 : 0, norm = v->h * (v->t->norm_biases ? 2 : 1),
           biases = bias * ((v->matrices - 1) * v->f + v->h) / v->p,
           cross = v->attentions - v->layers;
    /* Parameters after a gather are whole on every rank: the heads' norms. */
    double divided = v->attentions * (parts.attention + bias * v->h) / v->p +
                     v->layers * ((v->matrices - 1) * up + down + biases + norm / v->p);
    double replicated = v->layers * (parts.replicated - norm - 2 * bias * v->h) +
                        cross * (parts.cross_replicated - bias * v->h);
    work->parameters = v->p * divided + replicated;
    work->parameters_rank = divided + replicated;
}

/* Embedding and logits divide the vocabulary, as with method tensor; the sums are scattered. */
static void add_ends(const struct view *v, bool first, bool last, struct fr_rank_work *work) {
    double words = (double)fr_transformer_padded_vocabulary(v->t, v->plan->tp);
    const struct fr_ends ends = {.tokens = v->T,
                                 .batch = v->batch,
                                 .words = words / v->p,
                                 .value_B = v->value_B,
                                 .saved = v->h / v->p,
                                 .logits_saved = v->h,
                                 .loss = v->plan->loss};
    fr_transformer_add_vocabulary(work, v->t, v->plan, v->plan->tp, first, last);
    fr_transformer_add_ends(work, v->t, first, last, &ends);
    if (first)
        add_exchange(v, FR_OP_REDUCE_SCATTER, FR_OP_ALL_GATHER, v->T * v->h, 1, false, work);
    if (last)
        add_exchange(v, FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER, v->T * v->h, 1, false, work);
}

void fr_phantom_stage(const struct fr_workload *workload, const struct fr_plan *plan, int64_t i,
                      struct fr_rank_work *work) {
    struct view v = view_of(workload, plan, i);
    fr_work_begin(work);
    work->layers = v.layers;
    add_parameters(&v, work);
    add_products(&v, work);
    add_exchanges(&v, work);
    fr_transformer_add_context(
        work, v.t, plan,
        &(struct fr_context){v.q, 2 * v.kv, v.q, v.p, v.T, v.batch, v.value_B, v.attentions});
    add_memory(&v, work);
    work->n_layer_ops = work->n_ops;
    add_ends(&v, i == 0, i == fr_plan_last_stage(plan), work);
}
