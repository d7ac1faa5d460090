#include "models/outcome/cost.h"

#include <math.h>

#include "models/outcome/iteration.h"
#include "models/outcome/resolve.h"

const char *const fr_part_names[] = {
#define FR_PART_NAME(code, name) #name,
    FR_PART_LIST(FR_PART_NAME)
#undef FR_PART_NAME
        NULL};

const char *const fr_sent_names[] = {
#define FR_SENT_NAME(code, name) #name,
    FR_SENT_LIST(FR_SENT_NAME)
#undef FR_SENT_NAME
        NULL};

const char *const fr_memory_names[] = {
#define FR_MEMORY_NAME(code, name) #name,
    FR_MEMORY_LIST(FR_MEMORY_NAME)
#undef FR_MEMORY_NAME
        NULL};

void fr_outcome_add_totals(const struct fr_job *job, struct fr_outcome *out) {
    const struct fr_plan *plan = &out->plan;
    out->iterations = NAN;
    if (plan->forward) {
        out->iterations_origin = FR_ITERATIONS_UNKNOWN; /* nothing is trained */
    } else if (plan->iterations > 0) {
        out->iterations = plan->iterations;
        out->iterations_origin = FR_ITERATIONS_GIVEN;
    } else
        out->iterations_origin = fr_iterations_find(
            &job->workload, plan,
            (struct fr_lossy){out->lossy_backward, out->lossy_gradient, out->lossy_forward},
            fr_job_batch(job, plan), &out->iterations);
    out->iterations_deviation =
        out->iterations_origin == FR_ITERATIONS_LAW
            ? fr_iterations_deviation(&job->workload, plan,
                                      (struct fr_lossy){out->lossy_backward,
                                                        out->lossy_gradient,
                                                        out->lossy_forward},
                                      fr_job_batch(job, plan))
            : 0;
    double plain =
        out->plain_time_s > 0 ? fmin((double)plan->compression.warm_up, out->iterations) : 0;
    double rest = out->iterations - plain;
    out->total_time_s = rest * out->time_s + plain * out->plain_time_s;
    out->total_energy_J = rest * out->energy_J + plain * out->plain_energy_J;
}

bool fr_plan_warms_up(const struct fr_plan *plan, struct fr_plan *plain) {
    if (plan->compression.warm_up == 0) return false;
    *plain = *plan;
    fr_plan_drop_loss(plain); /* ranks too: a rank that nothing reads is refused */
    return true;
}

void fr_outcome_add_warm_up(const struct fr_job *job, const struct fr_outcome *plain,
                            struct fr_outcome *out) {
    out->plain_time_s = plain->time_s;
    out->plain_energy_J = plain->energy_J;
    fr_outcome_add_totals(job, out);
}

/* With the same placement, on the same machine. */
static void add_warm_up(const struct fr_resolved *s, struct fr_outcome *out) {
    struct fr_plan plain;
    struct fr_outcome before;
    if (!isfinite(out->time_s) || !fr_plan_warms_up(&s->plan, &plain)) return;
    fr_pipeline_cost(s->job, &plain, &before);
    fr_outcome_add_warm_up(s->job, &before, out);
}

void fr_cost(const struct fr_job *job, const struct fr_plan *given, struct fr_outcome *out) {
    struct fr_resolved s;
    if (fr_resolve(job, given, &s, NULL) == FR_OK) {
        fr_pipeline_cost(s.job, &s.plan, out);
        add_warm_up(&s, out);
    } else
        fr_pipeline_refuse(&s.plan, FR_BECAUSE(FR_REASON_SIZE), out);
    fr_resolved_restore(&s, &out->plan);
    fr_resolved_free(&s);
}
