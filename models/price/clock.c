#include "models/price/clock.h"

#include <math.h>

#include "base/alloc.h"

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
    stage->repeats = false;
    if (!(clock_Hz > 0)) return;
    stage->forward.compute_s *= slower;
    stage->backward.compute_s *= slower;
    stage->weight.compute_s *= slower;
    stage->common_s *= slower;
}

/* A backward pass that is not split takes its weight gradient with it. */
static double pass_s(const struct fr_pipeline *p, int32_t i, const struct fr_slot *slot,
                     int with) {
    if (!slot->whole) return fr_pipeline_pass_s(p, i, slot->kind, with);
    return slot->kind == FR_SLOT_BACKWARD ? fr_pipeline_pass_s(p, i, FR_SLOT_BACKWARD, with) +
                                                fr_pipeline_pass_s(p, i, FR_SLOT_WEIGHT, with)
                                          : 0;
}

struct fr_clocked_pass fr_clock_pass(const struct fr_pipeline *p, int32_t i,
                                     const struct fr_slot *slot) {
    double shown = 1 - p->stage[i].idle_share;
    return (struct fr_clocked_pass){pass_s(p, i, slot, 0),
                                    shown * pass_s(p, i, slot, FR_WITH_LAUNCH), shown};
}

fr_status fr_clock_set_ops(const struct fr_device *device, const int16_t *clock,
                           struct fr_pipeline *p, struct fr_error *err) {
    size_t stages = (size_t)p->args.stages, slots = stages * (size_t)p->n_slots;
    p->longer_s = fr_calloc(slots + 2 * stages, sizeof *p->longer_s);
    if (!p->longer_s)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the pipeline does not fit in memory");
    p->busy_longer_s = p->longer_s + slots;
    p->more_J = p->busy_longer_s + stages;
    p->pass_clock = clock;
    p->device = device;
    for (size_t k = 0; k < slots; k++) {
        int32_t i = (int32_t)(k / (size_t)p->n_slots);
        struct fr_clocked_pass pass = fr_clock_pass(p, i, &p->slots[k]);
        double clock_Hz = fr_device_clock_at(&device->clock, clock[k]),
               full_Hz = device->clock.max_Hz;
        p->longer_s[k] = fr_clocked_longer_s(device, &pass, clock_Hz);
        p->busy_longer_s[i] += pass.shown * p->longer_s[k];
        p->more_J[i] +=
            (fr_device_busy_W(device, clock_Hz) - fr_device_busy_W(device, full_Hz)) *
            (pass.busy_s + pass.shown * p->longer_s[k]);
    }
    return FR_OK;
}
