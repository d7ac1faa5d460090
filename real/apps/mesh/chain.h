/** @file
 *  The units of a whole network in a row, and where the chunks of a plan's stages cut it.
 *
 *      layers            a unit each, fully connected or a convolution with its pooling
 *      transformer       embedding, a unit a layer, logits; the ends come on top of the layers of the
 *                        first and the last chunk */
#ifndef FR_REAL_APPS_MESH_CHAIN_H
#define FR_REAL_APPS_MESH_CHAIN_H

#include "real/apps/mesh/unit.h"

struct fr_chain {
    const struct fr_real_case *run;
    struct fr_real_layer *layer; /**< [n_layers], or NULL: a transformer's */
    int n_layers, n;             /**< layers; units */
};

/** @return FR_OK, FR_ERR_INPUT, FR_ERR_NOMEM.  Free with fr_chain_free, also on error. */
fr_status fr_chain_make(const struct fr_real_case *run, struct fr_chain *chain,
                        struct fr_error *err);
void fr_chain_free(struct fr_chain *chain);

/** Is it a transformer, which reads words? */
static inline bool fr_chain_reads_words(const struct fr_chain *chain) {
    return chain->run->workload->transformer.layers > 0;
}
/** Layers before chunk @p number of P v, and units. */
int64_t fr_chain_layers_before(const struct fr_chain *chain, int64_t number);
int64_t fr_chain_units_before(const struct fr_chain *chain, int64_t number);

/** Unit @p i on rank @p tp_rank, without memory; NULL kind: the plan's method divides no such layer
 *  here. */
struct fr_unit fr_chain_unit(const struct fr_chain *chain, int64_t i, int tp_rank, int columns);

#endif
