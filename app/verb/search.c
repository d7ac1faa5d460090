/* Many plans: the best, its margin, the front, and why the others cannot be. */
#include <math.h>
#include <stdlib.h>

#include "app/load.h"
#include "app/text/explain.h"
#include "app/text/search.h"
#include "app/verb.h"
#include "base/alloc.h"
#include "search/layer_grids.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_MODEL,
    FR_OPTION_PLAN,
    FR_OPTION_SET,
    FR_OPTION_UNDISTURBED,
    {"ranks", "RANGE", "rank counts: 512, 8,16,32, 1..64, 1..512*2", 'n'},
    {"vary", "KEY=RANGE",
     "values of a key of --set, of the plan, model. or cluster.: a,b,c or 1..64*2; may be "
     "repeated; of the plan:"
#define FR_PLAN_KEY(word, name, ...) " " name
#include "models/plan/key_list.h"
#undef FR_PLAN_KEY
     ,
     'v'},
    {"objective", "NAME", "time (default), energy or edp (energy times time)", 'o'},
    {"per-iteration", NULL, "rank one iteration, without the iterations to the loss", 0},
    {"top", "K", "best plans to show (default 10; 0: every feasible one)", 't'},
    {"memory-limit", "Q", "memory of a rank, e.g. \"32 GiB\", below the device's own", 0},
    {"max-lossy", "X",
     "most of gradient bytes or backward messages that may go compressed, 0 to 1", 0},
    {"threads", "T", "threads (default: processors); the result is the same for any number", 0},
    {"explain", NULL, "what binds, what would change the choice, why the next ones lose", 0},
    FR_OPTION_JSON,
    FR_OPTION_CSV,
    FR_OPTION_HELP,
    FR_OPTION_END};

/* Of the top plans, where time is what was ranked and one dtype what they compute in. */
static void make_odds(struct fr_app_search *r) {
    const struct fr_plan *plans[FR_ODDS_PLANS_MAX];
    double times[FR_ODDS_PLANS_MAX];
    struct fr_found_list *top = &r->result.top;
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    int n = top->count < 10 ? (int)top->count : 10;
    for (int i = 0; i < n; i++) {
        plans[i] = &top->items[i].outcome.plan;
        times[i] = r->result.by == FR_RANK_TOTAL ? top->items[i].outcome.iterations
                   : r->result.by == FR_RANK_SAMPLE
                       ? 1 / fr_search_samples(&top->items[i].outcome)
                       : 1;
    }
    if (known && r->options.objective == FR_OBJECTIVE_TIME) {
        fr_interval_known(&r->job.cluster, r->job.workload.dtype, known);
        if (fr_odds_make(known, &r->job.workload, plans, times, n, r->odds, NULL) == FR_OK)
            r->n_odds = n;
    }
    for (int i = 0; i < r->n_odds; i++) {
        top->items[i].outcome.low_s = r->odds[i].low_s;
        top->items[i].outcome.high_s = r->odds[i].high_s;
    }
    free(known);
}

/* Offered wherever the best plan is a grid over several layers: what the paper leaves open. */
static fr_status price_per_layer(struct fr_app_search *r, struct fr_error *err) {
    if (r->result.top.count == 0) return FR_OK;
    const struct fr_outcome *best = &r->result.top.items[0].outcome;
    const struct fr_job *job = best->job ? best->job : &r->job;
    struct fr_plan plan = best->plan;
    if (plan.method != &fr_method_grid || job->workload.n_layers < 2 || plan.layer_tp ||
        plan.layer_tp_best)
        return FR_OK;
    r->layer_tp = fr_calloc((size_t)job->workload.n_layers, sizeof *r->layer_tp);
    if (!r->layer_tp) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (fr_layer_grids_best(job, &plan, r->layer_tp, err) != FR_OK) return FR_OK;
    plan.layer_tp = r->layer_tp;
    plan.n_layer_tp = job->workload.n_layers;
    fr_cost(job, &plan, &r->per_layer);
    r->has_per_layer = isfinite(r->per_layer.time_s);
    return FR_OK;
}

static fr_status read_options(const struct fr_args *args, struct fr_search_options *o,
                              struct fr_error *err) {
    long long top = 10, threads = 0;
    int objective = FR_OBJECTIVE_TIME;
    const char *limit = fr_args_get(args, "memory-limit");
    FR_TRY(fr_args_choice(args, "objective", fr_objective_names, &objective, err));
    FR_TRY(fr_args_integer(args, "top", 0, 1000000, &top, err));
    FR_TRY(fr_args_integer(args, "threads", 1, 256, &threads, err));
    if (limit)
        FR_TRY(fr_quantity_parse(limit, FR_QUANTITY_SIZE, "--memory-limit", &o->memory_limit_B,
                                 err));
    if (limit && o->memory_limit_B <= 0)
        return fr_fail(err, FR_ERR_USAGE, "--memory-limit", "\"%.40s\" leaves nothing", limit);
    o->max_lossy = 1;
    FR_TRY(fr_args_number(args, "max-lossy", 0, 1, &o->max_lossy, err));
    o->objective = (fr_objective)objective;
    o->per_iteration = fr_args_has(args, "per-iteration");
    o->top = (size_t)top;
    o->threads = (int)threads;
    return FR_OK;
}

