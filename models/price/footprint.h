/** @file
 *  What a rank goes through in a step: the working set that decides how fast it comes
 *  (models/device/working_set.h).
 *
 *  L layers of w bytes of weights, g of gradients, s of all state and a of activations are gone through
 *  upwards, then downwards, and the optimiser goes through them upwards.  Between two touches of layer l
 *
 *      forward, after the optimiser      the states above it, the weights and activations below it
 *      forward, after a backward pass    weights, gradients and activations below it
 *      its input gradient                weights, gradients and activations above it
 *      its weight gradient, after the optimiser    the states above it, the weights up to it, activations
 *      its weight gradient, after another          all weights, gradients and activations
 *
 *  are touched (stack distance, Mattson et al. 1970): in the mean over l, for many layers, half of the sums over all
 *  layers that each line names, and of the last one the whole.  Our own derivation. */
#ifndef FR_MODELS_PRICE_FOOTPRINT_H
#define FR_MODELS_PRICE_FOOTPRINT_H

#include "models/price/operation.h"

/** Bytes of one rank. */
struct fr_footprint {
    double weights_B;    /**< parameters alone */
    double state_B;      /**< weights, gradients and optimiser state */
    double pass_B;       /**< weights and gradients */
    double activation_B; /**< of one micro-batch */
    bool forward;        /**< no other pass: all weights lie between two touches of a layer's */
};

/** Add layers of so many @p parameters on the rank. */
void fr_footprint_add(struct fr_footprint *footprint, const struct fr_job *job,
                      double parameters, double activation_B);

/** Mark so many of the @p parameters as not trained: they hold weights alone. */
void fr_footprint_freeze(struct fr_footprint *footprint, const struct fr_workload *workload,
                         double parameters);

/** Working set of the products in a step of @p micro_batches passes [B].  In the first micro-batch the optimiser was
 *  the last to touch the weights.  In the others the pass before was.  The value is the mean of both in logarithms. */
double fr_footprint_products_B(const struct fr_footprint *footprint, double micro_batches);
/** Set products_B, update_B and adds of @p price, and met_B: what lies between two touches of a layer, in the
 *  mean over layers and, by logarithms, over the micro-batches. */
void fr_footprint_price(const struct fr_footprint *footprint, double micro_batches,
                        struct fr_pricing *price);
/** Working set of the optimiser: all of it [B]. */
double fr_footprint_update_B(const struct fr_footprint *footprint);

#endif
