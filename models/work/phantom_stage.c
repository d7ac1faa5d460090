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
    v.T = v.batch * (double)t->sequence;
    return v;
}

fr_reasons fr_phantom_check_stage(const struct fr_workload *workload,
                                  const struct fr_plan *plan) {
    const struct fr_transformer *t = &workload->transformer;
    double p = (double)plan->tp, narrower = fmin((double)t->hidden, (double)t->ffn);
    fr_reasons reasons = fr_transformer_check(workload, plan);
    if (t->hidden % plan->tp != 0) reasons |= FR_BECAUSE(FR_REASON_WIDTH);
    if (plan->sequence_parallel || plan->cp > 1 || t->experts > 0)
        reasons |= FR_BECAUSE(FR_REASON_METHOD);
    if (plan->ghost < 1) return reasons | FR_BECAUSE(FR_REASON_GHOST);
    if (!((double)plan->ghost < narrower / p * (1 - 1 / p)))
        reasons |= FR_BECAUSE(FR_REASON_GHOST_EQ8);
    return reasons;
}

static void add_product(struct fr_stage_work *work, double m, double n, double k, double batch,
                        double count, bool again) {
    work->again[work->n_gemms] = again;
    work->gemm[work->n_gemms++] = (struct fr_gemm_work){{m, n, k, batch}, count};
}

/* A matrix of the MLP: own block, compressor, decompressors. */
static void add_phantom(const struct view *v, double out, double in, double count,
                        struct fr_stage_work *work) {
    add_product(work, out / v->p, v->T, in / v->p, v->batch, count, v->full);
    add_product(work, v->k, v->T, in / v->p, v->batch, count, v->full);
    add_product(work, out / v->p, v->T, v->k, v->batch, count * (v->p - 1), v->full);
}

static void add_products(const struct view *v, struct fr_stage_work *work) {
    bool flash = v->plan->attention != FR_ATTENTION_PLAIN;
    double s = (double)v->t->sequence, d = (double)v->t->head_dim;
    double attended = v->attentions * v->batch * (double)v->t->heads / v->p;
    add_product(work, (v->q + 2 * v->kv) / v->p, v->T, v->h, v->batch, v->attentions, v->full);
    add_product(work, v->h, v->T, v->q / v->p, v->batch, v->attentions, v->full);
    work->core[work->n_gemms] = work->core[work->n_gemms + 1] = true;
    add_product(work, s, s, d, v->batch, flash ? 0 : attended, v->any);
    add_product(work, s, d, s, v->batch, flash ? 0 : attended, v->any);
    if (flash) work->flash_flop += attended * 2 * 2 * s * s * d / 2; /* causal: half of it */
    if (flash && v->any) work->again_flash += work->flash_flop;
    add_phantom(v, v->f, v->h, v->layers * (v->matrices - 1), work);
    add_phantom(v, v->h, v->f, v->layers, work);
}

/* A collective of the forward pass and its mirror image. */
static void add_exchange(const struct view *v, fr_op forward, fr_op backward, double values,
                         double count, bool again, struct fr_stage_work *work) {
    double size_B = values * v->value_B;
    struct fr_exchange_work x = {forward, count, size_B, false};
    work->exchange[work->n_exchanges++] = x;
    x.backward = true;
    if (again) work->exchange[work->n_exchanges++] = x;
    x.op = backward;
    work->exchange[work->n_exchanges++] = x;
    work->working_B = fmax(work->working_B, size_B);
}

static void add_exchanges(const struct view *v, struct fr_stage_work *work) {
    double values = v->T * v->h, ghosts = v->p * v->k * v->T;
    add_exchange(v, FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER, values, v->attentions, v->full,
                 work);
    add_exchange(v, FR_OP_REDUCE_SCATTER, FR_OP_ALL_GATHER, values, v->attentions, v->full,
                 work);
    add_exchange(v, FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER, ghosts, v->layers * v->matrices,
                 v->full, work);
}

