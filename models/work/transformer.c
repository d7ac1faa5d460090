#include "models/work/transformer.h"

#include "models/work/experts.h"

#include <math.h>
#include <stddef.h>

const char *const fr_recompute_names[] = {"none", "selective", "full", NULL};

int64_t fr_transformer_padded_vocabulary(const struct fr_transformer *t, int64_t tp) {
    int64_t multiple = (t->vocabulary_multiple ? t->vocabulary_multiple : 128) * tp;
    return (t->vocabulary + multiple - 1) / multiple * multiple;
}

struct sizes { /* of one layer, as doubles */
    double h, f, q, kv, mlp;
};

static struct sizes sizes_of(const struct fr_transformer *t) {
    return (struct sizes){.h = (double)t->hidden,
                          .f = (double)t->ffn,
                          .q = (double)(t->heads * t->head_dim),
                          .kv = (double)(t->kv_heads * t->head_dim),
                          .mlp = t->gated ? 3 : 2};
}

struct fr_transformer_parts fr_transformer_layer_parts(const struct fr_transformer *t) {
    struct sizes z = sizes_of(t);
    double norm = z.h * (t->norm_biases ? 2 : 1),
           qk_norms = t->qk_norms ? 2 * (double)t->head_dim : 0;
    double qkv_biases = t->biases || t->qkv_biases ? z.q + 2 * z.kv : 0;
    double out_bias = t->biases ? z.h : 0; /* after a row-divided product */
    return (struct fr_transformer_parts){
        .attention = z.h * (z.q + 2 * z.kv) + z.q * z.h + qkv_biases,
        .mlp = t->experts ? fr_experts_parameters(t) + z.h * (double)t->experts
                          : z.mlp * z.h * z.f + (t->biases ? (z.mlp - 1) * z.f : 0),
        .replicated = 2 * norm + qk_norms + 2 * out_bias,
        .cross_replicated = norm + qk_norms + out_bias};
}

int64_t fr_transformer_stage_cross(const struct fr_transformer *t, const struct fr_plan *plan,
                                   int64_t i) {
    int64_t before = 0, here = fr_transformer_stage_layers(t, plan, i);
    if (t->cross_layers == 0) return 0;
    for (int64_t k = 0; k < i; k++) before += fr_transformer_stage_layers(t, plan, k);
    int64_t crossed = before + here - (t->layers - t->cross_layers);
    return crossed < 0 ? 0 : crossed < here ? crossed : here;
}

/* Parameters that tp divides, and those that every rank holds. */
static void layer_parameters(const struct fr_transformer *t, double *divided,
                             double *replicated) {
    struct fr_transformer_parts p = fr_transformer_layer_parts(t);
    *divided = p.attention + p.mlp;
    *replicated = p.replicated;
}

double fr_transformer_layer_parameters(const struct fr_transformer *t) {
    double divided, replicated;
    layer_parameters(t, &divided, &replicated);
    return divided + replicated;
}

double fr_transformer_layer_parameters_rank(const struct fr_transformer *t, int64_t tp) {
    double divided, replicated;
    layer_parameters(t, &divided, &replicated);
    return divided / (double)tp + replicated;
}

int64_t fr_transformer_stage_layers(const struct fr_transformer *t, const struct fr_plan *plan,
                                    int64_t i) {
    if (plan->stage_layers) return plan->stage_layers[i];
    int64_t lacking = plan->pp * plan->chunks - t->layers;
    if (plan->chunks > 1 && plan->pp > 1 && lacking > 0) /* a layer a chunk, but for the ends */
        return plan->chunks - (i == plan->pp - 1) - (i == 0 && lacking == 2);
    return t->layers / plan->pp + (i < t->layers % plan->pp);
}

bool fr_transformer_layers_fit(const struct fr_transformer *t, const struct fr_plan *plan) {
    int64_t sum = 0;
    int64_t ends =
        plan->chunks > 1 && plan->pp > 1 ? 2 : 0; /* logits and embedding as layers */
    if (!plan->stage_layers) return plan->pp * plan->chunks <= t->layers + ends;
    for (int i = 0; i < plan->n_stage_layers; i++) sum += plan->stage_layers[i];
    return plan->n_stage_layers == plan->pp && sum == t->layers;
}

