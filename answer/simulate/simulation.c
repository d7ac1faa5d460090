#include "answer/simulate/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "answer/outcome/report.h"
#include "base/alloc.h"
#include "base/text/readable.h"
#include "base/text/version.h"
#include "models/job/runtime.h"

/* ---- JSON ----------------------------------------------------------------------------------- */

static void stages_json(struct fr_json_writer *w, const struct fr_simulation *s) {
    fr_json_add_array(w, "stages");
    for (int32_t i = 0; i < s->n_stages; i++) {
        const struct fr_stage_use *use = &s->stages[i];
        fr_json_begin_object(w);
        fr_json_add_integer(w, "stage", i);
        fr_json_add_number(w, "busy_s", use->busy_s);
        fr_json_add_number(w, "communicating_s", use->comm_s);
        fr_json_add_number(w, "blocked_s", use->blocked_s);
        fr_json_add_number(w, "idle_s", use->idle_s);
        fr_json_add_number(w, "gradient_s", use->gradient_s);
        fr_json_add_number(w, "utilisation", use->busy_s / s->outcome.time_s);
        fr_json_add_number(w, "energy_J", use->energy_J);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static void critical_json(struct fr_json_writer *w, const struct fr_simulation *s) {
    fr_json_add_array(w, "critical_path");
    for (int64_t k = 0; k < s->timeline.count; k++) {
        const struct fr_span *span = &s->timeline.spans[k];
        if (!(fr_span_critical_s(span) > 0)) continue;
        fr_json_begin_object(w);
        fr_json_add_string(w, "task", fr_task_names[span->kind]);
        fr_json_add_integer(w, "stage", span->rank);
        if (span->peer >= 0) fr_json_add_integer(w, "peer", span->peer);
        if (span->micro >= 0) fr_json_add_integer(w, "micro_batch", span->micro);
        if (s->outcome.plan.chunks > 1) fr_json_add_integer(w, "chunk", span->chunk);
        fr_json_add_number(w, "start_s", span->critical_from_s);
        fr_json_add_number(w, "end_s", span->critical_to_s);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static void collectives_json(struct fr_json_writer *w, const struct fr_simulation *s) {
    const struct fr_conflicts *c = &s->conflicts;
    if (!c->played) return;
    fr_json_add_object(w, "collectives");
    fr_json_add_number(w, "merged", c->merged);
    if (c->alone_s > 0) {
        fr_json_add_number(w, "alone_s", c->alone_s);
        fr_json_add_object(w, "lost_s");
        for (int k = 0; k < FR_PRICE_PARTS; k++)
            if (fr_conflict_names[k]) fr_json_add_number(w, fr_conflict_names[k], c->lost_s[k]);
        fr_json_end_object(w);
    }
    fr_json_end_object(w);
}

void fr_simulation_json(struct fr_text *text, const struct fr_job *job,
                        const struct fr_simulation *s) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/simulation/1");
    fr_json_add_string(&w, "network", s->network->name);
    fr_runtime_put(&job->cluster, &w);
    fr_json_add_integer(&w, "tasks", s->n_tasks);
    collectives_json(&w, s);
    fr_json_key(&w, "outcome");
    fr_report_json(&w, job, &s->outcome);
    stages_json(&w, s);
    critical_json(&w, s);
    fr_json_end_object(&w);
}

/* ---- trace ---------------------------------------------------------------------------------- */

/* Memory of each rank: what is always there, and an activation from the start of each forward
 * pass to the end of the pass that reads it last.  A rank's passes do not overlap, so that its
 * spans come in the order of these steps. */
static fr_status make_memory(const struct fr_simulation *s, struct fr_trace_series **series,
                             struct fr_error *err) {
    const struct fr_timeline *t = &s->timeline;
    size_t n = (size_t)t->n_ranks;
    size_t capacity = 0, *at = fr_calloc(n + 1, sizeof *at);
    *series = fr_calloc(n + 1, sizeof **series);
    for (int64_t k = 0; k < t->count; k++) capacity += t->spans[k].stream == FR_STREAM_COMPUTE;
    capacity += n;
    double *values = at && *series ? fr_malloc(2 * capacity, sizeof *values) : NULL;
    if (!values) {
        free(at);
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the trace does not fit in memory");
    }
    for (int64_t k = 0; k < t->count; k++) /* steps of each rank */
        at[t->spans[k].rank + 1] += t->spans[k].stream == FR_STREAM_COMPUTE;
    for (size_t r = 0; r < n; r++) at[r + 1] += at[r] + 1;
    double *at_s = values, *value = values + capacity;
    for (size_t r = 0; r < n; r++) {
        (*series)[r] = (struct fr_trace_series){at_s + at[r], value + at[r], 1};
        at_s[at[r]] = 0;
        value[at[r]] = s->stages[r].state_B;
    }
    for (int64_t k = 0; k < t->count; k++) {
        const struct fr_span *span = &t->spans[k];
        const struct fr_stage_use *use = &s->stages[span->rank];
        bool makes = span->kind == FR_TASK_FORWARD, frees = span->kind == use->frees;
        if (span->stream != FR_STREAM_COMPUTE || (!makes && !frees)) continue;
        struct fr_trace_series *own = &(*series)[span->rank];
        size_t step = at[span->rank] + (size_t)own->n++;
        at_s[step] = makes ? span->start_s : span->end_s;
        value[step] = value[step - 1] + (makes ? use->activation_B : -use->activation_B);
    }
    free(at);
    return FR_OK;
}

/* Power of each rank of the timeline, at its stage's clock; NULL without memory: all at the
 * highest. */
static double *busy_powers(const struct fr_job *job, const struct fr_simulation *s) {
    double *busy_W = fr_malloc((size_t)s->timeline.n_ranks + 1, sizeof *busy_W);
    for (int32_t r = 0; busy_W && r < s->timeline.n_ranks; r++)
        busy_W[r] =
            fr_device_busy_W(&job->cluster.device, r < s->n_stages ? s->stages[r].clock_Hz : 0);
    return busy_W;
}

fr_status fr_simulation_trace(const struct fr_job *job, const struct fr_simulation *s,
                              const struct fr_format *format, struct fr_text *out,
                              struct fr_error *err) {
    const struct fr_power *power = &job->cluster.device.power;
    struct fr_trace_series *memory = NULL;
    char title[FR_PLAN_LINE + 256], plan[FR_PLAN_LINE], bubble[32];
    snprintf(title, sizeof title, "%s on %s",
             fr_plan_line(&s->outcome.plan, 0, plan, sizeof plan),
             job->cluster.name[0] ? job->cluster.name : job->cluster_from);
    bool pipeline = fr_job_is_pipeline(job, &s->outcome.plan);
    snprintf(bubble, sizeof bubble, "%.1f %%",
             100 * s->outcome.part_s[FR_PART_BUBBLE] / s->outcome.time_s);
    char fixed[64], time[FR_READABLE];
    const double fixed_s = job->cluster.device.fixed_s;
    snprintf(fixed, sizeof fixed, "%s a step, which no task has",
             fr_readable(fixed_s, FR_QUANTITY_TIME, time));
    struct fr_trace_note notes[8] = {
        {"cluster", job->cluster.name[0] ? job->cluster.name : job->cluster_from},
        {"software", job->cluster.runtime},
        {"model", job->workload.name[0] ? job->workload.name : job->model_from},
        {"plan", plan},
        {"network", s->network->name},
        {"version", fr_version}};
    int n_notes = 6;
    if (fixed_s > 0) notes[n_notes++] = (struct fr_trace_note){"fixed costs", fixed};
    if (pipeline) notes[n_notes++] = (struct fr_trace_note){"bubble", bubble};
    fr_status status = FR_OK;
    bool known = s->n_stages > 0 && s->stages[0].state_B > 0;
    double *busy_W = fr_plan_clocks(&s->outcome.plan) ? busy_powers(job, s) : NULL;
    if (known) status = make_memory(s, &memory, err);
    const struct fr_trace_options o = {.title = title,
                                       .notes = notes,
                                       .n_notes = n_notes,
                                       .memory_B = memory,
                                       .busy_W = power->known ? power->busy_W : NAN,
                                       .rank_busy_W = power->known ? busy_W : NULL,
                                       /* who waits in an iteration waits in a kernel */
                                       .idle_W = power->known ? power->communicating_W : NAN,
                                       .communicating_W =
                                           power->known ? power->communicating_W : NAN};
    if (status == FR_OK) status = format->write(&s->timeline, &o, out, err);
    if (memory) free((void *)memory[0].at_s);
    free(memory);
    free(busy_W);
    return status;
}
