#include "models/outcome/resolve.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/outcome/clocks.h"
#include "models/outcome/iteration.h"
#include "models/outcome/pipeline_ops.h"
#include "models/price/rank_map.h"

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

/* The machine as long as it usually takes, once it is known what the plan takes in quiet. */
static void disturb(struct fr_job *own, const struct fr_plan *plan, double step_s,
                    const struct fr_interruptions *i) {
    double ranks = (double)fr_plan_ranks(plan), near = (double)plan->tp;
    if (near <= 1 && plan->pp > 1) near = (double)plan->pp;
    double chunks = meetings(own, plan);
    if (!(step_s > 0)) return;
    double of_layer = chunks * fr_poisson_max(step_s / chunks / i->every_s, near);
    double of_step = fr_poisson_max(of_layer, ranks / near);
    fr_device_disturb(&own->cluster.device, of_step * i->length_s / step_s);
}

/* ---- seats ------------------------------------------------------------------------------------ */

struct tried {
    const struct fr_job *job;
    const struct fr_plan *plan;
    int64_t *list; /* rank of each slot */
};

static void take_list(const struct tried *t, const int64_t *slot, struct fr_plan *plan) {
    int64_t n = fr_plan_ranks(plan);
    for (int64_t r = 0; r < n; r++) t->list[slot[r]] = r;
    plan->placement.row = &fr_placement_file;
    plan->placement.list = t->list;
    plan->placement.n_list = n;
}

static double iteration_s(const void *context, const int64_t *slot) {
    const struct tried *t = context;
    struct fr_plan plan = *t->plan;
    struct fr_outcome out;
    take_list(t, slot, &plan);
    fr_pipeline_cost(t->job, &plan, &out);
    return isfinite(out.time_s) ? out.time_s : INFINITY;
}

fr_status fr_resolve_rank_map(const struct fr_job *job, struct fr_plan *plan, int64_t **list,
                              struct fr_error *err) {
    if (!plan->placement.row->searches) return FR_OK;
    if (fr_pipeline_check(job, plan)) return FR_OK; /* cannot be, wherever it sits */
    size_t n = (size_t)fr_plan_ranks(plan);
    const struct fr_plan given = *plan;
    struct fr_rank_map bare;
    int64_t *slot = fr_malloc(n, sizeof *slot);
    fr_rank_map_begin(job, plan, &bare);
    *list = fr_malloc(n, sizeof **list);
    const struct tried tried = {job, &given, *list};
    fr_status status = slot && *list
                           ? fr_rank_map_list(&bare, plan, iteration_s, &tried, slot, err)
                           : fr_fail(err, FR_ERR_NOMEM, "placement", "out of memory");
    if (status == FR_OK) take_list(&tried, slot, plan);
    free(slot);
    return status;
}

static fr_status resolve_machine(struct fr_resolved *s, struct fr_error *err) {
    const struct fr_interruptions i = s->job->cluster.device.interruptions;
    struct fr_outcome quiet;
    struct fr_plan plan = s->plan;
    int64_t *list = NULL;
    s->own = *s->job;
    s->job = &s->own;
    s->own.cluster.device.interruptions = (struct fr_interruptions){0};
    fr_device_disturb(&s->own.cluster.device, 0);
    fr_status status = fr_resolve_rank_map(&s->own, &plan, &list, err);
    if (status == FR_OK) fr_pipeline_cost(&s->own, &plan, &quiet);
    free(list);
    if (status != FR_OK) return status;
    disturb(&s->own, &s->plan, isfinite(quiet.time_s) ? quiet.part_s[FR_PART_COMPUTE] : 0, &i);
    return FR_OK;
}

/* What cannot have clocks has its reason where it is checked. */
static fr_status resolve_clocks(struct fr_resolved *s, struct fr_error *err) {
    if (fr_pipeline_check(s->job, &s->plan) & ~FR_BECAUSE(FR_REASON_MEMORY)) return FR_OK;
    fr_status status = fr_pipeline_ops_choose(s->job, &s->plan, 0, &s->pass_clock, NULL);
    if (status == FR_ERR_NOMEM) return fr_fail(err, status, "clock", "out of memory");
    if (status == FR_OK) {
        s->plan.pass_clock = s->pass_clock;
        s->plan.clock_slack = false;
        return FR_OK;
    }
    s->clock_Hz = fr_calloc((size_t)s->plan.pp, sizeof *s->clock_Hz);
    if (!s->clock_Hz) return fr_fail(err, FR_ERR_NOMEM, "clock", "out of memory");
    status = fr_clocks_choose(s->job, &s->plan, 0, s->clock_Hz, NULL);
    if (status == FR_ERR_UNSUPPORTED) return FR_OK; /* blocking messages run at full clock */
    if (status != FR_OK) return fr_fail(err, status, "clock", "out of memory");
    s->plan.clock_Hz = s->clock_Hz;
    s->plan.n_clock_Hz = (int)s->plan.pp;
    s->plan.clock_slack = false;
    return FR_OK;
}

fr_status fr_resolve(const struct fr_job *job, const struct fr_plan *given,
                     struct fr_resolved *s, struct fr_error *err) {
    s->job = job;
    s->plan = *given;
    fr_job_fill(job, &s->plan);
    s->placement = given->placement;
    s->rank_map = NULL;
    s->clock_Hz = NULL;
    s->pass_clock = NULL;
    if (job->cluster.device.interruptions.every_s > 0) FR_TRY(resolve_machine(s, err));
    FR_TRY(fr_resolve_rank_map(s->job, &s->plan, &s->rank_map, err));
    return s->plan.clock_slack ? resolve_clocks(s, err) : FR_OK;
}

void fr_resolved_restore(const struct fr_resolved *s, struct fr_plan *plan) {
    plan->placement = s->placement;
    if (!s->clock_Hz && !s->pass_clock) return;
    plan->pass_clock = NULL;
    plan->clock_Hz = NULL;
    plan->n_clock_Hz = 0;
    plan->clock_slack = true;
}

void fr_resolved_free(struct fr_resolved *s) {
    free(s->rank_map);
    free(s->clock_Hz);
    free(s->pass_clock);
    s->rank_map = s->clock_Hz = NULL;
    s->pass_clock = NULL;
}