int fr_transformer_matrices(const struct fr_transformer *t, int64_t tp,
                            struct fr_codec_args *out, int capacity) {
    struct sizes z = sizes_of(t);
    double ranks = (double)tp;
    const double shapes[][2] = {{(z.q + 2 * z.kv) / ranks, z.h},
                                {z.h, z.q / ranks},
                                {z.f / ranks, z.h},
                                {z.h, z.f / ranks},
                                {z.f / ranks, z.h}};
    int n = t->gated ? 5 : 4;
    for (int k = 0; k < n && k < capacity; k++)
        out[k] = (struct fr_codec_args){.m = shapes[k][0], .n = shapes[k][1]};
    return n < capacity ? n : capacity;
}

static void add_product(struct fr_stage_work *work, double m, double n, double k, double batch,
                        double count) {
    work->gemm[work->n_gemms++] = (struct fr_gemm_work){{m, n, k, batch}, count};
}

/* Inside the heads: two products with a softmax between, batched over heads and samples; or as
 * many as each head launches. */
double fr_transformer_head_kernels(const struct fr_transformer *t, int64_t tp) {
    return t->head_kernels > 0 ? t->head_kernels * (double)t->heads / (double)tp : 3;
}

/* Counted from the list of what a layer does: two norms, four to five products, the heads, an
 * activation, two residual additions; a choice of experts adds the router's product and its top
 * ones, and rows put in order, sent, brought back and added up; a cross-attention adds a norm, two
 * products, its heads and a residual addition. */
double fr_transformer_layer_kernels(const struct fr_transformer *t, int64_t tp) {
    double choice = t->experts > 1 ? 6 : 0;
    return (t->gated ? 10 : 9) + choice + fr_transformer_head_kernels(t, tp);
}

double fr_transformer_cross_kernels(const struct fr_transformer *t, int64_t tp) {
    return 4 + fr_transformer_head_kernels(t, tp);
}

/* What goes between the products, once an attention and once an MLP, `twice` in all: each way one
 * all-reduce, or a gather before and a scatter after. */
static void add_layer_tp(const struct fr_plan *plan, double twice, struct fr_stage_work *work) {
    if (plan->tp == 1) return;
    work->forward_tp = plan->sequence_parallel
                           ? (struct fr_tp_work){.all_gathers = twice, .reduce_scatters = twice}
                           : (struct fr_tp_work){.all_reduces = twice};
    work->backward_tp = work->forward_tp;
    if (plan->recompute == FR_RECOMPUTE_FULL) work->again_tp = work->forward_tp;
}

