#include "models/price/footprint.h"

#include <math.h>

void fr_footprint_add(struct fr_footprint *footprint, const struct fr_workload *workload,
                      double parameters, double activation_B) {
    footprint->state_B += parameters * fr_workload_state_B(workload);
    footprint->pass_B += parameters * (fr_dtype_size_B(workload->dtype) +
                                       fr_dtype_size_B(workload->gradient_dtype));
    footprint->activation_B += activation_B;
}

double fr_footprint_products_B(const struct fr_footprint *footprint, double micro_batches) {
    if (footprint->state_B <= 0) return 0; /* nothing to hold, or nobody asked: no logarithms */
    double first = log(footprint->state_B + footprint->activation_B + 1),
           others = log(footprint->pass_B + footprint->activation_B + 1);
    return exp(others + (first - others) / micro_batches);
}

double fr_footprint_update_B(const struct fr_footprint *footprint) {
    return footprint->state_B + footprint->activation_B;
}
