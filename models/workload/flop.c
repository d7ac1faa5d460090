#include "models/workload/flop.h"

#include <math.h>

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

static double transformer_forward(const struct fr_transformer *t) {
    double h = (double)t->hidden, s = (double)t->sequence, q = (double)(t->heads * t->head_dim),
           kv = (double)(t->kv_heads * t->head_dim), matrices = t->gated ? 3 : 2;
    double mlp = t->experts ? matrices * h * (double)(t->expert_ffn * t->experts_per_token) +
                                  h * (double)t->experts
                            : matrices * h * (double)t->ffn;
    double attentions = (double)(t->layers + t->cross_layers);
    double attention = s * (h * (q + 2 * kv) + q * h) + 2 * s * s * q;
    return attentions * attention + (double)t->layers * s * mlp + s * h * (double)t->vocabulary;
}

double fr_workload_flop(const struct fr_workload *workload) {
    if (workload->transformer.layers)
        return PASSES * FLOP_OF_PRODUCT * transformer_forward(&workload->transformer);
    return workload->n_layers ? PASSES * FLOP_OF_PRODUCT * layers_forward(workload)
                              : (double)NAN;
}
