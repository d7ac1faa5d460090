/** @file
 *  Trading time for memory: activations that are not kept, or not on the device. */
#ifndef FR_MODELS_PLAN_RECOMPUTE_H
#define FR_MODELS_PLAN_RECOMPUTE_H

/** Which activations are not kept but computed again in the backward pass: none, those of the
 *  attention core (scores, softmax, their product with the values), or all of a layer. */
typedef enum { FR_RECOMPUTE_NONE, FR_RECOMPUTE_SELECTIVE, FR_RECOMPUTE_FULL } fr_recompute;

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
