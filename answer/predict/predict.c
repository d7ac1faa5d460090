#include "answer/predict/predict.h"

#include <math.h>
#include <stdlib.h>

#include "answer/outcome/report.h"
#include "answer/predict/explain.h"
#include "base/alloc.h"
#include "search/break_even.h"
#include "search/chosen.h"
#include "sim/run.h"
#include "trust/interval.h"

/* The closed form's spread stands for the engines' too: they agree where both apply. */
static fr_status state_interval(const struct fr_job *job, struct fr_outcome *out,
                                struct fr_error *err) {
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    if (!known) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_interval_known(&job->cluster, job->workload.dtype, known);
    fr_interval_state(known, &job->workload, out);
    free(known);
    return FR_OK;
}

static fr_status run_events(const struct fr_job *job, const struct fr_network *network,
                            struct fr_outcome *out, struct fr_error *err) {
    struct fr_simulation simulation;
    const struct fr_simulate_options how = {.network = network};
    fr_status status = fr_simulate(job, &job->plan, &how, &simulation, err);
    *out = simulation.outcome;
    fr_simulation_free(&simulation);
    return status;
}

fr_status fr_predict(struct fr_job *job, fr_engine engine, struct fr_outcome *out,
                     struct fr_error *err) {
    fr_reasons lacks = 0;
    FR_TRY(fr_job_choose(job, &lacks, err));
    if (engine == FR_ENGINE_CLOSED)
        fr_cost(job, &job->plan, out);
    else
        FR_TRY(run_events(job, engine == FR_ENGINE_SIMGRID ? &fr_network_simgrid : NULL, out,
                          err));
    fr_chosen_refuse(lacks, out);
    if (engine == FR_ENGINE_CLOSED) fr_break_even_state(job, out);
    return state_interval(job, out, err);
}

void fr_predict_json(struct fr_text *text, const struct fr_job *job,
                     const struct fr_outcome *outcome, const struct fr_training *training,
                     bool explain) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    bool whole = training && fr_training_asked(training);
    if (!explain && !whole) {
        fr_report_whole_json(&w, job, outcome);
        return;
    }
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", explain ? "forerun/explain/1" : "forerun/training/1");
    fr_json_key(&w, "outcome");
    fr_report_whole_json(&w, job, outcome);
    if (whole) {
        const struct fr_training_cost cost = fr_training_cost_of(training, job, outcome);
        fr_json_key(&w, "training");
        fr_training_put(&w, training, &cost);
    }
    if (explain) {
        fr_json_key(&w, "explain");
        fr_explain_plan_json(&w, job, outcome);
    }
    fr_json_end_object(&w);
}
