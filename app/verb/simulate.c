/* One plan run by the event engine: outcome, use of each stage, trace and timeline. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/load.h"
#include "app/render.h"
#include "app/verb.h"
#include "base/file.h"
#include "plots/figure.h"
#include "sim/run.h"
#include "traces/format.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_MODEL,
    FR_OPTION_PLAN,
    FR_OPTION_SET,
    {"network", "NAME", "isolated (each message alone, default) or shared (they share links)",
     0},
    {"trace", "FILE", "timeline: .json (Chrome, Perfetto), .paje or .csv", 't'},
    {"gantt", "FILE", "picture of the timeline: .svg, .png or .pdf", 'g'},
    FR_OPTION_JSON,
    FR_OPTION_CSV,
    FR_OPTION_HELP,
    FR_OPTION_END};

static void stages_json(struct fr_json_writer *w, const struct fr_simulation *s) {
    double span_s = s->outcome.time_s - s->outcome.part_s[FR_PART_FIXED];
    fr_json_key(w, "stages");
    fr_json_begin_array(w);
    for (int32_t i = 0; i < s->n_stages; i++) {
        fr_json_begin_object(w);
        fr_json_add_integer(w, "stage", i);
        fr_json_add_number(w, "busy_s", s->stages[i].busy_s);
        fr_json_add_number(w, "blocked_s", s->stages[i].blocked_s);
        fr_json_add_number(w, "gradient_s", s->stages[i].gradient_s);
        fr_json_add_number(w, "utilisation", s->stages[i].busy_s / span_s);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static void write_json(struct fr_text *text, const struct fr_job *job,
                       const struct fr_simulation *s) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/simulation/1");
    fr_json_add_string(&w, "network", s->network->name);
    fr_json_add_integer(&w, "tasks", s->n_tasks);
    fr_json_key(&w, "outcome");
    fr_report_json(&w, job, &s->outcome);
    stages_json(&w, s);
    fr_json_end_object(&w);
}

static void write_text(struct fr_text *text, const struct fr_job *job,
                       const struct fr_simulation *s) {
    enum { SHOWN = 32 };
    double span_s = s->outcome.time_s - s->outcome.part_s[FR_PART_FIXED];
    fr_render_outcome(text, job, &s->outcome);
    if (s->n_stages == 0) return;
    fr_text_addf(text, "\n%6s %14s %14s %14s %12s\n", "stage", "computing", "blocked",
                 "gradients", "utilisation");
    for (int32_t i = 0; i < s->n_stages && i < SHOWN; i++) {
        char busy[40], blocked[40], gradient[40];
        fr_text_addf(
            text, "%6d %14s %14s %14s %10.1f %%\n", i,
            fr_quantity_format(s->stages[i].busy_s, FR_QUANTITY_TIME, busy, sizeof busy),
            fr_quantity_format(s->stages[i].blocked_s, FR_QUANTITY_TIME, blocked,
                               sizeof blocked),
            fr_quantity_format(s->stages[i].gradient_s, FR_QUANTITY_TIME, gradient,
                               sizeof gradient),
            100 * s->stages[i].busy_s / span_s);
    }
    if (s->n_stages > SHOWN) fr_text_addf(text, "   ... and %d more\n", s->n_stages - SHOWN);
    fr_text_addf(text, "\n%lld tasks, network %s: %s\n", (long long)s->n_tasks,
                 s->network->name, s->network->summary);
}

static fr_status trace_text(const struct fr_job *job, const struct fr_simulation *s,
                            const struct fr_format *format, struct fr_text *out,
                            struct fr_error *err) {
    const struct fr_power *power = &job->cluster.device.power;
    char title[512], plan[128];
    snprintf(title, sizeof title, "%s on %s",
             fr_report_plan_line(&s->outcome.plan, plan, sizeof plan),
             job->cluster.name[0] ? job->cluster.name : job->cluster_from);
    const struct fr_trace_note notes[] = {
        {"cluster", job->cluster.name[0] ? job->cluster.name : job->cluster_from},
        {"model", job->workload.name[0] ? job->workload.name : job->model_from},
        {"plan", plan},
        {"version", FR_VERSION}};
    const struct fr_trace_options o = {.title = title,
                                       .notes = notes,
                                       .n_notes = sizeof notes / sizeof *notes,
                                       .busy_W = power->known ? power->busy_W : NAN,
                                       .idle_W = power->known ? power->idle_W : NAN,
                                       .communicating_W =
                                           power->known ? power->communicating_W : NAN};
    return format->write(&s->timeline, &o, out, err);
}

static fr_status write_trace(const struct fr_job *job, const struct fr_simulation *s,
                             const char *path, struct fr_error *err) {
    const struct fr_format *format = NULL;
    struct fr_text text = {0};
    fr_status status = fr_format_for_file(path, &format, err);
    if (status == FR_OK) status = trace_text(job, s, format, &text, err);
    if (status == FR_OK) status = fr_file_write(path, fr_text_get(&text), text.length, err);
    fr_text_free(&text);
    return status;
}

/* The picture is drawn from the very trace a user would get. */
static fr_status draw_gantt(const struct fr_job *job, const struct fr_simulation *s,
                            const char *path, struct fr_error *err) {
    const struct fr_format *chrome = NULL;
    const struct fr_figure *figure = NULL;
    const struct fr_figure_options o = {.output = path};
    struct fr_text text = {0};
    struct fr_json_document *document = NULL;
    fr_status status = fr_format_for_file("trace.json", &chrome, err);
    if (status == FR_OK) status = fr_figure_find("gantt", &figure, err);
    if (status == FR_OK) status = trace_text(job, s, chrome, &text, err);
    if (status == FR_OK)
        status = fr_json_parse(fr_text_get(&text), text.length, "trace", &document, err);
    if (status == FR_OK) {
        struct fr_json root = fr_json_root(document);
        status = figure->draw(&root, 1, &o, err);
    }
    fr_json_free(document);
    fr_text_free(&text);
    return status;
}

