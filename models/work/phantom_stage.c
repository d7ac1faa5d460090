#include "models/work/phantom_stage.h"

#include <math.h>

#include "models/work/cache.h"

/* One stage on one rank. */
struct view {
    const struct fr_transformer *t;
    const struct fr_plan *plan;
    double p, k, value_B;
    double batch, T;              /* samples and tokens of a micro-batch */
    double h, f, q, kv, matrices; /* of a layer; matrices of its MLP */
    double layers, attentions;    /* of the stage */
    bool heads, mlp;              /* attention's matrices are phantom, and those of the MLP */
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
                     .heads = plan->phantom_parts != FR_PHANTOM_MLP,
                     .mlp = plan->phantom_parts != FR_PHANTOM_ATTENTION,
                     .full = plan->recompute == FR_RECOMPUTE_FULL,
                     .any = plan->recompute != FR_RECOMPUTE_NONE};
    v.attentions = v.layers + (double)fr_transformer_stage_cross(t, plan, i);
    v.T = v.batch * (double)t->sequence / (double)plan->cp;
    return v;
}

double fr_phantom_narrowest(const struct fr_transformer *t, const struct fr_plan *plan) {
    double h = (double)t->hidden, f = (double)t->ffn, q = (double)(t->heads * t->head_dim);
    if (plan->phantom_parts == FR_PHANTOM_MLP) return fmin(h, f);
    return plan->phantom_parts == FR_PHANTOM_ATTENTION ? fmin(h, q) : fmin(h, fmin(f, q));
}

