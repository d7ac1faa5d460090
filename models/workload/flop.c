#include "models/workload/flop.h"

#include <math.h>

#include "models/workload/adapters.h"
#include "models/workload/attention.h"
#include "models/workload/cache.h"
#include "models/workload/hybrid.h"
#include "models/workload/ssm.h"

static const double PASSES = 3, FLOP_OF_PRODUCT = 2;

/* Multiplications of a token with a matrix: dense, or phantom. */
static double matrix(const struct fr_counted *n, double out, double in) {
    if (!(n->ghost_neurons > 0)) return out * in;
    return out * in / n->ranks + n->ghost_neurons * in +
           (n->ranks - 1) * n->ghost_neurons * out;
}

/* The same of a transformer's MLP and attention, which may be dense. */
static double mlp_matrix(const struct fr_counted *n, double out, double in) {
    return n->dense_mlp ? out * in : matrix(n, out, in);
}
static double attention_matrix(const struct fr_counted *n, double out, double in) {
    return n->phantom_attention ? matrix(n, out, in) : out * in;
}

/* Multiplications of one sample forward. */
static double layers_forward(const struct fr_counted *n) {
    double products = 0;
    for (int i = 0; i < n->workload->n_layers; i++) {
        const struct fr_layer *layer = &n->workload->layers[i];
        products += layer->repeat * layer->positions * matrix(n, layer->rows, layer->inner);
    }
    return products;
}

double fr_transformer_seen(const struct fr_transformer *t) {
    double s = (double)t->sequence, chosen = (double)t->index_tokens;
    if (t->document > 0) return fmin(1, (double)t->document / s);
    if (t->index_heads > 0 && chosen < s) return 1 - (1 - chosen / s) * (1 - chosen / s);
    if (t->window == 0 || t->window >= t->sequence) return 1;
    double window = (double)t->window / (t->both_ways ? 2 : 1), outside = 1 - window / s,
           hidden = t->window_chunks ? outside : outside * outside,
           attentions = fr_block_counts_of(t).attention;
    return 1 - (double)t->window_layers / attentions * hidden;
}

/* The last layers are a decoder's, each with a causal attention and one to the encoder's tokens; the others look both
 * ways. */
double fr_transformer_made(const struct fr_transformer *t) {
    double layers = (double)t->layers, decoder = (double)t->cross_layers;
    if (t->both_ways) return fr_transformer_seen(t);
    if (decoder > 0) return (layers - decoder + decoder / 2 + decoder) / (layers + decoder);
    return fr_transformer_seen(t) / 2;
}

/* Multiplications of all layers, one sample forward. */
static struct fr_layers_flop layers_of_transformer(const struct fr_counted *n) {
    const struct fr_transformer *t = &n->workload->transformer;
    const struct fr_attention_sizes a = fr_attention_of(t);
    const struct fr_block_counts blocks = fr_block_counts_of(t);
    const struct fr_ssm_sizes ssm = fr_ssm_of(t);
    double h = (double)t->hidden, s = (double)t->sequence, more = (double)t->predicted,
           attentions = blocks.attention + more + (double)t->cross_layers,
           dense = blocks.mlp + (t->experts ? 0 : more),
           mixed = blocks.experts + (t->experts ? more : 0),
           chosen = (double)(t->expert_ffn * t->experts_per_token + t->shared_ffn),
           f = (double)t->ffn, wide = mixed > 0 ? mixed * chosen * h : 0,
           narrow = h * (a.q_latent + a.kv_latent) + a.from_kv * a.to_kv +
                    a.from_q * a.index_q + h * a.index_k,
           pairs = s * s * (n->palm ? 1 : fr_transformer_made(t)),
           second =
               n->phantom_attention ? (double)t->cross_layers * s * n->ghost_neurons * h : 0,
           scored = s * s * (n->palm ? 1 : 0.5) * a.index_q; /* the indexer looks at all */
    const struct fr_cache_sizes cache = fr_cache_of(t);
    double behind = attentions * s * (cache.pair * cache.seen + cache.scored);
    return (struct fr_layers_flop){
        .qkv = attentions * s * (attention_matrix(n, a.to_q, a.from_q) + narrow) + second,
        .core = attentions * (pairs * (a.queries + a.made) + scored) + behind,
        .out = attentions * s * attention_matrix(n, h, a.made),
        .mlp_first = s * ((dense * mlp_matrix(n, f, h) + wide) * (t->gated ? 2 : 1) +
                          mixed * h * (double)t->experts),
        .mlp_last = s * (dense * mlp_matrix(n, h, f) + wide),
        .ssm = blocks.ssm * s * (h * (ssm.in + ssm.inner) + ssm.narrow + ssm.forward),
        .up = fr_attention_is_latent(t)
                  ? attentions * s * (a.from_q * a.to_q + a.from_kv * a.to_kv)
                  : 0,
        .dense_first = s * dense * mlp_matrix(n, f, h) * (t->gated ? 2 : 1),
        .dense_last = s * dense * mlp_matrix(n, h, f),
        .shared = s * mixed * (double)t->shared_ffn * h * (t->gated ? 3 : 2)};
}

/* Forward operations of the adapters beside them. */
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
static double transformer_forward(const struct fr_counted *n) {
    const struct fr_transformer *t = &n->workload->transformer;
    struct fr_layers_flop layers = layers_of_transformer(n);
    double h = (double)t->hidden, s = (double)t->sequence, predicted = (double)t->predicted;
    return layers.qkv + layers.core + layers.out + layers.mlp_first + layers.mlp_last +
           layers.ssm + s * h * (double)t->vocabulary * (1 + predicted) +
           predicted * s * 2 * h * h + (t->masked_head ? s * h * h : 0);
}

/* Frozen products are made in two passes. */
static double transformer_passes(const struct fr_counted *n) {
    const struct fr_transformer *t = &n->workload->transformer;
    double core = layers_of_transformer(n).core, products = transformer_forward(n) - core;
    if (!fr_transformer_frozen(t)) return PASSES * FLOP_OF_PRODUCT * transformer_forward(n);
    return FLOP_OF_PRODUCT * ((PASSES - 1) * products + PASSES * (core + adapters_forward(t)));
}

double fr_counted_flop(const struct fr_counted *n) {
    if (n->workload->transformer.layers) return transformer_passes(n);
    return n->workload->n_layers ? PASSES * FLOP_OF_PRODUCT * layers_forward(n) : (double)NAN;
}

double fr_counted_forward_flop(const struct fr_counted *n) {
    const struct fr_transformer *t = &n->workload->transformer;
    if (!fr_transformer_frozen(t)) return fr_counted_flop(n) / PASSES;
    return FLOP_OF_PRODUCT * (transformer_forward(n) + adapters_forward(t));
}

struct fr_layers_flop fr_counted_layers_flop(const struct fr_counted *n) {
    if (!n->workload->transformer.layers) return (struct fr_layers_flop){0};
    struct fr_layers_flop f = layers_of_transformer(n);
    double *each[] = {&f.qkv, &f.core, &f.out,         &f.mlp_first,  &f.mlp_last,
                      &f.ssm, &f.up,   &f.dense_first, &f.dense_last, &f.shared};
    for (size_t k = 0; k < sizeof each / sizeof *each; k++) *each[k] *= FLOP_OF_PRODUCT;
    return f;
}
