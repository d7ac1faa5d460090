#include "models/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "models/pipeline.h"

const char *fr_report_extrapolated_name(int bit) {
    static const char *const names[] = {
#define FR_EXTRAPOLATED_NAME(code, name) "collectives." #name,
        FR_OP_LIST(FR_EXTRAPOLATED_NAME)
#undef FR_EXTRAPOLATED_NAME
            "gemm"};
    return names[bit];
}

const char *fr_report_plan_line(const struct fr_plan *plan, char *out, size_t capacity) {
    const struct fr_plan_compression *c = &plan->compression;
    char placement[64];
    size_t used = 0;
#define ADD(...) fr_line_addf(out, capacity, &used, __VA_ARGS__)
    ADD("%s tp %" PRId64 " x dp %" PRId64, plan->method->name, plan->tp, plan->dp);
    if (plan->pp > 1) ADD(" x pp %" PRId64, plan->pp);
    if (plan->method->uses_ghost) ADD(", k %" PRId64, plan->ghost);
    if (plan->method == &fr_method_subgraph) {
        if (plan->branches) ADD(", %s", fr_branches_names[plan->branches]);
        if (plan->common_subgrid) ADD(", cSub");
        if (plan->gather_all) ADD(", gather");
    }
    if (plan->placement.row != &fr_placement_linear)
        ADD(", %s", fr_placement_write(&plan->placement, placement, sizeof placement));
    if (plan->pp > 1) ADD(", %s", plan->schedule->name);
    if (plan->chunks > 1) ADD(" x%" PRId64, plan->chunks);
    if (c->scope != FR_SCOPE_NONE)
        ADD(", CB %s r%" PRId64, fr_scope_names[c->scope], c->backward_rank);
    if (c->fused_embedding) ADD(", FE");
    if (c->gradient_stages > 0)
        ADD(", SC %" PRId64 " r%" PRId64, c->gradient_stages, c->gradient_rank);
    for (int i = 0; i < plan->n_stage_layers && i < 8; i++)
        ADD("%s%" PRId64, i ? "+" : ", layers ", plan->stage_layers[i]);
    if (plan->n_stage_layers > 8) ADD("+...");
    if (plan->sequence_parallel) ADD(", SP");
    if (plan->bucket_B > 0) ADD(", overlap");
    if (plan->recompute != FR_RECOMPUTE_NONE)
        ADD(", recompute %s", fr_recompute_names[plan->recompute]);
    if (plan->micro_batch) ADD(", b %" PRId64, plan->micro_batch);
    if (plan->layer_tp) ADD(", a grid per layer");
#undef ADD
    return out;
}

static void list_json(struct fr_json_writer *w, const char *key, const int64_t *list, int n) {
    fr_json_key(w, key);
    fr_json_begin_array(w);
    for (int i = 0; i < n; i++) fr_json_put_integer(w, list[i]);
    fr_json_end_array(w);
}

