#include "models/outcome/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/csv.h"
#include "base/text.h"
#include "models/device/jitter.h"
#include "models/job/assume.h"
#include "models/job/runtime.h"
#include "models/outcome/clocks.h"
#include "models/outcome/energy.h"
#include "models/outcome/fits/fits.h"
#include "models/outcome/memory.h"
#include "models/outcome/moments.h"
#include "models/outcome/rates.h"
#include "models/outcome/units.h"
#include "models/plan/key.h"
#include "models/price/pipeline.h"

const char *fr_report_extrapolated_name(int bit) {
    static const char *const names[] = {
#define FR_EXTRAPOLATED_NAME(code, name) "collectives." #name,
        FR_OP_LIST(FR_EXTRAPOLATED_NAME)
#undef FR_EXTRAPOLATED_NAME
            "gemm"};
    return names[bit];
}

const char *fr_report_outcome_line(const struct fr_outcome *out, char *line, size_t capacity) {
    return fr_report_outcome_row(out, 0, line, capacity);
}

const char *fr_report_outcome_row(const struct fr_outcome *out, fr_plan_key_set without,
                                  char *line, size_t capacity) {
    const struct fr_job *job = out->job;
    fr_plan_line(&out->plan, without, line, capacity);
    size_t used = strlen(line);
    for (int i = 0; job && i < job->n_varied; i++) {
        const char *equals = strchr(job->varied[i], '=');
        fr_line_addf(line, capacity, &used, ", %.*s %s", (int)(equals - job->varied[i]),
                     job->varied[i], equals + 1);
    }
    return line;
}

