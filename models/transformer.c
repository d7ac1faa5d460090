#include "models/transformer.h"

#include <math.h>
#include <stddef.h>

const char *const fr_recompute_names[] = {"none", "selective", "full", NULL};

int64_t fr_transformer_padded_vocabulary(const struct fr_transformer *t, int64_t tp) {
    int64_t multiple = 128 * tp;
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

int64_t fr_transformer_stage_layers(const struct fr_transformer *t, int64_t pp, int64_t i) {
    return t->layers / pp + (i < t->layers % pp);
}

fr_reasons fr_transformer_check(const struct fr_workload *workload, int64_t tp, int64_t pp) {
    const struct fr_transformer *t = &workload->transformer;
    fr_reasons reasons = 0;
    if (t->heads % tp != 0 || t->kv_heads % tp != 0 || t->ffn % tp != 0)
        reasons |= FR_BECAUSE(FR_REASON_WIDTH);
    if (pp > t->layers) reasons |= FR_BECAUSE(FR_REASON_STAGES);
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

static void add_layers(const struct fr_workload *workload, double layers, double tp,
                       double batch, fr_recompute recompute, struct fr_stage_work *work) {
    const struct fr_transformer *t = &workload->transformer;
    struct sizes z = sizes_of(t);
    double s = (double)t->sequence, tokens = batch * s,
           value_B = fr_dtype_size_B(workload->dtype);
    double heads = (double)t->heads / tp, d = (double)t->head_dim,
           scores = batch * heads * s * s;
    enum { QKV, SCORES, VALUES }; /* the first products, in order */
    add_product(work, (z.q + 2 * z.kv) / tp, tokens, z.h, batch, layers);
    add_product(work, s, s, d, batch, layers * batch * heads);
    add_product(work, s, d, s, batch, layers * batch * heads);
    add_product(work, z.h, tokens, z.q / tp, batch, layers);
    add_product(work, z.f / tp, tokens, z.h, batch, layers * (z.mlp - 1));
    add_product(work, z.h, tokens, z.f / tp, batch, layers);
    /* Read and written: two norms, two residual additions with dropout, the activation and the
     * softmax with its mask and dropout. */
    double moved = 2 * 2 * tokens * z.h + 2 * 3 * tokens * z.h +
                   2 * (z.mlp - 1) * tokens * z.f / tp + 4 * scores;
    work->forward_B += layers * moved * value_B;
    work->kernels += layers * layer_kernels(t);
    if (tp > 1) work->all_reduces += 2 * layers;
    work->all_reduce_B = tokens * z.h * value_B;
    /* Korthikanti et al. 2022, Eq. 2, s b h (10 + 24/t + 5 a s / (h t)) bytes at two bytes a
     * value, written for any dtype, MLP width and head count: inputs of the norms and products,
     * and of the softmax; masks of one byte. */
    double kept = 4 * tokens * z.h + (z.q + 2 * z.kv + z.q) / tp * tokens +
                  z.mlp * tokens * z.f / tp + 2 * scores;
    double masks_B = 2 * tokens * z.h + scores;
    double core_B = 2 * scores * value_B + scores, all_B = kept * value_B + masks_B;
    if (recompute == FR_RECOMPUTE_NONE) {
        work->activation_B += layers * all_B;
        return;
    }
    bool full = recompute == FR_RECOMPUTE_FULL;
    for (int k = 0; k < work->n_gemms; k++) work->again[k] = full || k == SCORES || k == VALUES;
    work->again_B += layers * (full ? moved : 4 * scores) * value_B;
    work->again_kernels += layers * (full ? layer_kernels(t) : 3);
    work->again_all_reduces += full ? work->all_reduces : 0;
    work->activation_B += layers * (full ? tokens * z.h * value_B : all_B - core_B);
    work->working_B = full ? all_B : core_B;
}

void fr_transformer_stage(const struct fr_workload *workload, int64_t tp, int64_t pp, int64_t i,
                          int64_t micro_batch, fr_recompute recompute,
                          struct fr_stage_work *work) {
    const struct fr_transformer *t = &workload->transformer;
    double ranks = (double)tp, layers = (double)fr_transformer_stage_layers(t, pp, i);
    double h = (double)t->hidden, tokens = (double)(micro_batch * t->sequence);
    double value_B = fr_dtype_size_B(workload->dtype);
    double embedding = (double)fr_transformer_padded_vocabulary(t, tp) * h;
    bool first = i == 0, last = i == pp - 1;
    *work = (struct fr_stage_work){0};
    work->parameters = layers * fr_transformer_layer_parameters(t);
    work->parameters_rank = layers * fr_transformer_layer_parameters_rank(t, tp);
    add_layers(workload, layers, ranks, (double)micro_batch, recompute, work);
    if (first) {
        double positions = t->positions ? (double)t->sequence * h : 0;
        work->parameters += embedding + positions;
        work->parameters_rank += embedding / ranks + positions;
        work->forward_B += 2 * tokens * h * value_B;
        work->kernels += 2;
        work->all_reduces += tp > 1; /* each rank looks up its part of the vocabulary */
    }
    if (last) {
        double norm = h * (t->norm_biases ? 2 : 1);
        bool own_matrix = !t->tied, copy = t->tied && pp > 1;
        work->parameters += norm + (own_matrix ? embedding : 0);
        work->parameters_rank += norm + (own_matrix || copy ? embedding / ranks : 0);
        add_product(work, embedding / h / ranks, tokens, h, (double)micro_batch, 1);
        work->forward_B += 3 * tokens * embedding / h / ranks * value_B;
        work->kernels += 5; /* norm, product, and the cross-entropy's maximum, sum and loss */
        work->activation_B += tokens * (h + embedding / h / ranks) * value_B;
    }
    if (t->tied && (first || last)) work->embedding_rank = embedding / ranks;
}
