/* One plan: what an iteration and the whole training cost. */
#include <math.h>

#include "answer/predict/explain_text.h"
#include "answer/predict/predict.h"
#include "answer/predict/predict_brief.h"
#include "answer/predict/training_text.h"
#include "answer/text/render.h"
#include "app/emit.h"
#include "app/from/expand.h"
#include "app/load.h"
#include "app/page/page.h"
#include "app/text/next.h"
#include "app/training_options.h"
#include "app/verb.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_MODEL,
    FR_OPTION_PLAN,
    FR_OPTION_FROM,
    FR_OPTION_SET,
    FR_OPTION_IDLE,
    FR_OPTION_FLOP,
    {"engine", "NAME", "closed (formulas, default), event (our simulator) or simgrid", 0},
    {"explain", NULL, "what binds, and what would change it", 0},
    FR_OPTION_ALL,
    FR_OPTION_EMIT,
    FR_OPTIONS_TRAINING,
    FR_OPTION_JSON,
    FR_OPTION_CSV,
    FR_OPTION_HELP,
    FR_OPTION_END};

/* On one screen, or with --all the whole of it. */
static void print_text(const struct fr_args *args, const struct fr_job *job,
                       const struct fr_outcome *out, const struct fr_training *training,
                       struct fr_text *text) {
    struct fr_text again = {0}, search = {0};
    if (!fr_args_has(args, "all")) {
        fr_next_again(args, "predict", &again);
        fr_next_search(args, out->ranks, &search);
        fr_predict_brief(text, job, out, training, fr_text_get(&again), fr_text_get(&search));
        fr_text_free(&again);
        fr_text_free(&search);
        return;
    }
    fr_render_outcome(text, job, out);
    if (!fr_training_asked(training)) return;
    const struct fr_training_cost cost = fr_training_cost_of(training, job, out);
    fr_text_addf(text, "\n");
    fr_render_training(text, training, &cost);
}

static fr_status predict(const struct fr_args *args, struct fr_job *job, struct fr_error *err) {
    struct fr_outcome outcome;
    struct fr_text text = {0}, page = {0};
    struct fr_training training;
    bool explain = fr_args_has(args, "explain");
    struct fr_app_emit emit;
    int engine = FR_ENGINE_CLOSED;
    FR_TRY(fr_app_emit_read(args, &emit, err));
    FR_TRY(fr_args_choice(args, "engine", fr_engine_names, &engine, err));
    FR_TRY(fr_app_training(args, &training, err));
    FR_TRY(fr_app_load(args, true, job, err));
    FR_TRY(fr_training_check(&training, job, err));
    FR_TRY(fr_predict(job, (fr_engine)engine, &outcome, err));
    const struct fr_outcome *plan = &outcome;
    if (fr_app_emits(&emit) && isfinite(outcome.time_s))
        FR_TRY(fr_app_emit(&emit, job, &plan, 1, fr_args_has(args, "json"), &text, err));
    else if (fr_args_has(args, "json"))
        fr_predict_json(&text, job, &outcome, &training, explain);
    else if (fr_args_has(args, "csv")) {
        fr_report_csv_header(&text, job);
        fr_report_csv_row(&text, job, &outcome);
    } else {
        print_text(args, job, &outcome, &training, &text);
        if (explain) fr_explain_plan(&text, job, &outcome);
    }
    if (fr_app_paged(args)) fr_predict_json(&page, job, &outcome, &training, true);
    FR_TRY(fr_app_answer(args, &text, &page, err));
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
    .words = FR_WORDS_OPTIONS,
    .run = run,
};