static void plan_json(struct fr_json_writer *w, const struct fr_job *job,
                      const struct fr_plan *plan) {
    char placement[64];
    fr_json_begin_object(w);
    fr_json_add_integer(w, "dp", plan->dp);
    fr_json_add_integer(w, "pp", plan->pp);
    fr_json_add_integer(w, "tp", plan->tp);
    fr_json_add_string(w, "method", plan->method->name);
    fr_json_add_integer(w, "ghost", plan->method->uses_ghost ? plan->ghost : 0);
    fr_json_add_string(w, "placement",
                       fr_placement_write(&plan->placement, placement, sizeof placement));
    if (plan->method == &fr_method_subgraph) {
        fr_json_add_string(w, "common", fr_common_names[plan->common_subgrid]);
        fr_json_add_string(w, "exchange", fr_exchange_names[plan->gather_all]);
        fr_json_add_string(w, "branches", fr_branches_names[plan->branches]);
    }
    fr_json_add_string(w, "schedule", plan->schedule->name);
    fr_json_add_integer(w, "chunks", plan->chunks);
    fr_json_add_string(w, "p2p", plan->duplex ? "duplex" : "async");
    fr_json_add_string(w, "recompute", fr_recompute_names[plan->recompute]);
    fr_json_add_bool(w, "sequence_parallel", plan->sequence_parallel);
    fr_json_add_string(w, "overlap", plan->bucket_B > 0 ? "gradient" : "none");
    if (plan->bucket_B > 0) fr_json_add_number(w, "bucket_B", plan->bucket_B);
    int64_t batch = fr_job_batch(job, plan);
    fr_json_add_integer(w, "global_batch", batch);
    int64_t whole = job->workload.n_layers == 0 || plan->pp > 1 ? 1 : batch / plan->dp;
    fr_json_add_integer(w, "micro_batch",
                        plan->micro_batch ? plan->micro_batch
                        : whole > 0       ? whole
                                          : 1);
    const struct fr_plan_compression *c = &plan->compression;
    fr_json_key(w, "compression");
    fr_json_begin_object(w);
    fr_json_add_string(w, "codec", c->codec->name);
    fr_json_key(w, "backward");
    fr_json_begin_object(w);
    fr_json_add_integer(w, "rank", c->backward_rank);
    fr_json_add_string(w, "scope", fr_scope_names[c->scope]);
    fr_json_add_bool(w, "lazy_error", c->lazy_error);
    fr_json_end_object(w);
    fr_json_add_string(w, "embedding", c->fused_embedding ? "fused" : "separate");
    fr_json_key(w, "gradient");
    fr_json_begin_object(w);
    fr_json_add_integer(w, "rank", c->gradient_rank);
    fr_json_add_integer(w, "stages", c->gradient_stages);
    fr_json_end_object(w);
    fr_json_end_object(w);
    if (plan->stage_layers)
        list_json(w, "stage_layers", plan->stage_layers, plan->n_stage_layers);
    if (plan->layer_tp) list_json(w, "layer_tp", plan->layer_tp, plan->n_layer_tp);
    fr_json_end_object(w);
}

void fr_report_provenance(struct fr_json_writer *w, const struct fr_job *job) {
    fr_json_key(w, "provenance");
    fr_json_begin_object(w);
    fr_json_add_string(w, "version", FR_VERSION);
    fr_json_add_string(w, "cluster",
                       job->cluster.name[0] ? job->cluster.name : job->cluster_from);
    fr_json_add_string(w, "cluster_source", job->cluster.source);
    fr_json_add_string(w, "model",
                       job->workload.name[0] ? job->workload.name : job->model_from);
    fr_json_add_string(w, "model_source", job->workload.source);
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
    fr_json_key(w, "memory_B");
    fr_json_begin_object(w);
    bool known = isfinite(out->parameters);
    fr_json_add_number(w, "peak", known ? out->memory_peak_B : NAN);
    for (int i = 0; i < FR_MEMORY_COUNT; i++)
        fr_json_add_number(w, fr_memory_names[i], known ? out->memory_B[i] : NAN);
    fr_json_end_object(w);
    bool placed = known && out->fullest_rank >= 0;
    fr_json_add_number(w, "fullest_rank", placed ? (double)out->fullest_rank : NAN);
    fr_json_add_number(w, "fullest_stage", known ? (double)out->fullest_stage : NAN);
    fr_json_add_bool(w, "near_memory_edge",
                     known && fr_memory_near_edge(&job->cluster.device, out));
}

static void iterations_json(struct fr_json_writer *w, const struct fr_outcome *out) {
    static const char *const origins[] = {"unknown", "given", "interpolated"};
    fr_json_add_number(w, "iterations", out->iterations);
    fr_json_add_string(w, "iterations_origin", origins[out->iterations_origin]);
    fr_json_add_number(w, "total_time_s", out->total_time_s);
    fr_json_add_number(w, "total_energy_J", out->total_energy_J);
}

static void reasons_json(struct fr_json_writer *w, const struct fr_job *job,
                         const struct fr_outcome *out) {
    fr_json_add_bool(w, "feasible", out->reasons == 0);
    fr_json_key(w, "reasons");
    fr_json_begin_array(w);
    for (int i = 0; i < FR_REASON_COUNT; i++) {
        struct fr_text text = {0};
        if (!(out->reasons & FR_BECAUSE(i))) continue;
        fr_report_reason(job, out, i, &text);
        fr_json_put_string(w, fr_text_get(&text));
        fr_text_free(&text);
    }
    fr_json_end_array(w);
    fr_json_key(w, "extrapolated");
    fr_json_begin_array(w);
    for (int bit = 0; bit <= FR_OP_COUNT; bit++)
        if (out->extrapolated >> bit & 1)
            fr_json_put_string(w, fr_report_extrapolated_name(bit));
    fr_json_end_array(w);
}

