/** @file
 *  Memory that a rank of a stage holds for a moment of its passes, beside the activations saved for the backward
 *  pass.  models/outcome/moments.h makes a peak of these sizes.
 *
 *  They are filled with a stage's operations (models/work/).  A division of the model that does not state them leaves
 *  0, and its saved and working memory count as they are. */
#ifndef FR_MODELS_WORK_MOMENT_H
#define FR_MODELS_WORK_MOMENT_H

#include <stdbool.h>

struct fr_moment_sizes {
    bool known;           /**< the division says what follows, not its logits alone */
    bool grouped;         /**< has products in groups: of experts */
    double heads;         /**< that make logits: one, and one for each further token */
    double logits;        /**< values of one on the rank, a micro-batch */
    double value_B;       /**< of a logit, as it is kept */
    double head_B;        /**< inputs of the heads, of what a micro-batch keeps at the ends */
    double normed_B;      /**< inputs of the norms before them, besides */
    double gathered_B;    /**< a head's input whole, where ranks divide it along the sequence */
    double input_B;       /**< its gradient */
    double head_weight_B; /**< gradient of a head's weights, as a product writes it */
    double lookup_B;      /**< the same of the embedding's */
    double
        embedded_B; /**< what comes down to the embedding: its gradient, and the copy that it is read from */
    double layer_B; /**< gradients of a layer's activations, at the peak of its backward pass */
    double joined_B; /**< inputs whole and their gradients there, and the residual's */
    double
        layer_weight_B; /**< the largest gradient of a layer's weights, as a product writes it */
    double again_B;     /**< a layer's activations, made again */
    double layers;      /**< of the stage */
    double casts_B; /**< weights of products made narrow, which layers keep (framework.casts) */
    double fused_B; /**< kept a micro-batch besides, by fused attention */
    double shapes_B;         /**< a copy of every distinct shape of weights, but ... */
    double grouped_shapes_B; /**< ... those in groups */
    double pass_B; /**< of what a pass works with (working_B), all of which is above */
};

#endif
