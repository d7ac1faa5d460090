#include "models/workload/flop.h"

#include <math.h>

#include "models/workload/adapters.h"
#include "models/workload/attention.h"
#include "models/workload/hybrid.h"
#include "models/workload/ssm.h"

static const double PASSES = 3, FLOP_OF_PRODUCT = 2;

/* Multiplications of one sample forward. */
static double layers_forward(const struct fr_workload *workload) {
    double products = 0;
    for (int i = 0; i < workload->n_layers; i++) {
        const struct fr_layer *layer = &workload->layers[i];
        products += layer->repeat * layer->rows * layer->positions * layer->inner;
    }
    return products;
}

double fr_transformer_seen(const struct fr_transformer *t) {
    if (t->document > 0) return fmin(1, (double)t->document / (double)t->sequence);
    if (t->window == 0 || t->window >= t->sequence) return 1;
    double outside = 1 - (double)t->window / (double)t->sequence;
    return 1 - (double)t->window_layers / (double)t->layers * outside * outside;
}

/* Multiplications of all layers, one sample forward. */
static struct fr_layers_flop layers_of_transformer(const struct fr_transformer *t) {
    const struct fr_attention_sizes a = fr_attention_of(t);
    const struct fr_block_counts blocks = fr_block_counts_of(t);
    const struct fr_ssm_sizes ssm = fr_ssm_of(t);
    double h = (double)t->hidden, s = (double)t->sequence, more = (double)t->predicted,
           attentions = blocks.attention + more + (double)t->cross_layers,
           dense = blocks.mlp + (t->experts ? 0 : more),
           mixed = blocks.experts + (t->experts ? more : 0),
           chosen = (double)(t->expert_ffn * t->experts_per_token + t->shared_ffn),
           wide = dense * (double)t->ffn + (mixed > 0 ? mixed * chosen : 0),
           narrow = h * (a.q_latent + a.kv_latent) + a.from_kv * a.to_kv;
    return (struct fr_layers_flop){
        .qkv = attentions * s * (a.from_q * a.to_q + narrow),
        .core = attentions * s * s * (a.queries + a.made) * fr_transformer_seen(t),
        .out = attentions * s * a.made * h,
        .mlp_first = s * h * (wide * (t->gated ? 2 : 1) + mixed * (double)t->experts),
        .mlp_last = s * h * wide,
        .ssm = blocks.ssm * s * (h * (ssm.in + ssm.inner) + ssm.forward)};
}

/* Of the adapters beside them. */
static double adapters_forward(const struct fr_transformer *t) {
    struct fr_adapted list[FR_ADAPTED_MAX];
    int n = fr_adapters_list(t, list);
    double layers = (double)t->layers, values = 0;
    for (int i = 0; i < n; i++)
        values += (list[i].mlp ? layers : layers + (double)t->cross_layers) *
                  (list[i].inputs + list[i].outputs);
    return values * (double)t->lora_rank * (double)t->sequence;
}

/* Multiplications of one sample forward, without adapters. */
static double transformer_forward(const struct fr_transformer *t) {
    struct fr_layers_flop layers = layers_of_transformer(t);
    double h = (double)t->hidden, s = (double)t->sequence, predicted = (double)t->predicted;
    return layers.qkv + layers.core + layers.out + layers.mlp_first + layers.mlp_last +
           layers.ssm + s * h * (double)t->vocabulary * (1 + predicted) +
           predicted * s * 2 * h * h + (t->masked_head ? s * h * h : 0);
}

/* Frozen products are made in two passes. */
static double transformer_passes(const struct fr_transformer *t) {
    double core = layers_of_transformer(t).core, products = transformer_forward(t) - core;
    if (!fr_transformer_frozen(t)) return PASSES * FLOP_OF_PRODUCT * transformer_forward(t);
    return FLOP_OF_PRODUCT * ((PASSES - 1) * products + PASSES * (core + adapters_forward(t)));
}

double fr_workload_flop(const struct fr_workload *workload) {
    if (workload->transformer.layers) return transformer_passes(&workload->transformer);
    return workload->n_layers ? PASSES * FLOP_OF_PRODUCT * layers_forward(workload)
                              : (double)NAN;
}

double fr_workload_forward_flop(const struct fr_workload *workload) {
    const struct fr_transformer *t = &workload->transformer;
    if (!fr_transformer_frozen(t)) return fr_workload_flop(workload) / PASSES;
    return FLOP_OF_PRODUCT * (transformer_forward(t) + adapters_forward(t));
}

struct fr_layers_flop fr_workload_layers_flop(const struct fr_workload *workload) {
    const struct fr_transformer *t = &workload->transformer;
    if (!t->layers) return (struct fr_layers_flop){0};
    struct fr_layers_flop f = layers_of_transformer(t);
    return (struct fr_layers_flop){FLOP_OF_PRODUCT * f.qkv,      FLOP_OF_PRODUCT * f.core,
                                   FLOP_OF_PRODUCT * f.out,      FLOP_OF_PRODUCT * f.mlp_first,
                                   FLOP_OF_PRODUCT * f.mlp_last, FLOP_OF_PRODUCT * f.ssm};
}
