/* One plan run by the event engine: outcome, use of each stage, trace and timeline. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/outcome/report.h"
#include "answer/simulate/simulation.h"
#include "answer/simulate/simulation_brief.h"
#include "answer/simulate/simulation_text.h"
#include "app/from/expand.h"
#include "app/load.h"
#include "app/page/page.h"
#include "app/text/next.h"
#include "app/verb.h"
#include "base/file.h"
#include "plots/figure.h"
#include "search/chosen.h"
#include "sim/run.h"
#include "traces/format.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_MODEL,
    FR_OPTION_PLAN,
    FR_OPTION_FROM,
    FR_OPTION_SET,
    FR_OPTION_IDLE,
    FR_OPTION_FLOP,
    {"network", "NAME",
     "isolated (each message alone), shared (they share links, in order from one rank to "
     "another), "
     "fair (all at once) or simgrid; default: as predict, shared where messages are slow",
     0},
    {"collectives", "NAME",
     "operations (one rank stands for all, default) or messages (all ranks, each collective as "
     "its messages)",
     0},
    {"trace", "FILE", "timeline: .json (Chrome, Perfetto), .paje or .csv", 't'},
    {"gantt", "FILE", "picture of the timeline: .svg, .png or .pdf", 'g'},
    FR_OPTION_ALL,
    FR_OPTION_JSON,
    FR_OPTION_CSV,
    FR_OPTION_HELP,
    FR_OPTION_END};

static fr_status write_trace(const struct fr_job *job, const struct fr_simulation *s,
                             const char *path, struct fr_error *err) {
    const struct fr_format *format = NULL;
    struct fr_text text = {0};
    fr_status status = fr_format_for_file(path, &format, err);
    if (status == FR_OK) status = fr_simulation_trace(job, s, format, &text, err);
    if (status == FR_OK)
        status = fr_file_write_last(path, fr_text_get(&text), text.length, err);
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
    if (status == FR_OK) status = fr_simulation_trace(job, s, chrome, &text, err);
    if (status == FR_OK)
        status = fr_json_parse(fr_text_get(&text), text.length, "trace", &document, err);
    if (status == FR_OK) {
        struct fr_json root = fr_json_root(document);
        status = fr_figure_draw(figure, &root, 1, &o, err);
    }
    fr_json_free(document);
    fr_text_free(&text);
    return status;
}

/* On one screen, or with --all the whole of it. */
static void print_text(const struct fr_args *args, const struct fr_job *job,
                       const struct fr_simulation *s, struct fr_text *text) {
    struct fr_text again = {0};
    if (fr_args_has(args, "all")) {
        fr_simulation_text(text, job, s);
        return;
    }
    fr_next_again(args, "simulate", &again);
    fr_simulation_brief(text, job, s, fr_text_get(&again));
    fr_text_free(&again);
}

static fr_status simulate(const struct fr_args *args, struct fr_job *job,
                          struct fr_simulation *s, struct fr_error *err) {
    const char *trace = fr_args_get(args, "trace"), *gantt = fr_args_get(args, "gantt");
    const struct fr_format *format = NULL;
    struct fr_text text = {0}, page = {0};
    int network = 0;
    bool messages = false;
    FR_TRY(fr_args_choice(args, "network", fr_network_names, &network, err));
    FR_TRY(fr_app_as_messages(args, &messages, err));
    if (trace) FR_TRY(fr_format_for_file(trace, &format, err));
    if (trace) FR_TRY(fr_file_check_writable(trace, err));
    if (gantt) FR_TRY(fr_file_check_writable(gantt, err));
    FR_TRY(fr_app_load(args, true, job, err));
    fr_reasons lacks = 0;
    FR_TRY(fr_job_choose(job, &lacks, err));
    const struct fr_simulate_options how = {
        .network = fr_args_has(args, "network") ? fr_networks[network] : NULL,
        .timeline = !fr_args_has(args, "csv"),
        .as_messages = messages};
    FR_TRY(fr_simulate(job, &job->plan, &how, s, err));
    fr_chosen_refuse(lacks, &s->outcome);
    if (s->outcome.reasons == 0 && trace) FR_TRY(write_trace(job, s, trace, err));
    if (s->outcome.reasons == 0 && gantt) FR_TRY(draw_gantt(job, s, gantt, err));
    if (fr_args_has(args, "json"))
        fr_simulation_json(&text, job, s);
    else if (fr_args_has(args, "csv")) {
        fr_report_csv_header(&text, job);
        fr_report_csv_row(&text, job, &s->outcome);
    } else
        print_text(args, job, s, &text);
    if (fr_app_paged(args)) fr_simulation_json(&page, job, s);
    FR_TRY(fr_app_answer(args, &text, &page, err));
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

static const struct fr_output outputs[] = {
    {"trace", NULL, NULL}, {"gantt", NULL, NULL}, {NULL, NULL, NULL}};

const struct fr_verb fr_verb_simulate = {
    .name = "simulate",
    .summary =
        "run a plan in the event engine: timeline, trace, use of each stage, critical path",
    .usage = "--cluster C --model M [--plan P] [--set KEY=VALUE]... [--network NAME] "
             "[--collectives NAME] [--trace FILE] [--gantt "
             "FILE] [--json|--csv]",
    .details = "Any model: pipelines pass by pass, layers product by product. Example:\n"
               "  echo '{\"kind\":\"stages\",\"forward\":\"1 ms\",\"backward\":\"2 ms\","
               "\"message\":\"1 MB\"}' \\\n      > stages.json\n"
               "  forerun simulate --cluster frontier --model stages.json --set pp=8 --set "
               "global_batch=32 \\\n"
               "      --set schedule=zero-bubble --gantt pipeline.svg\n",
    .options = options,
    .words = FR_WORDS_OPTIONS,
    .outputs = outputs,
    .run = run,
};
