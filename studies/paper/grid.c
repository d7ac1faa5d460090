/* Gholami et al. 2017: what grid.study computes with. */
#include <math.h>
#include <string.h>

#include "models/outcome/cost.h"
#include "search/layer_grids.h"
#include "studies/engine/study.h"
#include "studies/interval.h"

static const double alpha_s = 2e-6, beta_s_per_B = 1 / 6e9, batch = 2048, value_B = 4;

/* Eq. 4 as printed; Eq. 2 is its P_c = 1, Eq. 3 its P_r = 1. */
static double eq4_s(const struct fr_workload *net, double pr, double pc) {
    double model_s = 0, data_s = 0;
    for (int i = 0; i < net->n_layers; i++) {
        double rows = net->layers[i].rows, fullest = pr * ceil(rows / pr) / rows;
        double d = net->layers[i].outputs * (fullest + 2) / 3,
               w = (net->layers[i].weights + net->layers[i].biases) * fullest;
        model_s +=
            alpha_s * ceil(log2(pr)) + batch * (pr - 1) / pr * beta_s_per_B * value_B * d / pc;
        data_s += alpha_s * ceil(log2(pc)) + (pc - 1) / pc * beta_s_per_B * value_B * w / pr;
    }
    return 3 * model_s + 2 * data_s;
}

static fr_status eq4(struct fr_study_call *c) {
    const struct fr_job *job = c->context;
    return fr_say(
        c, eq4_s(&job->workload, fr_call_number(c, "pr", 0, 1), fr_call_number(c, "pc", 1, 1)));
}

static fr_status price(struct fr_study_call *c) {
    const struct fr_job *job = c->context;
    struct fr_plan plan = fr_plan_default();
    struct fr_outcome outcome;
    plan.method = &fr_method_grid;
    plan.tp = (int64_t)fr_call_number(c, "pr", 0, 1);
    plan.dp = (int64_t)fr_call_number(c, "pc", 1, 1);
    plan.global_batch = (int64_t)fr_call_number(c, "samples", 2, batch);
    fr_cost(job, &plan, &outcome);
    if (fr_call_number(c, "stated", -1, 0) != 0) fr_paper_interval(job, &outcome);
    return fr_say_outcome(c, &outcome, NULL);
}

/* |W|, or d, of all layers. */
static fr_status sum_of(struct fr_study_call *c) {
    const struct fr_workload *net = &((const struct fr_job *)c->context)->workload;
    bool weights = strcmp(fr_call_word(c, "of", 0), "weights") == 0;
    double sum = 0;
    for (int i = 0; i < net->n_layers; i++)
        sum +=
            weights ? net->layers[i].weights + net->layers[i].biases : net->layers[i].outputs;
    return fr_say(c, sum);
}

/* On 512 ranks: the best grid of each layer, or convolutions over replicas alone and the rest 32 x 16. */
static fr_status per_layer(struct fr_study_call *c) {
    const struct fr_job *job = c->context;
    static const int64_t convolutions[] = {1, 1, 1, 1, 1, 32, 32, 32};
    int64_t chosen[8];
    struct fr_plan plan = fr_plan_default();
    struct fr_outcome outcome;
    plan.method = &fr_method_grid;
    plan.dp = 512;
    plan.global_batch = (int64_t)batch;
    FR_TRY(fr_layer_grids_best(job, &plan, chosen, c->err));
    plan.n_layer_tp = 8;
    plan.layer_tp = strcmp(fr_call_word(c, "which", 0), "best") == 0 ? chosen : convolutions;
    fr_cost(job, &plan, &outcome);
    return fr_say_outcome(c, &outcome, NULL);
}

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    static const struct fr_study_function functions[] = {{"eq4", eq4},
                                                         {"price", price},
                                                         {"sum_of", sum_of},
                                                         {"per_layer", per_layer},
                                                         {NULL, NULL}};
    extern const char fr_study_grid[];
    const struct fr_study_text study = {"grid", fr_study_grid, functions};
    const struct fr_job_names names = {.cluster = "cori-knl", .model = "alexnet"};
    struct fr_job job = {0};
    fr_status status = fr_job_load(&names, &job, err);
    if (status == FR_OK) status = fr_study_run(&study, &job, r, err);
    fr_job_free(&job);
    return status;
}

const struct fr_paper fr_paper_grid = {
    .name = "grid",
    .title = "Gholami et al., Integrated Model and Data Parallelism in Training Neural "
             "Networks, 2017: Eqs. 2 to 4, Figures 3, 5 and 6",
    .run = run,
};