static void add_layers(const struct fr_workload *workload, const struct fr_plan *plan,
                       double layers, double cross, struct fr_stage_work *work) {
    const struct fr_transformer *t = &workload->transformer;
    double tp = (double)plan->tp, batch = (double)fr_plan_micro_batch(plan);
    double between = plan->sequence_parallel ? tp : 1; /* divides what is not a product */
    struct sizes z = sizes_of(t);
    bool flash = plan->attention != FR_ATTENTION_PLAIN;
    /* Each of cp ranks has a share of the queries, and attends to all keys. */
    double s = (double)t->sequence, own = s / (double)plan->cp, tokens = batch * own,
           value_B = fr_dtype_kept_B(workload->dtype);
    double heads = (double)t->heads / tp, d = (double)t->head_dim,
           scores = batch * heads * s * own;
    double attentions = layers + cross;    /* cross-attention attends to as many tokens */
    enum { QKV, SCORES, VALUES, OUT, UP }; /* the first products, in order */
    add_product(work, (z.q + 2 * z.kv) / tp, tokens, z.h, batch, attentions);
    add_product(work, own, s, d, batch, flash ? 0 : attentions * batch * heads);
    add_product(work, own, d, s, batch, flash ? 0 : attentions * batch * heads);
    work->core[SCORES] = work->core[VALUES] = true;
    /* A fused kernel keeps no scores and skips those that the causal mask hides: half. */
    if (flash) work->flash_flop += attentions * 2 * 2 * scores * d / 2;
    if (flash) scores = 0;
    if (plan->cp > 1) work->cp_B = 2 * z.kv / tp * batch * s * value_B;
    work->attentions = attentions;
    add_product(work, z.h, tokens, z.q / tp, batch, attentions);
    /* Rows of the MLP and its width; with experts each token makes several rows. */
    double etp = (double)fr_plan_expert_tp(plan);
    double rows = t->experts ? tokens * etp / tp * (double)t->experts_per_token : tokens;
    double wide = t->experts ? (double)t->expert_ffn : z.f;
    double own_experts = t->experts ? (double)t->experts / (double)plan->ep : 1;
    double each =
        t->experts ? fr_experts_rows(rows / own_experts * fr_experts_load(t)) : tokens;
    add_product(work, wide / etp, each, z.h, batch, layers * (z.mlp - 1) * own_experts);
    add_product(work, z.h, each, wide / etp, batch, layers * own_experts);
    if (t->experts) work->expert_B = fr_experts_sent_B(workload, plan, tokens);
    /* Read and written: two norms, two residual additions with dropout, the activation and the
     * softmax with its mask and dropout; of these one norm, one addition and the softmax belong
     * to the attention. */
    double attention =
        (FR_NORM_PASSES + 3) * tokens * z.h / between + FR_SOFTMAX_PASSES * scores;
    double moved = layers * (attention + (FR_NORM_PASSES + 3) * tokens * z.h / between +
                             2 * (z.mlp - 1) * rows * wide / etp +
                             (t->experts ? 4 * rows * z.h * tp / etp / between : 0)) +
                   cross * attention;
    double kernels = layers * fr_transformer_layer_kernels(t, plan->tp) +
                     cross * fr_transformer_cross_kernels(t, plan->tp);
    work->forward_B += moved * value_B;
    work->layers.norm_B +=
        FR_NORM_PASSES * (2 * layers + cross) * tokens * z.h / between * value_B;
    work->layers.softmax_B += FR_SOFTMAX_PASSES * attentions * scores * value_B;
    work->kernels += kernels;
    work->tp_B = tokens * z.h * value_B;
    /* Whole experts take what a rank has of the sequence: nothing goes over tp there. */
    double mlps = t->experts && etp < tp ? 0 : layers;
    add_layer_tp(plan, attentions + mlps, work);
    if (plan->sequence_parallel && tp > 1) {
        work->regathers[QKV] = attentions;
        work->regathers[UP] = mlps;
    }
    /* Korthikanti et al. 2022, Eq. 2, s b h (10 + 24/t + 5 a s / (h t)) bytes at two bytes a
     * value, and Eq. 4 with sequence parallel, the 10 over t as well; written for any dtype, MLP
     * width and head count, with dropout or without: inputs of the norms and products, what the
     * softmax made, and what dropout made of it; masks. */
    double heads_kept = 2 * tokens * z.h / between + (z.q + 2 * z.kv + z.q) / tp * tokens +
                        (t->qk_norms ? (z.q + z.kv) / tp * tokens : 0);
    double mask_B = fr_transformer_mask_B(t) * tokens * z.h / between,
           core_B = fr_transformer_score_B(t, value_B) * scores;
    double attention_B = heads_kept * value_B + core_B + mask_B;
    double mlp_kept = 2 * tokens * z.h / between + z.mlp * rows * wide / etp;
    double all_B = attention_B + mlp_kept * value_B + mask_B;
    work->working_B = work->regathers[QKV] > 0 ? work->tp_B : 0; /* an input, gathered */
    if (plan->recompute == FR_RECOMPUTE_NONE) {
        work->activation_B += layers * all_B + cross * attention_B;
        return;
    }
    bool full = plan->recompute == FR_RECOMPUTE_FULL;
    for (int k = 0; k < work->n_gemms; k++) work->again[k] = full || k == SCORES || k == VALUES;
    work->again_B += (full ? moved : attentions * FR_SOFTMAX_PASSES * scores) * value_B;
    work->again_flash += work->flash_flop;
    work->again_kernels +=
        full ? kernels : attentions * fr_transformer_head_kernels(t, plan->tp);
    work->activation_B += full ? layers * tokens * z.h / between * value_B
                               : layers * all_B + cross * attention_B - attentions * core_B;
    work->working_B += layers > 0 ? full ? all_B : core_B : 0;
}

