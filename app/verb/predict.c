/* One plan: what an iteration and the whole training cost. */
#include <math.h>
#include <stdlib.h>

#include "app/load.h"
#include "app/text/explain.h"
#include "app/text/render.h"
#include "app/verb.h"
#include "base/alloc.h"
#include "sim/run.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_MODEL,
    FR_OPTION_PLAN,
    FR_OPTION_SET,
    FR_OPTION_UNDISTURBED,
    {"engine", "NAME", "closed (formulas, default), event (our simulator) or simgrid", 0},
    {"explain", NULL, "what binds, and what would change it", 0},
    FR_OPTION_JSON,
    FR_OPTION_CSV,
    FR_OPTION_HELP,
    FR_OPTION_END};

static const char *const engines[] = {"closed", "event", "simgrid", NULL};

/* An outcome; with an explanation, {"outcome", "explain"} would be another schema, so it goes in. */
static void write_json(const struct fr_job *job, const struct fr_outcome *outcome, bool explain,
                       struct fr_text *text) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    if (!explain) {
        fr_report_json(&w, job, outcome);
        return;
    }
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/explain/1");
    fr_json_key(&w, "outcome");
    fr_report_json(&w, job, outcome);
    fr_json_key(&w, "explain");
    fr_explain_plan_json(&w, job, outcome);
    fr_json_end_object(&w);
}

/* The closed form's spread stands for the engines' too: they agree where both apply. */
static fr_status state_interval(const struct fr_job *job, struct fr_outcome *out,
                                struct fr_error *err) {
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    const struct fr_plan *plan = &out->plan;
    struct fr_odds odds;
    if (!known) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_interval_known(&job->cluster, job->workload.dtype, known);
    if (isfinite(out->time_s) &&
        fr_odds_make(known, &job->workload, &plan, NULL, 1, &odds, NULL) == FR_OK &&
        odds.predicted_s > 0) {
        out->low_s = out->time_s * odds.low_s / odds.predicted_s;
        out->high_s = out->time_s * odds.high_s / odds.predicted_s;
    }
    free(known);
    return FR_OK;
}

static fr_status run_events(const struct fr_job *job, const struct fr_network *network,
                            struct fr_outcome *outcome, struct fr_error *err) {
    struct fr_simulation simulation;
    const struct fr_simulate_options how = {.network = network};
    fr_status status = fr_simulate(job, &job->plan, &how, &simulation, err);
    *outcome = simulation.outcome;
    fr_simulation_free(&simulation);
    return status;
}

static fr_status predict(const struct fr_args *args, struct fr_job *job, struct fr_error *err) {
    struct fr_outcome outcome;
    struct fr_text text = {0};
    int engine = 0;
    FR_TRY(fr_args_choice(args, "engine", engines, &engine, err));
    FR_TRY(fr_app_load(args, true, job, err));
    FR_TRY(fr_app_choose_layer_grids(job, err));
    if (engine)
        FR_TRY(run_events(job, engine == 2 ? &fr_network_simgrid : NULL, &outcome, err));
    else
        fr_cost(job, &job->plan, &outcome);
    FR_TRY(state_interval(job, &outcome, err));
    if (fr_args_has(args, "json"))
        write_json(job, &outcome, fr_args_has(args, "explain"), &text);
    else if (fr_args_has(args, "csv")) {
        fr_report_csv_header(&text, job);
        fr_report_csv_row(&text, job, &outcome);
    } else
        fr_render_outcome(&text, job, &outcome);
    if (fr_args_has(args, "explain") && !fr_args_has(args, "json") && !fr_args_has(args, "csv"))
        fr_explain_plan(&text, job, &outcome);
    FR_TRY(fr_app_print(&text, err));
    return outcome.reasons ? FR_ERR_INFEASIBLE : FR_OK;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_job job = {0};
    fr_status status = predict(args, &job, err);
    fr_job_free(&job);
    return status;
}

const struct fr_verb fr_verb_predict = {
    .name = "predict",
    .summary = "time, energy and memory of one plan",
    .usage = "--cluster C --model M [--plan P] [--set KEY=VALUE]... [--engine NAME] "
             "[--explain] [--json|--csv]",
    .details = "examples:\n"
               "  forerun predict --cluster frontier --model ffn-16384 --set tp=8 --set "
               "method=phantom --set ghost=16\n"
               "  forerun predict --cluster cori-knl --model alexnet --set method=grid --set "
               "tp=4 --set dp=128\n"
               "  forerun predict --cluster cori-knl --model alexnet --set method=grid --set "
               "dp=512 --set layer_tp=best\n",
    .options = options,
    .run = run,
};
