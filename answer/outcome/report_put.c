#include "answer/outcome/report_put.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/outcome/report.h"
#include "base/alloc.h"
#include "base/text/version.h"
#include "models/job/assume.h"
#include "models/job/runtime.h"
#include "models/outcome/clocks.h"
#include "models/outcome/moments.h"
#include "models/outcome/units.h"
#include "models/plan/key.h"
#include "models/price/lines.h"
#include "models/price/pipeline.h"

void fr_report_put_schema(const struct fr_outcome_view *v, struct fr_json_writer *w) {
    (void)v;
    fr_json_add_string(w, "schema", "forerun/outcome/1");
}

void fr_report_put_plan(const struct fr_outcome_view *v, struct fr_json_writer *w) {
    struct fr_plan stated = fr_job_stated(v->job, &v->out->plan);
    fr_json_key(w, "plan");
    fr_plan_write(w, &stated);
}

/* The keys of model and cluster that tell this job from others of a search, with their values. */
void fr_report_put_varied(const struct fr_outcome_view *v, struct fr_json_writer *w) {
    const struct fr_job *job = v->job;
    if (job->n_varied == 0) return;
    fr_json_add_object(w, "varied");
    for (int i = 0; i < job->n_varied; i++) {
        const char *equals = strchr(job->varied[i], '=');
        char key[192];
        snprintf(key, sizeof key, "%.*s", (int)(equals - job->varied[i]), job->varied[i]);
        fr_json_add_string(w, key, equals + 1);
    }
    fr_json_end_object(w);
}

/* Where units are filled alike and whole there is nothing to say. */
void fr_report_put_units(const struct fr_outcome_view *v, struct fr_json_writer *w) {
    struct fr_filled filled[FR_LEVEL_MAX];
    int n = fr_outcome_filled(v->job, v->out, filled);
    if (n == 0) return;
    fr_json_add_array(w, "units");
    for (int i = 0; i < n; i++) {
        fr_json_begin_object(w);
        fr_json_add_string(w, "level", filled[i].level);
        fr_json_add_integer(w, "units", filled[i].units);
        fr_json_add_integer(w, "ranks", filled[i].ranks);
        fr_json_add_integer(w, "last", filled[i].last);
        fr_json_add_integer(w, "holds", filled[i].holds);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

void fr_report_put_calibration(const struct fr_outcome_view *v, struct fr_json_writer *w) {
    fr_calibration_put(&v->job->cluster.calibration, w);
}

/* Clocks of the stages, for a plan that states clocks. */
void fr_report_put_clocks(const struct fr_outcome_view *v, struct fr_json_writer *w) {
    const struct fr_plan *plan = &v->out->plan;
    if (!fr_plan_clocks(plan) || !v->priced) return;
    double *clock_Hz = fr_calloc((size_t)plan->pp, sizeof *clock_Hz);
    if (clock_Hz && fr_clocks_of(v->job, plan, clock_Hz, NULL) == FR_OK) {
        fr_json_add_array(w, "stage_clock_Hz");
        for (int64_t i = 0; i < plan->pp; i++)
            fr_json_put_number(w, clock_Hz[i] > 0 ? clock_Hz[i]
                                                  : v->job->cluster.device.clock.max_Hz);
        fr_json_end_array(w);
    }
    free(clock_Hz);
}

void fr_report_put_moments(const struct fr_outcome_view *v, struct fr_json_writer *w) {
    if (v->moments) fr_moments_put(v->job, v->out, w);
}

void fr_report_put_reasons(const struct fr_outcome_view *v, struct fr_json_writer *w) {
    fr_json_add_array(w, "reasons");
    for (int i = 0; i < FR_REASON_COUNT; i++) {
        struct fr_text text = {0};
        if (!(v->out->reasons & FR_BECAUSE(i))) continue;
        fr_report_reason(v->job, v->out, i, &text);
        fr_json_put_string(w, fr_text_get(&text));
        fr_text_free(&text);
    }
    fr_json_end_array(w);
}

void fr_report_put_extrapolated(const struct fr_outcome_view *v, struct fr_json_writer *w) {
    fr_json_add_array(w, "extrapolated");
    for (int bit = 0; bit <= FR_OP_COUNT; bit++)
        if (v->out->extrapolated >> bit & 1)
            fr_json_put_string(w, fr_report_extrapolated_name(bit));
    fr_json_end_array(w);
}

void fr_report_put_beside(const struct fr_outcome_view *v, struct fr_json_writer *w) {
    if (!v->out->beside) return;
    fr_json_add_array(w, "messages_beside");
    for (int k = 0; k < FR_BESIDE_COUNT; k++)
        if (v->out->beside >> k & 1) fr_json_put_string(w, fr_beside_names[k]);
    fr_json_end_array(w);
}

void fr_report_put_provenance(const struct fr_outcome_view *v, struct fr_json_writer *w) {
    const struct fr_job *job = v->job;
    fr_json_add_object(w, "provenance");
    fr_json_add_string(w, "version", fr_version);
    fr_json_add_string(w, "cluster",
                       job->cluster.name[0] ? job->cluster.name : job->cluster_from);
    fr_json_add_string(w, "cluster_source", job->cluster.source);
    fr_runtime_put(&job->cluster, w);
    fr_json_add_string(w, "model",
                       job->workload.name[0] ? job->workload.name : job->model_from);
    fr_json_add_string(w, "model_source", job->workload.source);
    char assumed[FR_ASSUMED];
    if (*fr_job_assumed(job, &v->out->plan, assumed, sizeof assumed))
        fr_json_add_string(w, "assumed", assumed);
    const struct fr_power *power = &job->cluster.device.power;
    fr_json_add_bool(w, "oversubscribed", job->cluster.calibration.oversubscribed);
    fr_json_add_string(w, "power",
                       !power->known       ? "unavailable"
                       : power->quality[0] ? power->quality
                                           : "not stated");
    fr_json_end_object(w);
}
