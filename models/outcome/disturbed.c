#include "models/outcome/disturbed.h"

#include <math.h>

#include "models/outcome/cost.h"

enum { MEETINGS_OF_LAYER = 4 };

/* Of a rank with those that its layers, or its pipeline, wait for; in a step. */
static double meetings(const struct fr_job *job, const struct fr_plan *plan) {
    double layers = (double)job->workload.transformer.layers;
    double micro = (double)fr_job_pipeline_micro_batch(job, plan);
    double micro_batches =
        micro > 0 ? ceil((double)fr_job_batch(job, plan) / (double)plan->dp / micro) : 1;
    for (int i = 0; i < job->workload.n_layers; i++) layers += job->workload.layers[i].repeat;
    if (plan->tp > 1)
        return fmax(1, MEETINGS_OF_LAYER * layers / (double)plan->pp * micro_batches);
    return plan->pp > 1 ? fmax(1, 2 * micro_batches) : 1;
}

void fr_job_disturbed(const struct fr_job *job, const struct fr_plan *plan,
                      struct fr_job *own) {
    const struct fr_interruptions *i = &job->cluster.device.interruptions;
    struct fr_outcome quiet;
    *own = *job;
    struct fr_device *device = &own->cluster.device;
    device->interruptions = (struct fr_interruptions){0};
    fr_device_disturb(device, 0);
    fr_cost(own, plan, &quiet);
    double step_s = isfinite(quiet.time_s) ? quiet.part_s[FR_PART_COMPUTE] : 0;
    double ranks = (double)fr_plan_ranks(plan), near = (double)plan->tp;
    if (near <= 1 && plan->pp > 1) near = (double)plan->pp;
    double share = fr_interruptions_share(i, near, step_s / meetings(job, plan)) +
                   fr_interruptions_share(i, ranks / near, step_s) -
                   fr_interruptions_share(i, 1, step_s);
    fr_device_disturb(device, share);
}
