/** @file
 *  What a rank goes through in a step: the working set that decides how fast it comes
 *  (models/device/working_set.h). */
#ifndef FR_MODELS_PRICE_FOOTPRINT_H
#define FR_MODELS_PRICE_FOOTPRINT_H

#include "models/workload/workload.h"

/** Bytes of one rank. */
struct fr_footprint {
    double state_B;      /**< weights, gradients and optimiser state */
    double pass_B;       /**< weights and gradients */
    double activation_B; /**< of one micro-batch */
};

/** Add layers of so many @p parameters on the rank. */
void fr_footprint_add(struct fr_footprint *footprint, const struct fr_workload *workload,
                      double parameters, double activation_B);

/** Working set of products in a step of @p micro_batches passes: of one micro-batch in all, the
 *  first, the weights were last touched by the optimiser, by the others in the pass before (a mean
 *  of logarithms) [B]. */
double fr_footprint_products_B(const struct fr_footprint *footprint, double micro_batches);
/** Working set of the optimiser: all of it [B]. */
double fr_footprint_update_B(const struct fr_footprint *footprint);

#endif