fr_reasons fr_phantom_check_stage(const struct fr_workload *workload,
                                  const struct fr_plan *plan) {
    const struct fr_transformer *t = &workload->transformer;
    double p = (double)plan->tp, narrower = fr_phantom_narrowest(t, plan);
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

/* A phantom matrix, after a norm or not: own block, compressor, decompressors. */
static void add_phantom(const struct view *v, double out, double in, double times, bool made,
                        struct fr_rank_work *work) {
    add_product(work, v, out / v->p, v->T, in / v->p, times, made, v->full);
    add_product(work, v, v->k, v->T, in / v->p, times, made, v->full);
    add_product(work, v, out / v->p, v->T, v->k, times * (v->p - 1), false, v->full);
}

/* A pair of products as Megatron divides it: the first by its outputs, the second by its inputs. */
static void add_first(const struct view *v, double out, double times,
                      struct fr_rank_work *work) {
    add_product(work, v, out / v->p, v->T, v->h, times, true, v->full);
}
static void add_second(const struct view *v, double in, double times,
                       struct fr_rank_work *work) {
    add_product(work, v, v->h, v->T, in / v->p, times, false, v->full);
}

static double crossings(const struct view *v) { return v->attentions - v->layers; }

/* Queries, keys and values are one matrix.  A cross-attention reads two streams, and compresses both. */
static void add_queries(const struct view *v, struct fr_rank_work *work) {
    double made = v->q + 2 * v->kv;
    if (!v->heads) {
        add_first(v, made, v->attentions, work);
        return;
    }
    add_phantom(v, made, v->h, v->attentions, true, work);
    if (crossings(v) > 0)
        add_product(work, v, v->k, v->T, v->h / v->p, crossings(v), true, v->full);
}

static void add_products(const struct view *v, struct fr_rank_work *work) {
    double attended =
        v->attentions * v->batch * (double)v->t->heads / v->p / fr_context_heads(v->plan);
    add_queries(v, work);
    if (v->heads)
        add_phantom(v, v->h, v->q, v->attentions, false, work);
    else
        add_second(v, v->q, v->attentions, work);
    fr_transformer_add_core(work, v->t, v->plan,
                            fr_context_queries(v->plan, (double)v->t->sequence), v->batch,
                            attended);
    if (v->mlp) {
        add_phantom(v, v->f, v->h, v->layers * (v->matrices - 1), true, work);
        add_phantom(v, v->h, v->f, v->layers, false, work);
        return;
    }
    add_first(v, v->f, v->layers * (v->matrices - 1), work);
    add_second(v, v->f, v->layers, work);
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

/* Phantom matrices of a stage, each with ghost neurons of its own; norms that work on divided values. */
static double phantoms(const struct view *v) {
    return (v->heads ? 2 * v->attentions + crossings(v) : 0) +
           (v->mlp ? v->layers * v->matrices : 0);
}
static double divided_norms(const struct view *v) {
    return (v->heads ? v->attentions : 0) + (v->mlp ? v->layers : 0);
}

static void add_exchanges(const struct view *v, struct fr_rank_work *work) {
    double values = v->T * v->h, ghost_neurons = v->p * v->k * v->T;
    double scattered = (v->heads ? 0 : v->attentions) + (v->mlp ? 0 : v->layers);
    /* Further input of a cross-attention's keys and values. */
    double gathered = scattered + (v->heads ? 0 : crossings(v)), norms = divided_norms(v);
    if (gathered > 0)
        add_exchange(v, FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER, values, gathered, v->full,
                     work);
    if (scattered > 0)
        add_exchange(v, FR_OP_REDUCE_SCATTER, FR_OP_ALL_GATHER, values, scattered, v->full,
                     work);
    add_exchange(v, FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER, ghost_neurons, phantoms(v), v->full,
                 work);
    if (norms > 0)
        add_exchange(v, FR_OP_ALL_REDUCE, FR_OP_ALL_REDUCE, 2 * v->T, norms, v->full, work);
}

/* Values of a sublayer besides its products: its norm works on a rank's part, or on all that was gathered. */
static double normed(const struct view *v, bool phantom) {
    return phantom ? v->T * v->h / v->p : v->T * v->h;
}

/* Values that the backward pass needs, of an attention with its products, and of an MLP. */
static double attention_saved(const struct view *v) {
    double stream = v->T * v->h / v->p, ghost_neurons = v->heads ? v->p * v->k * v->T : 0;
    return stream + normed(v, v->heads) + (2 * v->q + 2 * v->kv) / v->p * v->T +
           2 * ghost_neurons;
}
static double mlp_saved(const struct view *v) {
    double hidden = v->T * v->f / v->p, ghost_neurons = v->mlp ? v->p * v->k * v->T : 0;
    return v->T * v->h / v->p + normed(v, v->mlp) + v->matrices * (hidden + ghost_neurons);
}

/* A phantom matrix is p + 1 products in place of one. */
static double kernels_of(const struct view *v) {
    double of_layers = v->layers * fr_transformer_layer_kernels(v->t, v->plan->tp),
           of_cross = crossings(v) * fr_transformer_cross_kernels(v->t, v->plan->tp),
           heads = v->heads ? 2 * v->p * v->attentions + crossings(v) : 0,
           mlp = v->mlp ? v->layers * v->matrices * v->p : 0;
    return of_layers + of_cross + heads + mlp;
}

/* Kernels of single operations: on the heads and the width of a rank, and on its part of the residual stream. */
static struct fr_unfused unfused(const struct view *v) {
    double stream = v->T * v->h / v->p;
    return fr_unfused_of(&(struct fr_unfused_sizes){.t = v->t,
                                                    .plan = v->plan,
                                                    .attentions = v->attentions,
                                                    .dense = v->layers,
                                                    .queries = v->T * v->q / v->p,
                                                    .keys = v->T * v->kv / v->p,
                                                    .values = v->T * v->kv / v->p,
                                                    .hidden = v->T * v->f / v->p,
                                                    .attention_stream = stream,
                                                    .mlp_stream = stream,
                                                    .value_B = v->value_B,
                                                    .joined = v->heads});
}

/* The terms of models/work/transformer.c, with the residual stream divided over p. */
static void add_memory(const struct view *v, struct fr_rank_work *work) {
    double s = (double)v->t->sequence, stream = v->T * v->h / v->p;
    double scores = v->plan->attention != FR_ATTENTION_PLAIN
                        ? 0
                        : v->attentions * v->batch * (double)v->t->heads / v->p * s * s /
                              (double)v->plan->cp;
    double norms = v->attentions * normed(v, v->heads) + v->layers * normed(v, v->mlp),
           adds = v->attentions + v->layers, hidden = v->T * v->f / v->p;
    double moved = FR_NORM_PASSES * norms + 3 * adds * stream +
                   2 * v->layers * (v->matrices - 1) * hidden + FR_SOFTMAX_PASSES * scores;
    double saved = v->attentions * attention_saved(v) + v->layers * mlp_saved(v) +
                   (v->heads ? crossings(v) * v->p * v->k * v->T : 0);
    double core_B = fr_transformer_score_B(v->t, v->value_B) * scores;
    double all_B = saved * v->value_B + fr_transformer_mask_B(v->t) * adds * stream + core_B;
    double kernels = kernels_of(v),
           heads = v->attentions * fr_transformer_head_kernels(v->t, v->plan->tp);
    const struct fr_stage_share share = {.forward_B = moved * v->value_B,
                                         .norm_B = FR_NORM_PASSES * norms * v->value_B,
                                         .softmax_B = FR_SOFTMAX_PASSES * scores * v->value_B,
                                         .kernels = kernels,
                                         .blocks = v->layers,
                                         .apart = unfused(v),
                                         .again_kernels = v->full  ? kernels
                                                          : v->any ? heads
                                                                   : 0};
    fr_transformer_add_share(work, &share, v->layers, v->plan->recompute);
    work->apart_B = v->full || !v->t->gated ? 0 : v->layers * hidden * v->value_B;
    if (!v->any) {
        work->activation_B += all_B;
        return;
    }
    work->activation_B += v->full ? v->layers * stream * v->value_B : all_B - core_B;
    if (v->layers > 0) work->working_B += (v->full ? all_B : core_B) / v->layers;
}

/* On one rank: its block of n x m, what compresses its inputs, and what decompresses those of the others. */
static double phantom_parameters(const struct view *v, double out, double in) {
    return out * in / v->p / v->p + v->k * in / v->p + (v->p - 1) * v->k * out / v->p;
}

/* An attention's and an MLP's parameters on a rank, without norms.  Biases lie where the values are that they are
 * added to. */
static double attention_parameters(const struct view *v,
                                   const struct fr_transformer_parts *parts) {
    double made = v->q + 2 * v->kv, out_bias = v->t->biases ? v->h : 0,
           biases = v->t->biases || v->t->qkv_biases ? made : 0;
    if (!v->heads) return (parts->attention + out_bias) / v->p;
    return phantom_parameters(v, made, v->h) + phantom_parameters(v, v->h, v->q) +
           (biases + out_bias) / v->p;
}
static double mlp_parameters(const struct view *v, const struct fr_transformer_parts *parts) {
    double bias = v->t->biases ? 1 : 0;
    if (!v->mlp) return (parts->mlp + bias * v->h) / v->p;
    return (v->matrices - 1) * phantom_parameters(v, v->f, v->h) +
           phantom_parameters(v, v->h, v->f) + bias * ((v->matrices - 1) * v->f + v->h) / v->p;
}

static void add_parameters(const struct view *v, struct fr_rank_work *work) {
    struct fr_transformer_parts parts = fr_transformer_layer_parts(v->t);
    double bias = v->t->biases ? v->h : 0, norm = v->h * (v->t->norm_biases ? 2 : 1),
           norms = divided_norms(v) * norm, cross = crossings(v);
    /* Parameters after a gather are whole on every rank: norms of whole values, and the heads' norms. */
    double divided = v->attentions * attention_parameters(v, &parts) +
                     v->layers * mlp_parameters(v, &parts) + norms / v->p +
                     (v->heads ? cross * v->k * v->h / v->p : 0);
    double replicated = v->layers * (parts.replicated - 2 * bias) +
                        cross * (parts.cross_replicated - bias) - norms;
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
    fr_cache_add(v.t, &(struct fr_cache_share){v.attentions, v.batch, v.p, v.value_B}, work);
    add_memory(&v, work);
    work->n_layer_ops = work->n_ops;
    add_ends(&v, i == 0, i == fr_plan_last_stage(plan), work);
}
