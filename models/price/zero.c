#include "models/price/zero.h"

#include <math.h>

double fr_zero_kept(const struct fr_plan *plan, double parameters, double experts, int least) {
    bool divides = plan->zero > 0 && plan->zero >= least;
    double rest = parameters - experts;
    if (!divides) return parameters;
    return rest / (double)fr_plan_replicas(plan) +
           (experts > 0 ? experts / (double)fr_plan_expert_copies(plan) : 0);
}

/* What copies of a stage's parameters do together: of experts, and of the rest. */
struct copies {
    const struct fr_plan *plan;
    const struct fr_seats *seats;
    struct fr_ledger ledger;
    double rest_B, experts_B; /* of parameters */
    double layers;
};

/* What the copies of all but experts do together in @p parts, and those of experts [s]. */
static double both_s(const struct copies *c, fr_op op, double rest_B, double experts_B,
                     double parts) {
    return fr_ledger_comm_s(&c->ledger, FR_SENT_DP, op, &c->seats->axis[FR_MESH_DP],
                            rest_B / parts, rest_B > 0 ? parts : 0) +
           fr_ledger_comm_s(&c->ledger, FR_SENT_DP, op, &c->seats->expert_copies,
                            experts_B / parts, experts_B > 0 ? parts : 0);
}

static double gather_s(const struct copies *c, double parts) {
    return both_s(c, FR_OP_ALL_GATHER, c->rest_B, c->experts_B, parts);
}

/* A layer at work and one on its way, whole, of @p all_B that copies divide. */
static double held_B(const struct copies *c, double rest_B, double expert_B) {
    double shared_B = fr_plan_replicas(c->plan) > 1 ? rest_B : 0;
    if (fr_plan_expert_copies(c->plan) > 1) shared_B += expert_B;
    return fmin(2, c->layers) / c->layers * shared_B;
}

/* Beside a pass all but the first layer's gather, or the last one's scatter, may hide. */
static double shows_s(const struct copies *c, const struct fr_device *device, double comm_s,
                      double pass_s) {
    return fr_device_beside_s(device, comm_s, pass_s) + comm_s / c->layers;
}

/* Zero 2 and 3: in every pass. */
static void price_passes(const struct copies *c, const struct fr_device *device,
                         double micro_batches, struct fr_stage *stage) {
    struct copies each = *c;
    each.ledger.times = micro_batches;
    double forward_s = fr_pass_s(&stage->forward, FR_WITH_ALL),
           backward_s = fr_pass_s(&stage->backward, FR_WITH_ALL);
    double scattered_s =
        both_s(&each, FR_OP_REDUCE_SCATTER, stage->gradient_B, stage->expert_B, c->layers);
    stage->working_B += held_B(c, stage->gradient_B, stage->expert_B);
    if (c->plan->zero == 2) {
        stage->backward.dp_s = shows_s(c, device, scattered_s, backward_s);
        return;
    }
    double gathered_s = gather_s(&each, c->layers); /* forward; and once more backward */
    gather_s(&each, c->layers);
    stage->working_B += held_B(c, c->rest_B, c->experts_B);
    stage->forward.dp_s = shows_s(c, device, gathered_s, forward_s);
    stage->backward.dp_s = shows_s(c, device, gathered_s + scattered_s, backward_s);
}

void fr_zero_price(const struct fr_job *job, const struct fr_plan *plan,
                   const struct fr_seats *seats, double layers, struct fr_stage *stage,
                   uint32_t *extrapolated) {
    const struct fr_device *device = &job->cluster.device;
    double value_B = fr_dtype_kept_B(job->workload.dtype);
    const struct copies c = {.plan = plan,
                             .seats = seats,
                             .ledger = {.cluster = &job->cluster,
                                        .sent_B = stage->sent_B,
                                        .times = 1,
                                        .extrapolated = extrapolated},
                             .rest_B = (stage->parameters_rank - stage->expert_rank) * value_B,
                             .experts_B = stage->expert_rank * value_B,
                             .layers = fmax(1, layers)};
    double forward_s = fr_pass_s(&stage->forward, FR_WITH_ALL);
    bool beside = plan->overlap;
    if (plan->zero == 0) return;
    if (plan->zero >= 2)
        price_passes(&c, device, (double)fr_pipeline_micro_batches(job, plan), stage);
    if (plan->zero == 3) return;
    double gathered_s = gather_s(&c, beside ? c.layers : 1);
    stage->gather_s = beside ? fr_device_beside_s(device, gathered_s, forward_s) : gathered_s;
}
