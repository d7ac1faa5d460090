#include "models/zero.h"

#include <math.h>

/* What of @p comm_s outlasts @p pass_s, and the part of one layer that nothing hides. */
static double exposed_s(double comm_s, double pass_s, double edge_s) {
    return fmax(comm_s - pass_s, 0) + edge_s;
}

void fr_zero_price(const struct fr_job *job, const struct fr_plan *plan,
                   const struct fr_group *replicas, const struct fr_zero_stage *zero,
                   struct fr_stage *stage, uint32_t *extrapolated) {
    if (plan->zero == 0 || replicas->n_ranks <= 1) return;
    const struct fr_cluster *c = &job->cluster;
    double layers = fmax(1, zero->layers), beside = plan->bucket_B > 0 ? 1 : 0;
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
        stage->gradient_s = scatter_s;
        if (whole_s > 0) stage->bucket_s *= scatter_s / whole_s;
    } else {
        stage->gradient_s = stage->bucket_s = 0;
        stage->buckets = 0;
    }
    if (plan->zero <= 2) stage->optimizer_s += fmax(0, gather_s - beside * forward_s);
    if (plan->zero == 2)
        stage->backward.dp_s = exposed_s(scatter_s, backward_s, scatter_s / layers);
    if (plan->zero < 3) return;
    stage->forward.dp_s = exposed_s(gather_s, forward_s, gather_s / layers);
    stage->backward.dp_s =
        exposed_s(gather_s + scatter_s, backward_s, (gather_s + scatter_s) / layers);
}
