/** @file
 *  Trading time for memory: activations that are not kept. */
#ifndef FR_MODELS_PLAN_RECOMPUTE_H
#define FR_MODELS_PLAN_RECOMPUTE_H

/** Which activations are not kept but computed again in the backward pass: none, those of the
 *  attention core (scores, softmax, their product with the values), or all of a layer. */
typedef enum { FR_RECOMPUTE_NONE, FR_RECOMPUTE_SELECTIVE, FR_RECOMPUTE_FULL } fr_recompute;

/** Spellings in order, then NULL. */
extern const char *const fr_recompute_names[];

#endif
