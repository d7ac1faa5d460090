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

static double cores_forward(const struct fr_transformer *t) {
    double s = (double)t->sequence, q = (double)(t->heads * t->head_dim);
    return (double)(t->layers + t->cross_layers) * 2 * s * s * q;
}

static double layers_of_transformer(const struct fr_transformer *t) {
    double h = (double)t->hidden, s = (double)t->sequence, q = (double)(t->heads * t->head_dim),
           kv = (double)(t->kv_heads * t->head_dim), matrices = t->gated ? 3 : 2;
    double mlp = t->experts ? matrices * h * (double)(t->expert_ffn * t->experts_per_token) +
                                  h * (double)t->experts
                            : matrices * h * (double)t->ffn;
    double attentions = (double)(t->layers + t->cross_layers);
    double projections = s * (h * (q + 2 * kv) + q * h);
    return attentions * projections + cores_forward(t) + (double)t->layers * s * mlp;
}

static double transformer_forward(const struct fr_transformer *t) {
    return layers_of_transformer(t) +
           (double)t->sequence * (double)t->hidden * (double)t->vocabulary;
}

double fr_workload_flop(const struct fr_workload *workload) {
    if (workload->transformer.layers)
        return PASSES * FLOP_OF_PRODUCT * transformer_forward(&workload->transformer);
    return workload->n_layers ? PASSES * FLOP_OF_PRODUCT * layers_forward(workload)
                              : (double)NAN;
}

double fr_workload_layers_flop(const struct fr_workload *workload) {
    const struct fr_transformer *t = &workload->transformer;
    return t->layers ? FLOP_OF_PRODUCT * layers_of_transformer(t) : 0;
}

double fr_workload_cores_flop(const struct fr_workload *workload) {
    const struct fr_transformer *t = &workload->transformer;
    return t->layers ? FLOP_OF_PRODUCT * cores_forward(t) : 0;
}
