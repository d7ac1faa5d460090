/** @file
 *  Trading time for memory: activations that are not kept, or not on the device. */
#ifndef FR_MODELS_PLAN_RECOMPUTE_H
#define FR_MODELS_PLAN_RECOMPUTE_H

#include <stdbool.h>

/** Which activations are not kept but computed again in the backward pass: none, those of the
 *  attention core (scores, softmax, their product with the values), or all of a layer; or all of it but what a
 *  policy names (jax.checkpoint_policies.save_only_these_names): queries, keys and values, or these
 *  and what the attention's second product made.  A framework that traces (JAX) does not repeat what no gradient
 *  asks for: with a policy the MLP's last product and the addition after it. */
typedef enum {
    FR_RECOMPUTE_NONE,
    FR_RECOMPUTE_SELECTIVE,
    FR_RECOMPUTE_FULL,
    FR_RECOMPUTE_SAVE_QKV,
    FR_RECOMPUTE_SAVE_QKV_OUT
} fr_recompute;

/** All of a layer, but for what a policy keeps? */
static inline bool fr_recomputes_layer(fr_recompute recompute) {
    return recompute >= FR_RECOMPUTE_FULL;
}

/** Does it keep what a policy names? */
static inline bool fr_recompute_saves(fr_recompute recompute) {
    return recompute > FR_RECOMPUTE_FULL;
}

/** What lives in the host's memory in place of the device's: models/price/offload.h. */
typedef enum {
    FR_OFFLOAD_NONE = 0,
    FR_OFFLOAD_ACTIVATIONS = 1,
    FR_OFFLOAD_OPTIMIZER = 2,
    FR_OFFLOAD_ALL = 3 /**< both: bits */
} fr_offload;

/** Spellings in order, then NULL. */
extern const char *const fr_recompute_names[];
extern const char *const fr_offload_names[];

#endif