void fr_report_json(struct fr_json_writer *w, const struct fr_job *job,
                    const struct fr_outcome *out) {
    bool priced = isfinite(out->time_s);
    fr_json_begin_object(w);
    fr_json_add_string(w, "schema", "forerun/outcome/1");
    fr_json_add_string(w, "engine", out->engine ? out->engine : "closed");
    fr_json_key(w, "plan");
    plan_json(w, job, &out->plan);
    fr_json_add_integer(w, "ranks", out->ranks);
    fr_json_add_number(w, "parameters", priced ? out->parameters : NAN);
    fr_json_add_number(w, "parameters_per_rank_max", priced ? out->parameters_rank_max : NAN);
    fr_json_add_number(w, "iteration_time_s", out->time_s);
    if (out->high_s > 0) {
        fr_json_add_number(w, "iteration_time_low_s", out->low_s);
        fr_json_add_number(w, "iteration_time_high_s", out->high_s);
        fr_json_add_string(w, "interval_from",
                           job->cluster.tuning.present             ? "tuning"
                           : job->cluster.calibration.held_out > 0 ? "calibration"
                                                                   : "priors");
    }
    fr_calibration_put(&job->cluster.calibration, w);
    fr_json_add_number(w, "iteration_energy_J", out->energy_J);
    memory_json(w, job, out);
    iterations_json(w, out);
    fr_json_key(w, "breakdown_s");
    fr_json_begin_object(w);
    for (int i = 0; i < FR_PART_COUNT; i++)
        fr_json_add_number(w, fr_part_names[i], out->part_s[i]);
    fr_json_end_object(w);
    fr_json_key(w, "bytes_per_rank");
    fr_json_begin_object(w);
    for (int axis = 0; axis < FR_SENT_COUNT; axis++)
        fr_json_add_number(w, fr_sent_names[axis], out->sent_B[axis]);
    fr_json_end_object(w);
    fr_json_key(w, "lossy");
    fr_json_begin_object(w);
    const struct fr_plan_compression *c = &out->plan.compression;
    fr_json_add_number(w, "gradient_bytes", out->lossy_gradient);
    fr_json_add_integer(w, "gradient_rank", out->lossy_gradient > 0 ? c->gradient_rank : 0);
    fr_json_add_number(w, "backward_messages", out->lossy_backward);
    fr_json_add_integer(w, "backward_rank", out->lossy_backward > 0 ? c->backward_rank : 0);
    fr_json_add_number(w, "gradient_break_even_B_per_s",
                       out->break_even_gradient_B_per_s > 0 ? out->break_even_gradient_B_per_s
                                                            : NAN);
    fr_json_add_number(w, "backward_break_even_B_per_s",
                       out->break_even_backward_B_per_s > 0 ? out->break_even_backward_B_per_s
                                                            : NAN);
    fr_json_end_object(w);
    reasons_json(w, job, out);
    fr_report_provenance(w, job);
    fr_json_end_object(w);
}

void fr_report_csv_header(struct fr_text *text) {
    fr_text_addf(text,
                 "method,ranks,dp,pp,tp,ghost,feasible,parameters,parameters_per_rank_max,"
                 "iteration_time_s,iteration_energy_J,iterations,total_time_s,total_energy_J,"
                 "memory_peak_B");
    for (int i = 0; i < FR_PART_COUNT; i++) fr_text_addf(text, ",%s_s", fr_part_names[i]);
    fr_text_addf(text, ",placement,common,exchange,branches\r\n");
}

static void csv_number(struct fr_text *text, double value) {
    char number[40];
    fr_text_addf(text, ",%s",
                 isfinite(value) ? fr_number_write(value, number, sizeof number) : "");
}

void fr_report_csv_row(struct fr_text *text, const struct fr_outcome *out) {
    const struct fr_plan *plan = &out->plan;
    bool priced = isfinite(out->time_s);
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
    for (int i = 0; i < FR_PART_COUNT; i++) csv_number(text, priced ? out->part_s[i] : NAN);
    bool subgraph = plan->method == &fr_method_subgraph;
    char placement[64];
    fr_text_addf(text, ",%s,%s,%s,%s\r\n",
                 fr_placement_write(&plan->placement, placement, sizeof placement),
                 subgraph ? fr_common_names[plan->common_subgrid] : "",
                 subgraph ? fr_exchange_names[plan->gather_all] : "",
                 subgraph ? fr_branches_names[plan->branches] : "");
}
