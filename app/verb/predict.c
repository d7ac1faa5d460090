/* One plan: what an iteration and the whole training cost. */
#include "app/load.h"
#include "app/render.h"
#include "app/verb.h"
#include "sim/run.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_MODEL,
    FR_OPTION_PLAN,
    FR_OPTION_SET,
    {"engine", "NAME", "closed (formulas, default), event (our simulator) or simgrid", 0},
    FR_OPTION_JSON,
    FR_OPTION_CSV,
    FR_OPTION_HELP,
    FR_OPTION_END};

static const char *const engines[] = {"closed", "event", "simgrid", NULL};

static void write_json(const struct fr_job *job, const struct fr_outcome *outcome,
                       struct fr_text *text) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_report_json(&w, job, outcome);
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
    if (fr_args_has(args, "json"))
        write_json(job, &outcome, &text);
    else if (fr_args_has(args, "csv")) {
        fr_report_csv_header(&text);
        fr_report_csv_row(&text, &outcome);
    } else
        fr_render_outcome(&text, job, &outcome);
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
             "[--json|--csv]",
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
