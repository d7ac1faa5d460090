#include "models/price/offload.h"

#include <math.h>

#include "models/price/zero.h"

fr_reasons fr_offload_check(const struct fr_job *job, const struct fr_plan *plan) {
    const struct fr_device *device = &job->cluster.device;
    if (plan->offload == FR_OFFLOAD_NONE) return 0;
    bool linked = device->host_link_B_per_s > 0,
         steps = !(plan->offload & FR_OFFLOAD_OPTIMIZER) || device->host_rate_B_per_s > 0;
    return linked && steps ? 0 : FR_BECAUSE(FR_REASON_HOST);
}

/* Time that a copy adds to a pass beside it: its part that outlasts the pass, and for the rest the memory bandwidth
 * that it takes. */
static double beside_s(const struct fr_device *device, double copy_s, double pass_s) {
    double taken =
        fmin(device->interference, device->host_link_B_per_s / device->memory_rate_B_per_s);
    return fmax(0, copy_s - pass_s) + taken * fmin(copy_s, pass_s);
}

/* Part of @p copy_s that shows beside @p n equal parts of a pass. */
static double shows_s(const struct fr_device *device, double copy_s, double pass_s, double n) {
    double others = 1 - 1 / n;
    return copy_s / n + beside_s(device, others * copy_s, others * pass_s);
}

/* The first k of n layers go beside themselves; all of them leave the last one's way with nothing to run beside. */
static double passes_s(const struct fr_device *device, double copy_s, double pass_s, double n,
                       double share) {
    return share < 1 ? beside_s(device, copy_s, share * pass_s)
                     : shows_s(device, copy_s, pass_s, n);
}

/* In a split backward pass the weight gradients' part finds them there. */
static void price_activations(const struct fr_device *device, double n, double share,
                              bool splits, double micro_batches, struct fr_stage *stage) {
    double copy_s = stage->offloaded_B / device->host_link_B_per_s;
    double backward_s = fr_pass_s(&stage->backward, FR_WITH_ALL);
    if (splits) backward_s -= fr_pass_s(&stage->weight, FR_WITH_ALL);
    stage->forward.host_s =
        passes_s(device, copy_s, fr_pass_s(&stage->forward, FR_WITH_ALL), n, share);
    stage->backward.host_s = passes_s(device, copy_s, backward_s, n, share);
    stage->sent_B[FR_SENT_HOST] += 2 * micro_batches * stage->offloaded_B;
}

static void price_optimizer(const struct fr_job *job, const struct fr_plan *plan, double layers,
                            struct fr_stage *stage) {
    const struct fr_device *device = &job->cluster.device;
    const struct fr_workload *w = &job->workload;
    double n = fr_zero_trained(plan, stage, 1), gradient_B = fr_dtype_size_B(w->gradient_dtype),
           weight_B = fr_dtype_size_B(w->weight_dtype);
    double down_s = n * gradient_B / device->host_link_B_per_s,
           step_s = n * fr_workload_update_B(w) / device->host_rate_B_per_s,
           up_s = n * weight_B / device->host_link_B_per_s;
    double slowest_s = fmax(fmax(down_s, step_s), up_s);
    stage->optimizer_s = stage->narrowed_s;
    stage->offload_s = (down_s + step_s + up_s) / layers + (1 - 1 / layers) * slowest_s;
    stage->host_state_B = n * (w->optimizer_state_B + gradient_B + weight_B);
    stage->sent_B[FR_SENT_HOST] += n * (gradient_B + weight_B);
}

void fr_offload_price(const struct fr_job *job, const struct fr_plan *plan, double layers,
                      bool splits, struct fr_stage *stage) {
    double n = fmax(1, layers), of_pass = fmax(1, layers / (double)plan->chunks);
    if (plan->offload & FR_OFFLOAD_ACTIVATIONS) {
        double share = plan->offload_layers ? fmin(1, (double)plan->offload_layers / n) : 1;
        stage->layer_B = (stage->activation_B - stage->ends_B) / n;
        stage->offloaded_B = share * n * stage->layer_B;
        price_activations(&job->cluster.device, of_pass, share, splits,
                          (double)fr_pipeline_micro_batches(job, plan), stage);
    }
    if (plan->offload & FR_OFFLOAD_OPTIMIZER) price_optimizer(job, plan, n, stage);
}
