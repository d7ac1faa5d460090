#include "models/work/transformer.h"

#include "models/work/experts.h"
#include "models/workload/attention.h"

#include <math.h>
#include <stddef.h>

int64_t fr_transformer_padded_vocabulary(const struct fr_transformer *t, int64_t tp) {
    int64_t multiple = (t->vocabulary_multiple ? t->vocabulary_multiple : 128) * tp;
    return (t->vocabulary + multiple - 1) / multiple * multiple;
}

struct fr_transformer_parts fr_transformer_layer_parts(const struct fr_transformer *t) {
    const struct fr_attention_sizes a = fr_attention_of(t);
    double h = (double)t->hidden, f = (double)t->ffn, matrices = t->gated ? 3 : 2;
    double norm = h * (t->norm_biases ? 2 : 1),
           qk_norms = t->qk_norms ? 2 * (double)t->head_dim : 0;
    double qkv_biases = t->biases || t->qkv_biases ? a.queries + a.keys + a.values : 0;
    double out_bias = t->biases ? h : 0; /* after a row-divided product */
    double dense = matrices * h * f + (t->biases ? (matrices - 1) * f : 0),
           mixture = fr_experts_parameters(t) + h * (double)t->experts +
                     matrices * h * (double)t->shared_ffn;
    return (struct fr_transformer_parts){.attention = a.divided + qkv_biases,
                                         .mlp = t->experts ? mixture : dense,
                                         .dense = dense,
                                         .replicated = 2 * norm + qk_norms + 2 * out_bias +
                                                       a.whole + t->vectors,
                                         .cross_replicated = norm + qk_norms + out_bias};
}

double fr_transformer_stage_dense(const struct fr_transformer *t, const struct fr_plan *plan,
                                  int64_t i) {
    double left = (double)t->dense_layers, here = 0, chunks = (double)plan->chunks;
    if (!t->experts) return (double)fr_transformer_stage_layers(t, plan, i);
    for (int64_t c = 0; c < plan->chunks && left > 0; c++)
        for (int64_t k = 0; k < plan->pp && left > 0; k++) {
            int64_t stage = plan->schedule->folds && c % 2 ? plan->pp - 1 - k : k;
            double own =
                fmin(left, (double)fr_transformer_stage_layers(t, plan, stage) / chunks);
            left -= own;
            if (stage == i) here += own;
        }
    return here;
}

static void add_blocks(struct fr_block_counts *sum, struct fr_block_counts more) {
    sum->attention += more.attention;
    sum->mlp += more.mlp;
    sum->experts += more.experts;
    sum->ssm += more.ssm;
}

struct fr_block_counts fr_transformer_stage_blocks(const struct fr_transformer *t,
                                                   const struct fr_plan *plan, int64_t i) {
    double layers = (double)fr_transformer_stage_layers(t, plan, i), before = 0,
           chunks = (double)plan->chunks;
    struct fr_block_counts here = {.attention = layers, .mlp = layers};
    if (!fr_transformer_is_hybrid(t)) {
        if (t->experts) here.mlp = fr_transformer_stage_dense(t, plan, i);
        here.experts = layers - here.mlp;
        return here;
    }
    here = (struct fr_block_counts){0};
    for (int64_t c = 0; c < plan->chunks; c++)
        for (int64_t k = 0; k < plan->pp; k++) {
            int64_t stage = plan->schedule->folds && c % 2 ? plan->pp - 1 - k : k;
            double own = (double)fr_transformer_stage_layers(t, plan, stage) / chunks;
            if (stage == i) add_blocks(&here, fr_block_counts_between(t, before, before + own));
            before += own;
        }
    return here;
}

/* Decoder layers below stage @p i; negative: so many of the encoder's are above. */
static int64_t decoded_below(const struct fr_transformer *t, const struct fr_plan *plan,
                             int64_t i) {
    int64_t before = 0;
    for (int64_t k = 0; k < i; k++) before += fr_transformer_stage_layers(t, plan, k);
    return before - (t->layers - t->cross_layers);
}

int64_t fr_transformer_stage_cross(const struct fr_transformer *t, const struct fr_plan *plan,
                                   int64_t i) {
    if (t->cross_layers == 0) return 0;
    int64_t here = fr_transformer_stage_layers(t, plan, i),
            crossed = decoded_below(t, plan, i) + here;
    return crossed < 0 ? 0 : crossed < here ? crossed : here;
}

bool fr_transformer_carries(const struct fr_transformer *t, const struct fr_plan *plan,
                            int64_t i) {
    return t->cross_layers > 0 && i > 0 && i < plan->pp && decoded_below(t, plan, i) > 0;
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
    if (plan->chunks > 1 && plan->pp > 1 && lacking > 0 &&
        !plan->schedule->folds) /* a layer a chunk, but for the ends */
        return plan->chunks - (i == plan->pp - 1) - (i == 0 && lacking == 2);
    return t->layers / plan->pp + (i < t->layers % plan->pp);
}

bool fr_transformer_layers_fit(const struct fr_transformer *t, const struct fr_plan *plan) {
    int64_t sum = 0;
    int64_t ends = plan->chunks > 1 && plan->pp > 1 && !plan->schedule->folds
                       ? 2
                       : 0; /* logits and embedding as layers */
    if (!plan->stage_layers) return plan->pp * plan->chunks <= t->layers + ends;
    for (int i = 0; i < plan->n_stage_layers; i++) sum += plan->stage_layers[i];
    return plan->n_stage_layers == plan->pp && sum == t->layers;
}

/* Inside the heads: two products with a softmax between, batched over heads and samples; or as
 * many as each head launches. */
double fr_transformer_head_kernels(const struct fr_transformer *t, int64_t tp) {
    return t->head_kernels > 0 ? t->head_kernels * (double)t->heads / (double)tp : 3;
}

/* Counted from a layer's operations: two norms, four to five products, the heads, an activation, two residual
 * additions.  A choice of experts adds the router's product and its top ones, and rows put in order, sent, brought
 * back and added up.  A shared MLP adds its products, activation and addition.  Latent attention has narrow products
 * with norms before two, or three, and a rotation and its joining to keys.  An indexer adds three products, a norm,
 * scores and the choice; a gate its own.  A cross-attention adds a norm, two products, its heads and a residual
 * addition. */
double fr_transformer_mixture_kernels(const struct fr_transformer *t) {
    double shared = t->shared_ffn > 0 ? t->gated ? 5 : 4 : 0;
    return (t->experts > 1 ? 6 : 0) + shared;
}

double fr_transformer_attention_kernels(const struct fr_transformer *t) {
    double latent = fr_attention_is_latent(t) ? t->q_latent > 0 ? 7 : 5 : 0;
    return latent + (t->index_heads > 0 ? 6 : 0) + (t->attention_gate ? 1 : 0);
}

double fr_transformer_layer_kernels(const struct fr_transformer *t, int64_t tp) {
    return (t->gated ? 10 : 9) + fr_transformer_mixture_kernels(t) +
           fr_transformer_attention_kernels(t) + fr_transformer_head_kernels(t, tp);
}

double fr_transformer_cross_kernels(const struct fr_transformer *t, int64_t tp) {
    return 4 + fr_transformer_head_kernels(t, tp);
}

/* Cross-entropy in fp32, step by step: the logits widened (2 + 4 B a value at 16 bits), their
 * maximum (4), shifted and raised (8), summed (4): 22 B; the norm's input beside. */
double fr_transformer_loss_B(double tokens, double vocabulary, double hidden, double value_B) {
    return tokens * vocabulary * (value_B + 20) + 2 * tokens * hidden * value_B;
}
