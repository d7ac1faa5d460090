#include "models/price/clock.h"

#include <math.h>

static bool fits(const struct fr_plan *plan, int n) { return n <= 1 || n == plan->pp; }

fr_reasons fr_clock_check(const struct fr_job *job, const struct fr_plan *plan) {
    const struct fr_device_clock *clock = &job->cluster.device.clock;
    if (!fr_plan_clocks(plan)) return 0;
    if (!clock->known || !job->cluster.device.power.known) return FR_BECAUSE(FR_REASON_POWER);
    for (int i = 0; i < plan->n_clock_Hz; i++)
        if ((double)plan->clock_Hz[i] < clock->min_Hz * (1 - 1e-9) ||
            (double)plan->clock_Hz[i] > clock->max_Hz * (1 + 1e-9))
            return FR_BECAUSE(FR_REASON_POWER);
    return fits(plan, plan->n_clock_Hz) && fits(plan, plan->n_cap_W)
               ? 0
               : FR_BECAUSE(FR_REASON_STAGES);
}

static double value_of(const int64_t *values, int n, int32_t i) {
    return (double)values[n > 1 ? i : 0];
}

double fr_clock_of(const struct fr_device *device, const struct fr_plan *plan, int32_t i) {
    double clock_Hz = plan->clock_Hz ? value_of(plan->clock_Hz, plan->n_clock_Hz, i) : 0;
    if (!plan->cap_W) return clock_Hz;
    double within_Hz = fr_device_clock_within(&device->clock, device->power.busy_W,
                                              value_of(plan->cap_W, plan->n_cap_W, i));
    return clock_Hz > 0 ? fmin(clock_Hz, within_Hz) : within_Hz;
}

void fr_clock_set(const struct fr_device *device, double clock_Hz, struct fr_stage *stage) {
    double slower = fr_device_clock_slower(&device->clock, clock_Hz);
    stage->clock_Hz = clock_Hz;
    if (!(clock_Hz > 0)) return;
    stage->forward.compute_s *= slower;
    stage->backward.compute_s *= slower;
    stage->weight.compute_s *= slower;
    stage->common_s *= slower;
}