/* The terms of models/work/transformer.c, with the residual stream divided over p. */
static void add_memory(const struct view *v, struct fr_stage_work *work) {
    double s = (double)v->t->sequence, stream = v->T * v->h / v->p,
           cross = v->attentions - v->layers;
    double scores = v->plan->attention != FR_ATTENTION_PLAIN
                        ? 0
                        : v->attentions * v->batch * (double)v->t->heads / v->p * s * s;
    double hidden = v->T * v->f / v->p, ghosts = v->p * v->k * v->T;
    double moved = v->attentions * (FR_NORM_PASSES * v->T * v->h + 3 * stream) +
                   v->layers * (FR_NORM_PASSES + 3) * stream +
                   2 * v->layers * (v->matrices - 1) * hidden + FR_SOFTMAX_PASSES * scores;
    double kept =
        v->attentions * (stream + v->T * v->h + (2 * v->q + 2 * v->kv) / v->p * v->T) +
        v->layers * (2 * stream + v->matrices * (hidden + ghosts));
    double core_B = fr_transformer_score_B(v->t, v->value_B) * scores;
    double all_B = kept * v->value_B +
                   fr_transformer_mask_B(v->t) * (v->attentions + v->layers) * stream + core_B;
    double kernels =
        v->layers * (fr_transformer_layer_kernels(v->t, v->plan->tp) + v->matrices * v->p) +
        cross * fr_transformer_cross_kernels(v->t, v->plan->tp);
    work->forward_B += moved * v->value_B;
    work->layers.norm_B +=
        FR_NORM_PASSES * (v->attentions * v->T * v->h + v->layers * stream) * v->value_B;
    work->layers.softmax_B += FR_SOFTMAX_PASSES * scores * v->value_B;
    work->kernels += kernels;
    if (!v->any) {
        work->activation_B += all_B;
        return;
    }
    double heads = v->attentions * fr_transformer_head_kernels(v->t, v->plan->tp);
    work->again_B += (v->full ? moved : FR_SOFTMAX_PASSES * scores) * v->value_B;
    work->again_kernels += v->full ? kernels : heads;
    work->activation_B += v->full ? v->layers * stream * v->value_B : all_B - core_B;
    if (v->layers > 0) work->working_B += (v->full ? all_B : core_B) / v->layers;
}

static void add_parameters(const struct view *v, struct fr_stage_work *work) {
    struct fr_transformer_parts parts = fr_transformer_layer_parts(v->t);
    double in_blocks = v->h * v->f / v->p / v->p, to_ghosts = v->k / v->p;
    double up = in_blocks + to_ghosts * v->h + (v->p - 1) * to_ghosts * v->f;
    double down = in_blocks + to_ghosts * v->f + (v->p - 1) * to_ghosts * v->h;
    double biases = v->t->biases ? (v->matrices - 1) * v->f / v->p : 0;
    double divided = v->attentions * parts.attention / v->p +
                     v->layers * ((v->matrices - 1) * up + down + biases);
    double replicated =
        v->layers * parts.replicated + (v->attentions - v->layers) * parts.cross_replicated;
    work->parameters = v->p * divided + replicated;
    work->parameters_rank = divided + replicated;
}

/* Embedding and logits divide the vocabulary, as with method tensor; the sums are scattered. */
static void add_ends(const struct view *v, bool first, bool last, struct fr_stage_work *work) {
    double words = (double)fr_transformer_padded_vocabulary(v->t, v->plan->tp);
    double embedding = words * v->h, values = v->T * v->h;
    if (first) {
        double positions = v->t->positions ? (double)v->t->sequence * v->h : 0;
        work->parameters += embedding + positions;
        work->parameters_rank += embedding / v->p + positions;
        work->forward_B += 2 * values / v->p * v->value_B;
        work->kernels += 2;
        add_exchange(v, FR_OP_REDUCE_SCATTER, FR_OP_ALL_GATHER, values, 1, false, work);
    }
    if (last) {
        double norm = v->h * (v->t->norm_biases ? 2 : 1);
        work->parameters += norm + (v->t->tied ? 0 : embedding);
        work->parameters_rank += norm + (v->t->tied && first ? 0 : embedding / v->p);
        add_product(work, words / v->p, v->T, v->h, v->batch, 1, false);
        work->forward_B += fr_transformer_loss_B(v->T, words / v->p, v->h, v->value_B);
        work->kernels += 5;
        work->activation_B += v->T * (v->h + words / v->p) * v->value_B;
        add_exchange(v, FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER, values, 1, false, work);
    }
    if (v->t->tied && (first || last)) work->embedding_rank = embedding / v->p;
}

void fr_phantom_stage(const struct fr_workload *workload, const struct fr_plan *plan, int64_t i,
                      struct fr_stage_work *work) {
    struct view v = view_of(workload, plan, i);
    *work = (struct fr_stage_work){0};
    add_parameters(&v, work);
    add_products(&v, work);
    add_exchanges(&v, work);
    add_memory(&v, work);
    work->layers.n_gemms = work->n_gemms;
    work->layers.forward_B = work->forward_B;
    work->layers.kernels = work->kernels;
    add_ends(&v, i == 0, i == plan->pp - 1, work);
}