/* The keys of model and cluster that tell this job from others of a search, with their values. */
static void varied_json(struct fr_json_writer *w, const struct fr_job *job) {
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

const char *fr_report_plan_line(const struct fr_plan *plan, char *out, size_t capacity) {
    return fr_plan_line(plan, 0, out, capacity);
}

void fr_report_provenance(struct fr_json_writer *w, const struct fr_job *job,
                          const struct fr_plan *plan) {
    fr_json_add_object(w, "provenance");
    fr_json_add_string(w, "version", FR_VERSION);
    fr_json_add_string(w, "cluster",
                       job->cluster.name[0] ? job->cluster.name : job->cluster_from);
    fr_json_add_string(w, "cluster_source", job->cluster.source);
    fr_runtime_put(&job->cluster, w);
    fr_json_add_string(w, "model",
                       job->workload.name[0] ? job->workload.name : job->model_from);
    fr_json_add_string(w, "model_source", job->workload.source);
    char assumed[FR_ASSUMED];
    if (*fr_job_assumed(job, plan, assumed, sizeof assumed))
        fr_json_add_string(w, "assumed", assumed);
    const struct fr_power *power = &job->cluster.device.power;
    fr_json_add_bool(w, "oversubscribed", job->cluster.calibration.oversubscribed);
    fr_json_add_string(w, "power",
                       !power->known       ? "unavailable"
                       : power->quality[0] ? power->quality
                                           : "not stated");
    fr_json_end_object(w);
}

static void memory_json(struct fr_json_writer *w, const struct fr_job *job,
                        const struct fr_outcome *out) {
    fr_json_add_object(w, "memory_B");
    bool known = isfinite(out->parameters);
    fr_json_add_number(w, "peak", known ? out->memory_peak_B : NAN);
    for (int i = 0; i < FR_MEMORY_COUNT; i++)
        fr_json_add_number(w, fr_memory_names[i], known ? out->memory_B[i] : NAN);
    const struct fr_fits fits = fr_fits_of(job, out);
    fr_json_add_number(w, "reserved", fits.reserved_B);
    fr_json_add_number(w, "shown", fits.shown_B);
    fr_json_add_number(w, "needed", fits.needed_B);
    fr_json_end_object(w);
    fr_json_add_number(w, "device_memory_B", fits.memory_B);
    fr_json_add_number(w, "fits", fits.probability);
    if (out->plan.offload)
        fr_json_add_number(w, "host_memory_B", known ? out->host_memory_B : NAN);
    bool placed = known && out->fullest_rank >= 0;
    fr_json_add_number(w, "fullest_rank", placed ? (double)out->fullest_rank : NAN);
    fr_json_add_number(w, "fullest_stage", known ? (double)out->fullest_stage : NAN);
    double low_B, high_B;
    fr_memory_interval(job, out, &low_B, &high_B);
    fr_json_add_number(w, "memory_low_B", low_B);
    fr_json_add_number(w, "memory_high_B", high_B);
    fr_json_add_number(w, "memory_shown_low_B", fits.shown_low_B);
    fr_json_add_number(w, "memory_shown_high_B", fits.shown_high_B);
    fr_json_add_number(w, "memory_needed_low_B", fits.needed_low_B);
    fr_json_add_number(w, "memory_needed_high_B", fits.needed_high_B);
    fr_json_add_bool(w, "near_memory_edge",
                     known && fr_memory_near_edge(&job->cluster.device, out));
}

static void iterations_json(struct fr_json_writer *w, const struct fr_outcome *out) {
    fr_json_add_number(w, "iterations", out->iterations);
    fr_json_add_string(w, "iterations_origin", fr_iterations_origins[out->iterations_origin]);
    if (out->plain_time_s > 0) {
        fr_json_add_number(w, "warm_up_iteration_time_s", out->plain_time_s);
        fr_json_add_number(w, "warm_up_iteration_energy_J", out->plain_energy_J);
    }
    fr_json_add_number(w, "total_time_s", out->total_time_s);
    fr_json_add_number(w, "total_energy_J", out->total_energy_J);
}

static void reasons_json(struct fr_json_writer *w, const struct fr_job *job,
                         const struct fr_outcome *out) {
    fr_json_add_bool(w, "feasible", out->reasons == 0);
    fr_json_add_array(w, "reasons");
    for (int i = 0; i < FR_REASON_COUNT; i++) {
        struct fr_text text = {0};
        if (!(out->reasons & FR_BECAUSE(i))) continue;
        fr_report_reason(job, out, i, &text);
        fr_json_put_string(w, fr_text_get(&text));
        fr_text_free(&text);
    }
    fr_json_end_array(w);
    fr_json_add_array(w, "extrapolated");
    for (int bit = 0; bit <= FR_OP_COUNT; bit++)
        if (out->extrapolated >> bit & 1)
            fr_json_put_string(w, fr_report_extrapolated_name(bit));
    fr_json_end_array(w);
}

/* Where units are filled alike and whole there is nothing to say. */
static void filled_json(struct fr_json_writer *w, const struct fr_job *job,
                        const struct fr_outcome *out) {
    struct fr_filled filled[FR_LEVEL_MAX];
    int n = fr_outcome_filled(job, out, filled);
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

/* Of a plan that says something of clocks: those that its stages have. */
static void clocks_json(struct fr_json_writer *w, const struct fr_job *job,
                        const struct fr_outcome *out) {
    if (!fr_plan_clocks(&out->plan) || !isfinite(out->time_s)) return;
    double *clock_Hz = fr_calloc((size_t)out->plan.pp, sizeof *clock_Hz);
    if (clock_Hz && fr_clocks_of(job, &out->plan, clock_Hz, NULL) == FR_OK) {
        fr_json_add_array(w, "stage_clock_Hz");
        for (int64_t i = 0; i < out->plan.pp; i++)
            fr_json_put_number(w, clock_Hz[i] > 0 ? clock_Hz[i]
                                                  : job->cluster.device.clock.max_Hz);
        fr_json_end_array(w);
    }
    free(clock_Hz);
}

/* Null what the cluster does not state. */
static void energy_json(struct fr_json_writer *w, const struct fr_job *job,
                        const struct fr_outcome *out) {
    double low_J = NAN, high_J = NAN;
    fr_energy_interval(&job->cluster, out, &low_J, &high_J);
    fr_json_add_number(w, "iteration_energy_low_J", low_J);
    fr_json_add_number(w, "iteration_energy_high_J", high_J);
    fr_json_add_object(w, "energy_J");
    for (int i = 0; i < FR_ENERGY_COUNT; i++)
        fr_json_add_number(w, fr_energy_names[i],
                           fr_energy_known(&job->cluster, i) && isfinite(out->energy_J)
                               ? out->energy_part_J[i]
                               : NAN);
    fr_json_end_object(w);
}

static const char *const interval_sources[] = {[FR_INTERVAL_TUNING] = "tuning",
                                               [FR_INTERVAL_CALIBRATION] = "calibration",
                                               [FR_INTERVAL_WIDTHS] = "widths",
                                               [FR_INTERVAL_PRIORS] = "priors"};

static void report(struct fr_json_writer *w, const struct fr_job *job,
                   const struct fr_outcome *out, bool moments) {
    if (out->job) job = out->job;
    bool priced = isfinite(out->time_s);
    fr_json_begin_object(w);
    fr_json_add_string(w, "schema", "forerun/outcome/1");
    fr_json_add_string(w, "engine", out->engine ? out->engine : "closed");
    fr_json_key(w, "plan");
    struct fr_plan said = fr_job_said(job, &out->plan);
    fr_plan_write(w, &said);
    varied_json(w, job);
    fr_json_add_integer(w, "ranks", out->ranks);
    filled_json(w, job, out);
    fr_json_add_number(w, "parameters", priced ? out->parameters : NAN);
    if (priced && out->parameters_frozen > 0)
        fr_json_add_number(w, "parameters_trained", out->parameters - out->parameters_frozen);
    fr_json_add_number(w, "parameters_per_rank_max", priced ? out->parameters_rank_max : NAN);
    fr_json_add_number(w, "iteration_time_s", out->time_s);
    if (out->high_s > 0) {
        if (fabs(fr_outcome_expected_s(out) / out->time_s - 1) >= FR_EXPECTED_DIFFERS)
            fr_json_add_number(w, "iteration_time_expected_s", out->expected_s);
        fr_json_add_number(w, "iteration_time_low_s", out->low_s);
        fr_json_add_number(w, "iteration_time_high_s", out->high_s);
        fr_json_add_string(w, "interval_from",
                           interval_sources[fr_cluster_interval_source(&job->cluster)]);
    }
    double p05_s, p95_s;
    if (fr_jitter_steps(&job->cluster.device, (double)out->ranks, fr_outcome_expected_s(out),
                        &p05_s, &p95_s)) {
        fr_json_add_number(w, "iteration_time_p05_s", p05_s);
        fr_json_add_number(w, "iteration_time_p95_s", p95_s);
    }
    fr_calibration_put(&job->cluster.calibration, w);
    fr_json_add_number(w, "iteration_energy_J", out->energy_J);
    energy_json(w, job, out);
    clocks_json(w, job, out);
    const struct fr_rates rates = fr_rates_of(job, out);
#define ADD_RATE(name) fr_json_add_number(w, #name, rates.name);
    FR_RATE_LIST(ADD_RATE)
#undef ADD_RATE
    fr_json_add_string(w, "flop_convention", fr_rates_convention(job));
    memory_json(w, job, out);
    if (moments) fr_moments_put(job, out, w);
    iterations_json(w, out);
    fr_json_add_object(w, "breakdown_s");
    for (int i = 0; i < FR_PART_COUNT; i++)
        fr_json_add_number(w, fr_part_names[i], out->part_s[i]);
    fr_json_end_object(w);
    fr_json_add_object(w, "bytes_per_rank");
    for (int axis = 0; axis < FR_SENT_COUNT; axis++)
        fr_json_add_number(w, fr_sent_names[axis], out->sent_B[axis]);
    fr_json_end_object(w);
    fr_json_add_object(w, "lossy");
    const struct fr_plan_compression *c = &out->plan.compression;
    fr_json_add_number(w, "gradient_bytes", out->lossy_gradient);
    fr_json_add_integer(w, "gradient_rank", out->lossy_gradient > 0 ? c->gradient_rank : 0);
    fr_json_add_number(w, "backward_messages", out->lossy_backward);
    fr_json_add_integer(w, "backward_rank", out->lossy_backward > 0 ? c->backward_rank : 0);
    fr_json_add_number(w, "forward_messages", out->lossy_forward);
    fr_json_add_integer(w, "forward_rank", out->lossy_forward > 0 ? c->forward_rank : 0);
    fr_json_add_number(w, "gradient_break_even_B_per_s",
                       out->break_even_gradient_B_per_s > 0 ? out->break_even_gradient_B_per_s
                                                            : NAN);
    fr_json_add_number(w, "backward_break_even_B_per_s",
                       out->break_even_backward_B_per_s > 0 ? out->break_even_backward_B_per_s
                                                            : NAN);
    fr_json_add_number(w, "forward_break_even_B_per_s",
                       out->break_even_forward_B_per_s > 0 ? out->break_even_forward_B_per_s
                                                           : NAN);
    fr_json_end_object(w);
    reasons_json(w, job, out);
    fr_report_provenance(w, job, &out->plan);
    fr_json_end_object(w);
}

void fr_report_json(struct fr_json_writer *w, const struct fr_job *job,
                    const struct fr_outcome *out) {
    report(w, job, out, false);
}

void fr_report_whole_json(struct fr_json_writer *w, const struct fr_job *job,
                          const struct fr_outcome *out) {
    report(w, job, out, true);
}

/* Keys that stand before the numbers; the others follow them. */
static const fr_plan_key_set csv_first =
    FR_PLAN_KEY_BIT(FR_PLAN_KEY_method) | FR_PLAN_KEY_BIT(FR_PLAN_KEY_dp) |
    FR_PLAN_KEY_BIT(FR_PLAN_KEY_pp) | FR_PLAN_KEY_BIT(FR_PLAN_KEY_tp) |
    FR_PLAN_KEY_BIT(FR_PLAN_KEY_ghost);

void fr_report_csv_header(struct fr_text *text, const struct fr_job *job) {
    fr_text_addf(text,
                 "method,ranks,dp,pp,tp,ghost,feasible,parameters,parameters_per_rank_max,"
                 "iteration_time_s,iteration_energy_J,iterations,total_time_s,total_energy_J,"
                 "memory_peak_B,memory_reserved_B,memory_shown_B,memory_needed_B,fits");
#define NAME_RATE(name) fr_text_addf(text, "," #name);
    FR_RATE_LIST(NAME_RATE)
#undef NAME_RATE
    for (int i = 0; i < FR_PART_COUNT; i++) fr_text_addf(text, ",%s_s", fr_part_names[i]);
    for (int i = 0; i < FR_PLAN_KEYS; i++)
        if (!(csv_first >> i & 1) && i != FR_PLAN_KEY_iterations)
            fr_text_addf(text, ",%s", fr_plan_keys[i].name);
    for (int i = 0; i < job->n_varied; i++)
        fr_text_addf(text, ",%.*s", (int)strcspn(job->varied[i], "="), job->varied[i]);
    fr_text_addf(text, "\r\n");
}

static void csv_number(struct fr_text *text, double value) {
    char number[40];
    fr_text_addf(text, ",%s",
                 isfinite(value) ? fr_number_write(value, number, sizeof number) : "");
}

/* What nothing reads is empty. */
static void csv_keys(struct fr_text *text, const struct fr_job *job,
                     const struct fr_plan *plan) {
    uint64_t missing = fr_plan_missing(&job->workload, plan);
    struct fr_plan said = fr_job_said(job, plan);
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        const struct fr_plan_key *key = &fr_plan_keys[i];
        char word[FR_PLAN_WORD];
        if (csv_first >> i & 1 || i == FR_PLAN_KEY_iterations) continue;
        fr_text_addf(text, ",%s",
                     key->needs & missing ? ""
                                          : key->type->text(key, &said, word, sizeof word));
    }
}

void fr_report_csv_row(struct fr_text *text, const struct fr_job *job,
                       const struct fr_outcome *out) {
    const struct fr_plan *plan = &out->plan;
    bool priced = isfinite(out->time_s);
    if (out->job) job = out->job;
    fr_text_addf(text, "%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%s",
                 plan->method->name, out->ranks, plan->dp, plan->pp, plan->tp,
                 plan->method->uses_ghost ? plan->ghost : 0, out->reasons ? "false" : "true");
    csv_number(text, priced ? out->parameters : NAN);
    csv_number(text, priced ? out->parameters_rank_max : NAN);
    csv_number(text, out->time_s);
    csv_number(text, out->energy_J);
    csv_number(text, out->iterations);
    csv_number(text, out->total_time_s);
    csv_number(text, out->total_energy_J);
    csv_number(text, priced && isfinite(out->parameters) ? out->memory_peak_B : NAN);
    const struct fr_fits fits = fr_fits_of(job, out);
    csv_number(text, fits.reserved_B);
    csv_number(text, fits.shown_B);
    csv_number(text, fits.needed_B);
    csv_number(text, fits.probability);
    const struct fr_rates rates = fr_rates_of(job, out);
#define PUT_RATE(name) csv_number(text, rates.name);
    FR_RATE_LIST(PUT_RATE)
#undef PUT_RATE
    for (int i = 0; i < FR_PART_COUNT; i++) csv_number(text, priced ? out->part_s[i] : NAN);
    csv_keys(text, job, plan);
    for (int i = 0; i < job->n_varied; i++) {
        fr_text_addf(text, ",");
        fr_csv_put(text, strchr(job->varied[i], '=') + 1);
    }
    fr_text_addf(text, "\r\n");
}
