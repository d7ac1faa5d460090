#include "models/price/footprint.h"

#include <math.h>

void fr_footprint_add(struct fr_footprint *footprint, const struct fr_job *job,
                      double parameters, double activation_B) {
    const struct fr_workload *workload = &job->workload;
    footprint->weights_B += parameters * fr_dtype_size_B(workload->dtype);
    footprint->state_B += parameters * fr_workload_state_B(workload, &job->cluster.device);
    footprint->pass_B += parameters * (fr_dtype_size_B(workload->dtype) +
                                       fr_dtype_size_B(workload->gradient_dtype));
    footprint->activation_B += activation_B;
}

void fr_footprint_freeze(struct fr_footprint *footprint, const struct fr_workload *workload,
                         double parameters) {
    double gradient_B = fr_dtype_size_B(workload->gradient_dtype);
    footprint->state_B -= parameters * (gradient_B + workload->optimizer_state_B);
    footprint->pass_B -= parameters * gradient_B;
}

/* One micro-batch of so many comes after the optimiser, the others after the one before. */
static double mean_B(double first_B, double other_B, double micro_batches) {
    double first = log(first_B + 1), others = log(other_B + 1);
    return exp(others + (first - others) / micro_batches);
}

double fr_footprint_products_B(const struct fr_footprint *footprint, double micro_batches) {
    if (footprint->forward) return footprint->weights_B + footprint->activation_B;
    if (footprint->state_B <= 0) return 0; /* nothing to hold, or nobody asked: no logarithms */
    return mean_B(footprint->state_B + footprint->activation_B,
                  footprint->pass_B + footprint->activation_B, micro_batches);
}

void fr_footprint_price(const struct fr_footprint *f, double micro_batches,
                        struct fr_pricing *price) {
    price->products_B = fr_footprint_products_B(f, micro_batches);
    price->update_B = fr_footprint_update_B(f);
    price->weight_gradient.adds = micro_batches > 1;
    if (f->state_B <= 0 || f->forward) return;
    double below_B = (f->pass_B + f->activation_B) / 2;
    price->met_B[FR_PASS_FORWARD] =
        mean_B((f->state_B + f->weights_B + f->activation_B) / 2, below_B, micro_batches);
    price->met_B[FR_PASS_INPUT] = price->met_B[FR_PASS_AGAIN] = below_B;
    price->met_B[FR_PASS_WEIGHT] =
        mean_B((f->state_B + f->weights_B) / 2 + f->activation_B, 2 * below_B, micro_batches);
}

double fr_footprint_update_B(const struct fr_footprint *footprint) {
    return footprint->state_B + footprint->activation_B;
}
