#include "models/zero.h"

#include <math.h>

void fr_zero_price(const struct fr_job *job, const struct fr_plan *plan,
                   const struct fr_group *replicas, const struct fr_zero_stage *zero,
                   struct fr_stage *stage, uint32_t *extrapolated) {
    if (plan->zero == 0 || replicas->n_ranks <= 1) return;
    const struct fr_cluster *c = &job->cluster;
    const struct fr_device *device = &c->device;
    bool beside = plan->bucket_B > 0;
    double layers = fmax(1, zero->layers);
    /* Layer by layer, as they are sent. */
    double scatter_s = layers * fr_cluster_comm_s(c, FR_OP_REDUCE_SCATTER, replicas,
                                                  zero->gradient_B / layers, extrapolated);
    double gather_s = layers * fr_cluster_comm_s(c, FR_OP_ALL_GATHER, replicas,
                                                 zero->parameter_B / layers, extrapolated);
    double forward_s = fr_pass_s(&stage->forward, FR_WITH_ALL);
    double backward_s = fr_pass_s(&stage->backward, FR_WITH_ALL);
    stage->optimizer_s /= (double)replicas->n_ranks;
    if (plan->zero == 1) { /* gradients as they were, at half the bytes, then the parameters */
        double whole_s = stage->gradient_s;
        stage->gradient_s = scatter_s + stage->coded_s;
        if (whole_s > 0) stage->bucket_s *= scatter_s / whole_s;
    } else {
        stage->gradient_s = stage->bucket_s = 0;
        stage->buckets = 0;
    }
    if (plan->zero <= 2)
        stage->optimizer_s +=
            beside ? fr_device_beside_s(device, gather_s, forward_s) : gather_s;
    if (plan->zero == 2)
        stage->backward.dp_s =
            fr_device_beside_s(device, scatter_s, backward_s) + scatter_s / layers;
    if (plan->zero < 3) return;
    /* The first layer's gather and the last one's scatter have nothing to hide behind. */
    stage->forward.dp_s = fr_device_beside_s(device, gather_s, forward_s) + gather_s / layers;
    stage->backward.dp_s = fr_device_beside_s(device, gather_s + scatter_s, backward_s) +
                           (gather_s + scatter_s) / layers;
}
