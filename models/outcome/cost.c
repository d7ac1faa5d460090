#include "models/outcome/cost.h"

#include <math.h>

#include "models/outcome/iteration.h"
#include "models/outcome/settle.h"

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
    if (plan->iterations > 0) {
        out->iterations = plan->iterations;
        out->iterations_origin = FR_ITERATIONS_GIVEN;
    } else
        out->iterations_origin =
            fr_iterations_find(&job->workload, plan->method, plan->tp, plan->ghost,
                               fr_job_batch(job, plan), &out->iterations);
    out->total_time_s = out->iterations * out->time_s;
    out->total_energy_J = out->iterations * out->energy_J;
}

void fr_cost(const struct fr_job *job, const struct fr_plan *given, struct fr_outcome *out) {
    struct fr_settled s;
    if (fr_settle(job, given, &s, NULL) == FR_OK)
        fr_pipeline_cost(s.job, &s.plan, out);
    else
        fr_pipeline_refuse(&s.plan, FR_BECAUSE(FR_REASON_SIZE), out);
    out->plan.placement = s.placement;
    fr_settled_free(&s);
}