/* A key that is set, and that no plan reads, is a mistake. */
static fr_status all_read(const struct fr_app_search *r, struct fr_error *err) {
    const struct fr_space *space = &r->space;
    if (r->result.read == 0) return FR_OK; /* no plan at all */
    for (int i = 0; i < space->n_watched; i++) {
        int k = space->watched[i];
        const char *needs = "";
        struct fr_plan plan = space->base;
        if ((r->result.read | space->varied) >> k & 1) continue;
        const struct fr_plan_key *key = &fr_plan_keys[k];
        uint32_t lacks = key->needs & FR_PLAN_NEED_REFUSED;
        for (int n = FR_PLAN_NEEDS; n-- > 0;)
            if (lacks >> n & 1) needs = fr_plan_need_names[n];
        fr_plan_idle_key(&fr_space_job(space, &r->job, 0)->workload, &plan, &needs);
        return fr_fail(err, FR_ERR_INPUT, "plan",
                       "%s would have no effect on any plan of this search: it needs %s",
                       key->name, needs);
    }
    return FR_OK;
}

static fr_status search(const struct fr_args *args, struct fr_app_search *r,
                        struct fr_error *err) {
    const char *ranks = NULL, *vary[FR_ARGS_MAX];
    struct fr_text text = {0};
    FR_TRY(fr_args_required(args, "ranks", &ranks, err));
    FR_TRY(read_options(args, &r->options, err));
    FR_TRY(fr_app_load(args, true, &r->job, err));
    int n_vary = fr_args_all(args, "vary", vary);
    const char *sets[FR_ARGS_MAX + 1];
    struct fr_job_names names;
    fr_app_names(args, sets, &names);
    FR_TRY(fr_space_make(ranks, vary, n_vary, &r->job.plan, fr_app_plan_says(&r->job, "dp"),
                         fr_app_plan_says(&r->job, "tp"), &names, &r->space, err));
    if (r->space.n_inputs && fr_args_has(args, "explain"))
        return fr_fail(err, FR_ERR_USAGE, "--explain",
                       "is for one model on one cluster; what is varied of them is not told");
    /* The margin needs the second best even when one is asked for. */
    size_t shown = r->options.top;
    if (shown == 1) r->options.top = 2;
    FR_TRY(fr_search(&r->job, &r->space, &r->options, &r->result, err));
    FR_TRY(all_read(r, err));
    FR_TRY(price_per_layer(r, err));
    if (!r->space.variants) make_odds(r);
    r->explain = fr_args_has(args, "explain");
    err->detail[0] = '\0';
    r->options.top = shown;
    fr_status status = FR_OK;
    if (fr_args_has(args, "json"))
        status = fr_app_search_json(&text, r, err);
    else if (fr_args_has(args, "csv"))
        status = fr_app_search_csv(&text, r, err);
    else
        status = fr_app_search_text(&text, r, err);
    if (status == FR_OK && r->explain && !fr_args_has(args, "json") &&
        !fr_args_has(args, "csv"))
        status = fr_explain_search(&text, &r->job, &r->space, &r->options, &r->result, err);
    if (status != FR_OK) {
        fr_text_free(&text);
        return status;
    }
    FR_TRY(fr_app_print(&text, err));
    return r->result.top.count ? FR_OK : FR_ERR_INFEASIBLE;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_app_search *r = fr_calloc(1, sizeof *r);
    if (!r) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = search(args, r, err);
    free(r->layer_tp);
    fr_search_result_free(&r->result);
    fr_space_free(&r->space);
    fr_job_free(&r->job);
    free(r);
    return status;
}

const struct fr_verb fr_verb_search = {
    .name = "search",
    .summary = "the best of many plans",
    .usage = "--cluster C --model M --ranks RANGE [--vary KEY=RANGE]... [--objective "
             "time|energy|edp] ...",
    .details =
        "The axis that is neither set nor varied takes what is left of the ranks: dp if tp is "
        "given,\n"
        "else tp. Examples:\n"
        "  forerun search --cluster frontier --model ffn-16384 --ranks 8,16,32,64,128,256 \\\n"
        "      --vary method=tensor,phantom --vary ghost=2,4,6,16 --objective energy\n"
        "  forerun search --cluster cori-knl --model alexnet --ranks 512 --vary method=grid "
        "--vary tp=1..512*2\n",
    .options = options,
    .run = run,
};
