#include "models/transformer.h"

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

/* Parameters that tp divides, and those that every rank holds. */
static void layer_parameters(const struct fr_transformer *t, double *divided,
                             double *replicated) {
    struct sizes z = sizes_of(t);
    *divided = z.h * (z.q + 2 * z.kv) + z.q * z.h + z.mlp * z.h * z.f;
    *replicated = 2 * z.h * (t->norm_biases ? 2 : 1);
    if (t->qk_norms) *replicated += 2 * (double)t->head_dim; /* shared by the heads */
    if (t->qkv_biases && !t->biases) *divided += z.q + 2 * z.kv;
    if (!t->biases) return;
    *divided += z.q + 2 * z.kv + (z.mlp - 1) * z.f;
    *replicated += 2 * z.h; /* after the row-divided products */
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
    return t->layers / plan->pp + (i < t->layers % plan->pp);
}

static bool layers_fit(const struct fr_transformer *t, const struct fr_plan *plan) {
    int64_t sum = 0;
    if (!plan->stage_layers) return plan->pp * plan->chunks <= t->layers;
    for (int i = 0; i < plan->n_stage_layers; i++) sum += plan->stage_layers[i];
    return plan->n_stage_layers == plan->pp && sum == t->layers;
}

fr_reasons fr_transformer_check(const struct fr_workload *workload,
                                const struct fr_plan *plan) {
    const struct fr_transformer *t = &workload->transformer;
    int64_t tp = plan->tp;
    fr_reasons reasons = 0;
    if (t->heads % tp != 0 || t->kv_heads % tp != 0 || t->ffn % tp != 0 ||
        (plan->sequence_parallel && t->sequence % tp != 0))
        reasons |= FR_BECAUSE(FR_REASON_WIDTH);
    if (!layers_fit(t, plan)) reasons |= FR_BECAUSE(FR_REASON_STAGES);
    return reasons;
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

/* Kernels of a layer forward, counted from the list of what it does: two norms, four to five
 * products, two of attention with a softmax between, an activation, two residual additions. */
static double layer_kernels(const struct fr_transformer *t) { return t->gated ? 13 : 12; }

/* What goes between the products, once a layer's attention and once its MLP: each way one
 * all-reduce, or a gather before and a scatter after. */
static void add_layer_tp(const struct fr_plan *plan, double layers,
                         struct fr_stage_work *work) {
    if (plan->tp == 1) return;
    double twice = 2 * layers;
    work->forward_tp = plan->sequence_parallel
                           ? (struct fr_tp_work){.all_gathers = twice, .reduce_scatters = twice}
                           : (struct fr_tp_work){.all_reduces = twice};
    work->backward_tp = work->forward_tp;
    if (plan->recompute == FR_RECOMPUTE_FULL) work->again_tp = work->forward_tp;
}

static void add_layers(const struct fr_workload *workload, const struct fr_plan *plan,
                       double layers, struct fr_stage_work *work) {
    const struct fr_transformer *t = &workload->transformer;
    double tp = (double)plan->tp, batch = (double)fr_plan_micro_batch(plan);
    double between = plan->sequence_parallel ? tp : 1; /* divides what is not a product */
    struct sizes z = sizes_of(t);
    bool flash = plan->attention == FR_ATTENTION_FLASH;
    double s = (double)t->sequence, tokens = batch * s,
           value_B = fr_dtype_size_B(workload->dtype);
    double heads = (double)t->heads / tp, d = (double)t->head_dim,
           scores = batch * heads * s * s;
    enum { QKV, SCORES, VALUES, OUT, UP }; /* the first products, in order */
    add_product(work, (z.q + 2 * z.kv) / tp, tokens, z.h, batch, layers);
    add_product(work, s, s, d, batch, flash ? 0 : layers * batch * heads);
    add_product(work, s, d, s, batch, flash ? 0 : layers * batch * heads);
    work->core[SCORES] = work->core[VALUES] = true;
    /* A fused kernel keeps no scores and skips those that the causal mask hides: half. */
    if (flash) work->flash_flop += layers * 2 * 2 * scores * d / 2;
    if (flash) scores = 0;
    add_product(work, z.h, tokens, z.q / tp, batch, layers);
    add_product(work, z.f / tp, tokens, z.h, batch, layers * (z.mlp - 1));
    add_product(work, z.h, tokens, z.f / tp, batch, layers);
    /* Read and written: two norms, two residual additions with dropout, the activation and the
     * softmax with its mask and dropout. */
    double moved = (2 * 2 + 2 * 3) * tokens * z.h / between +
                   2 * (z.mlp - 1) * tokens * z.f / tp + 4 * scores;
    work->forward_B += layers * moved * value_B;
    work->kernels += layers * layer_kernels(t);
    work->tp_B = tokens * z.h * value_B;
    add_layer_tp(plan, layers, work);
    if (plan->sequence_parallel && tp > 1) work->regathers[QKV] = work->regathers[UP] = layers;
    /* Korthikanti et al. 2022, Eq. 2, s b h (10 + 24/t + 5 a s / (h t)) bytes at two bytes a
     * value, and Eq. 4 with sequence parallel, the 10 over t as well; written for any dtype, MLP
     * width and head count: inputs of the norms and products, and of the softmax; masks of one
     * byte. */
    double kept = 4 * tokens * z.h / between + (z.q + 2 * z.kv + z.q) / tp * tokens +
                  z.mlp * tokens * z.f / tp + 2 * scores;
    double masks_B = 2 * tokens * z.h / between + scores;
    double core_B = 2 * scores * value_B + scores, all_B = kept * value_B + masks_B;
    work->working_B = work->regathers[QKV] > 0 ? work->tp_B : 0; /* an input, gathered */
    if (plan->recompute == FR_RECOMPUTE_NONE) {
        work->activation_B += layers * all_B;
        return;
    }
    bool full = plan->recompute == FR_RECOMPUTE_FULL;
    for (int k = 0; k < work->n_gemms; k++) work->again[k] = full || k == SCORES || k == VALUES;
    work->again_B += layers * (full ? moved : 4 * scores) * value_B;
    work->again_flash += work->flash_flop;
    work->again_kernels += layers * (full ? layer_kernels(t) : 3);
    work->activation_B += layers * (full ? tokens * z.h / between * value_B : all_B - core_B);
    work->working_B += layers > 0 ? full ? all_B : core_B : 0;
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
    double h = (double)t->hidden, tokens = (double)(micro_batch * t->sequence);
    double between = plan->sequence_parallel ? ranks : 1;
    double value_B = fr_dtype_size_B(workload->dtype);
    double embedding = (double)fr_transformer_padded_vocabulary(t, tp) * h;
    bool first = i == 0, last = i == pp - 1;
    *work = (struct fr_stage_work){0};
    work->parameters = layers * fr_transformer_layer_parameters(t);
    work->parameters_rank = layers * fr_transformer_layer_parameters_rank(t, tp);
    add_layers(workload, plan, layers, work);
    work->layers = (struct fr_stage_share){.n_gemms = work->n_gemms,
                                           .forward_B = work->forward_B,
                                           .kernels = work->kernels,
                                           .forward_tp = work->forward_tp,
                                           .backward_tp = work->backward_tp};
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
        /* Cross-entropy in fp32, step by step: the logits widened (2 + 4 B a value at 16 bits),
         * their maximum (4), shifted and raised (8), summed (4): 22 B; the norm's input beside. */
        work->forward_B +=
            tokens * embedding / h / ranks * (value_B + 20) + 2 * tokens * h * value_B;
        work->kernels += 5; /* norm, product, and the cross-entropy's maximum, sum and loss */
        work->activation_B += tokens * (h / between + embedding / h / ranks) * value_B;
    }
    add_vocabulary_tp(plan, first, last, work);
    if (t->tied && (first || last)) work->embedding_rank = embedding / ranks;
}
