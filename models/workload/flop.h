/** @file
 *  What a model asks of its machines, whatever the plan: the floating-point operations that a sample
 *  takes forward and backward, without recomputation.
 *
 *  Three products (forward, input gradient, weight gradient) of 2 m n k each.  Of a transformer of L
 *  layers, s tokens, vocabulary V, a heads and k key-value heads of d values:
 *
 *      6 s (L (h (a + 2k) d + a d h + w h f) + h V) + 12 L s^2 a d
 *
 *  w f the MLP's two or three widths, of a mixture those of the experts that a token goes through and
 *  the router's; a layer with cross-attention has its attention twice.  Scores are counted whole, not
 *  halved for a causal mask, as Chowdhery et al., PaLM, 2022 (appendix B) and Narayanan et al., SC'21
 *  (Eq. 3 without its recomputation) count them. */
#ifndef FR_MODELS_WORKLOAD_FLOP_H
#define FR_MODELS_WORKLOAD_FLOP_H

#include "models/workload/workload.h"

/** Of one sample, a sequence of a transformer [FLOP]; NaN of a model of measured stages. */
double fr_workload_flop(const struct fr_workload *workload);

/** Of it one forward pass of a transformer's layers, without the logits; of their attention cores alone (scores
 *  and weighted values): what recomputation does again [FLOP].  0 of other models. */
double fr_workload_layers_flop(const struct fr_workload *workload);
double fr_workload_cores_flop(const struct fr_workload *workload);

#endif