static fr_status simulate(const struct fr_args *args, struct fr_job *job,
                          struct fr_simulation *s, struct fr_error *err) {
    const char *trace = fr_args_get(args, "trace"), *gantt = fr_args_get(args, "gantt");
    const struct fr_format *format = NULL;
    struct fr_text text = {0};
    int network = 0;
    FR_TRY(fr_args_choice(args, "network", fr_network_names, &network, err));
    if (trace) FR_TRY(fr_format_for_file(trace, &format, err));
    if (trace) FR_TRY(fr_file_check_writable(trace, err));
    if (gantt) FR_TRY(fr_file_check_writable(gantt, err));
    FR_TRY(fr_app_load(args, true, job, err));
    const struct fr_simulate_options how = {fr_networks[network], trace || gantt};
    FR_TRY(fr_simulate(job, &job->plan, &how, s, err));
    if (s->outcome.reasons == 0 && trace) FR_TRY(write_trace(job, s, trace, err));
    if (s->outcome.reasons == 0 && gantt) FR_TRY(draw_gantt(job, s, gantt, err));
    if (fr_args_has(args, "json"))
        write_json(&text, job, s);
    else if (fr_args_has(args, "csv")) {
        fr_report_csv_header(&text);
        fr_report_csv_row(&text, &s->outcome);
    } else
        write_text(&text, job, s);
    FR_TRY(fr_app_print(&text, err));
    return s->outcome.reasons ? FR_ERR_INFEASIBLE : FR_OK;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_job job = {0};
    struct fr_simulation simulation = {0};
    fr_status status = simulate(args, &job, &simulation, err);
    fr_simulation_free(&simulation);
    fr_job_free(&job);
    return status;
}

const struct fr_verb fr_verb_simulate = {
    .name = "simulate",
    .summary = "run a pipeline in the event engine: timeline, trace, use of each stage",
    .usage = "--cluster C --model M [--plan P] [--set KEY=VALUE]... [--network NAME] [--trace "
             "FILE] [--gantt "
             "FILE] [--json|--csv]",
    .details = "Models of kind \"stages\" (measured or imagined stage times) so far. Example:\n"
               "  echo '{\"kind\": \"stages\", \"forward\": \"1 ms\", \"backward\": \"2 ms\", "
               "\"message\": \"1 MB\"}' > stages.json\n"
               "  forerun simulate --cluster frontier --model stages.json --set pp=8 --set "
               "global_batch=32 \\\n"
               "      --set schedule=zero-bubble --gantt pipeline.svg\n",
    .options = options,
    .run = run,
};