/* Cross-entropy in fp32, step by step: the logits widened (2 + 4 B a value at 16 bits), their
 * maximum (4), shifted and raised (8), summed (4): 22 B; the norm's input beside. */
double fr_transformer_loss_B(double tokens, double vocabulary, double hidden, double value_B) {
    return tokens * vocabulary * (value_B + 20) + 2 * tokens * hidden * value_B;
}

/* The vocabulary is divided: each rank looks up its part of it, so the embeddings are summed;
 * each makes a part of the logits, so their input gradients are. */
static void add_vocabulary_tp(const struct fr_plan *plan, bool first, bool last,
                              struct fr_stage_work *work) {
    if (plan->tp == 1) return;
    if (first && plan->sequence_parallel) {
        work->forward_tp.reduce_scatters++;
        work->backward_tp.all_gathers++;
    } else if (first)
        work->forward_tp.all_reduces++;
    if (last && plan->sequence_parallel) {
        work->forward_tp.all_gathers++;
        work->backward_tp.reduce_scatters++;
        work->regathers[work->n_gemms - 1] = 1; /* the logits' input */
    } else if (last)
        work->backward_tp.all_reduces++;
}

void fr_transformer_stage(const struct fr_workload *workload, const struct fr_plan *plan,
                          int64_t i, struct fr_stage_work *work) {
    const struct fr_transformer *t = &workload->transformer;
    int64_t tp = plan->tp, pp = plan->pp, micro_batch = fr_plan_micro_batch(plan);
    double ranks = (double)tp, layers = (double)fr_transformer_stage_layers(t, plan, i);
    double h = (double)t->hidden,
           tokens = (double)(micro_batch * t->sequence) / (double)plan->cp;
    double between = plan->sequence_parallel ? ranks : 1;
    double value_B = fr_dtype_kept_B(workload->dtype);
    double embedding = (double)fr_transformer_padded_vocabulary(t, tp) * h;
    bool first = i == 0, last = i == pp - 1;
    *work = (struct fr_stage_work){0};
    double cross = (double)fr_transformer_stage_cross(t, plan, i);
    struct fr_transformer_parts parts = fr_transformer_layer_parts(t);
    work->parameters = layers * fr_transformer_layer_parameters(t) +
                       cross * (parts.attention + parts.cross_replicated);
    work->parameters_rank = layers * fr_transformer_layer_parameters_rank(t, tp) +
                            cross * (parts.attention / ranks + parts.cross_replicated);
    if (t->experts) { /* a rank holds its share of the experts */
        double all = layers * fr_experts_parameters(t);
        work->expert_rank = all / (double)(fr_plan_expert_tp(plan) * plan->ep);
        work->parameters_rank += work->expert_rank - all / ranks;
    }
    add_layers(workload, plan, layers, cross, work);
    work->layers.n = layers;
    work->layers.n_gemms = work->n_gemms;
    work->layers.forward_B = work->forward_B;
    work->layers.kernels = work->kernels;
    work->layers.forward_tp = work->forward_tp;
    work->layers.backward_tp = work->backward_tp;
    if (first) {
        double positions = t->positions ? (double)t->sequence * h : 0;
        work->parameters += embedding + positions;
        work->parameters_rank += embedding / ranks + positions;
        work->forward_B += 2 * tokens * h / between * value_B;
        work->kernels += 2;
    }
    if (last) {
        double norm = h * (t->norm_biases ? 2 : 1);
        bool own_matrix = !t->tied, copy = t->tied && pp > 1;
        work->parameters += norm + (own_matrix ? embedding : 0);
        work->parameters_rank += norm + (own_matrix || copy ? embedding / ranks : 0);
        add_product(work, embedding / h / ranks, tokens, h, (double)micro_batch, 1);
        work->forward_B += fr_transformer_loss_B(tokens, embedding / h / ranks, h, value_B);
        work->kernels += 5; /* norm, product, and the cross-entropy's maximum, sum and loss */
        work->activation_B += tokens * (h / between + embedding / h / ranks) * value_B;
    }
    add_vocabulary_tp(plan, first, last, work);
    if (t->tied && (first || last)) work->embedding_rank = embedding / ranks;
}
