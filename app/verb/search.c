/* Many plans: the best, its margin, the front, and why the others cannot be. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/explain.h"
#include "app/load.h"
#include "app/render.h"
#include "app/verb.h"
#include "search/layer_grids.h"
#include "search/search.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_MODEL,
    FR_OPTION_PLAN,
    FR_OPTION_SET,
    {"ranks", "RANGE", "rank counts: 512, 8,16,32, 1..64, 1..512*2", 'n'},
    {"vary", "KEY=RANGE",
     "method, dp, pp, tp, schedule, chunks, recompute, ghost, global_batch, micro_batch, "
     "compression.backward.scope, .rank, compression.embedding, compression.gradient.stages, "
     ".rank, placement, and of method subgraph common, exchange, branches; may be repeated",
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

struct run {
    struct fr_job job;
    struct fr_space space;
    struct fr_search_options options;
    struct fr_search_result result;
    int64_t *layer_tp; /* a grid per layer for the best plan, where it has a grid */
    struct fr_outcome per_layer;
    bool has_per_layer;
    struct fr_odds odds[FR_ODDS_PLANS_MAX]; /* of the first of top */
    int n_odds;
    bool explain;
};

static const char *ranked_by(const struct run *r) {
    static const char *const total[] = {"total_time_s", "total_energy_J", "total_edp_J_s"};
    static const char *const once[] = {"iteration_time_s", "iteration_energy_J",
                                       "iteration_edp_J_s"};
    return (r->result.by_iteration ? once : total)[r->options.objective];
}

static double value_of(const struct run *r, const struct fr_outcome *out) {
    return fr_objective_value(r->options.objective, r->result.by_iteration, out);
}

/* How much worse the second is than the best, as a share of the best; NaN when it stands alone. */
static double margin(const struct run *r) {
    const struct fr_found_list *top = &r->result.top;
    if (top->count < 2) return NAN;
    return value_of(r, &top->items[1].outcome) / value_of(r, &top->items[0].outcome) - 1;
}

/* What ranking one iteration means, said whenever it is done. */
static const char *per_iteration_note(const struct run *r) {
    const struct fr_found_list *front = &r->result.pareto;
    if (!r->result.by_iteration) return NULL;
    for (size_t i = 0; i < front->count; i++)
        if (front->items[i].outcome.lossy_gradient > 0 ||
            front->items[i].outcome.lossy_backward > 0)
            return "ranked per iteration: compressed plans lose part of their gradients and "
                   "may need "
                   "more iterations to the same loss, which this order leaves out; --max-lossy "
                   "limits it";
    if (fr_space_has_ghost(&r->space))
        return "ranked per iteration: a plan that trains a smaller model may need more "
               "iterations to the "
               "same loss, which this order leaves out; the smallest ghost width tends to win "
               "it";
    return "ranked per iteration: all these plans compute the same gradients, so they need the "
           "same "
           "number of iterations, whatever it is";
}

/* ---- odds -------------------------------------------------------------------------------- */

/* Of the top plans, where time is what was ranked and one dtype what they compute in. */
static void make_odds(struct run *r) {
    const struct fr_plan *plans[FR_ODDS_PLANS_MAX];
    double times[FR_ODDS_PLANS_MAX];
    struct fr_found_list *top = &r->result.top;
    struct fr_tune_result *known = calloc(1, sizeof *known);
    int n = top->count < 10 ? (int)top->count : 10;
    for (int i = 0; i < n; i++) {
        plans[i] = &top->items[i].outcome.plan;
        times[i] = r->result.by_iteration ? 1 : top->items[i].outcome.iterations;
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

static void json_odds(struct fr_json_writer *w, const struct run *r) {
    char line[128];
    fr_json_key(w, "odds");
    fr_json_begin_array(w);
    for (int i = 0; i < r->n_odds; i++) {
        fr_json_begin_object(w);
        fr_json_add_string(
            w, "plan",
            fr_report_plan_line(&r->result.top.items[i].outcome.plan, line, sizeof line));
        fr_json_add_number(w, "probability_best", r->odds[i].best);
        fr_json_add_number(w, "expected_regret", r->odds[i].regret);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static void text_odds(struct fr_text *text, const struct run *r) {
    char line[128], low[40], high[40];
    if (r->n_odds < 2) return;
    fr_text_addf(text, "\nhow sure (%s)\n%-60s %24s %9s %9s\n",
                 r->job.cluster.tuning.present ? "coefficients from tuned runs"
                                               : "coefficients known as well as priors are",
                 "plan", "90 % interval", "best", "regret");
    for (int i = 0; i < r->n_odds; i++)
        fr_text_addf(
            text, "%-60s %11s %12s %7.1f %% %7.2f %%\n",
            fr_report_plan_line(&r->result.top.items[i].outcome.plan, line, sizeof line),
            fr_quantity_format(r->odds[i].low_s, FR_QUANTITY_TIME, low, sizeof low),
            fr_quantity_format(r->odds[i].high_s, FR_QUANTITY_TIME, high, sizeof high),
            100 * r->odds[i].best, 100 * r->odds[i].regret);
    fr_text_addf(text,
                 "  best: probability to be the fastest of these; regret: expected loss of "
                 "choosing it\n");
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void json_list(struct fr_json_writer *w, const char *key, const struct run *r,
                      const struct fr_found_list *list) {
    fr_json_key(w, key);
    fr_json_begin_array(w);
    for (size_t i = 0; i < list->count; i++)
        fr_report_json(w, &r->job, &list->items[i].outcome);
    fr_json_end_array(w);
}

static void json_reasons(struct fr_json_writer *w, const struct run *r) {
    fr_json_key(w, "infeasible_reasons");
    fr_json_begin_array(w);
    for (int i = 0; i < FR_REASON_COUNT; i++) {
        struct fr_text text = {0};
        char line[128];
        if (!r->result.because[i]) continue;
        fr_report_reason(&r->job, &r->result.example[i].outcome, i, &text);
        fr_json_begin_object(w);
        fr_json_add_string(w, "reason", fr_reason_names[i]);
        fr_json_add_integer(w, "count", r->result.because[i]);
        fr_json_add_string(
            w, "example",
            fr_report_plan_line(&r->result.example[i].outcome.plan, line, sizeof line));
        fr_json_add_string(w, "explanation", fr_text_get(&text));
        fr_json_end_object(w);
        fr_text_free(&text);
    }
    fr_json_end_array(w);
}

static fr_status print_json(struct fr_text *text, const struct run *r, struct fr_error *err) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    const struct fr_search_result *result = &r->result;
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/search/1");
    fr_json_add_string(&w, "objective", fr_objective_names[r->options.objective]);
    fr_json_add_string(&w, "ranked_by", ranked_by(r));
    if (per_iteration_note(r)) fr_json_add_string(&w, "note", per_iteration_note(r));
    fr_json_add_integer(&w, "evaluated", result->evaluated);
    fr_json_add_integer(&w, "feasible", result->feasible);
    fr_json_add_integer(&w, "infeasible", result->infeasible);
    json_reasons(&w, r);
    fr_json_add_number(&w, "elapsed_s", result->elapsed_s);
    fr_json_add_number(&w, "margin", margin(r));
    fr_json_key(&w, "best");
    if (result->top.count)
        fr_report_json(&w, &r->job, &result->top.items[0].outcome);
    else
        fr_json_put_null(&w);
    if (r->has_per_layer) {
        fr_json_key(&w, "per_layer_grids");
        fr_report_json(&w, &r->job, &r->per_layer);
    }
    json_odds(&w, r);
    if (r->explain && result->top.count) {
        fr_json_key(&w, "explain");
        FR_TRY(fr_explain_search_json(&w, &r->job, &r->space, &r->options, result, err));
    }
    json_list(&w, "top", r, &result->top);
    json_list(&w, "pareto", r, &result->pareto);
    fr_json_end_object(&w);
    return FR_OK;
}

/* ---- text -------------------------------------------------------------------------------- */

static void text_row(struct fr_text *text, const struct fr_outcome *out, int width) {
    char plan[128], time[40], energy[40], total[40], total_energy[40], memory[40];
    fr_text_addf(
        text, "%-*s %6" PRId64 " %10s %10s %10s %10s %10s%s%s", width,
        fr_report_plan_line(&out->plan, plan, sizeof plan), out->ranks,
        fr_render_quantity(out->time_s, FR_QUANTITY_TIME, time, sizeof time),
        fr_render_quantity(out->energy_J, FR_QUANTITY_ENERGY, energy, sizeof energy),
        fr_render_quantity(out->total_time_s, FR_QUANTITY_TIME, total, sizeof total),
        fr_render_quantity(out->total_energy_J, FR_QUANTITY_ENERGY, total_energy,
                           sizeof total_energy),
        fr_render_quantity(out->memory_peak_B, FR_QUANTITY_SIZE, memory, sizeof memory),
        out->iterations_origin == FR_ITERATIONS_INTERPOLATED ? " i" : "",
        out->extrapolated ? " x" : "");
    if (out->lossy_gradient > 0 || out->lossy_backward > 0)
        fr_text_addf(text, "  lossy %.0f %%, %.0f %%", 100 * out->lossy_gradient,
                     100 * out->lossy_backward);
    fr_text_addf(text, "\n");
}

static void text_list(struct fr_text *text, const char *title, const struct fr_found_list *list,
                      size_t limit) {
    bool interpolated = false, extrapolated = false, lossy = false;
    int width = (int)strlen(title);
    for (size_t i = 0; i < list->count && i < limit; i++) {
        char plan[128];
        int length =
            (int)strlen(fr_report_plan_line(&list->items[i].outcome.plan, plan, sizeof plan));
        if (length > width) width = length;
    }
    fr_text_addf(text, "\n%-*s %6s %21s %21s\n%-*s %6s %10s %10s %10s %10s %10s\n", width, "",
                 "", "---- one iteration --", "------- to the loss -", width, title, "ranks",
                 "time", "energy", "time", "energy", "memory");
    for (size_t i = 0; i < list->count && i < limit; i++) {
        const struct fr_outcome *out = &list->items[i].outcome;
        text_row(text, out, width);
        interpolated = interpolated || out->iterations_origin == FR_ITERATIONS_INTERPOLATED;
        extrapolated = extrapolated || out->extrapolated;
        lossy = lossy || out->lossy_gradient > 0 || out->lossy_backward > 0;
    }
    if (list->count > limit) fr_text_addf(text, "  ... and %zu more\n", list->count - limit);
    if (interpolated) fr_text_addf(text, "  i: iterations interpolated between known plans\n");
    if (extrapolated) fr_text_addf(text, "  x: some input lies outside what was measured\n");
    if (lossy)
        fr_text_addf(
            text,
            "  lossy: shares of gradient bytes and of backward messages that go compressed\n");
}

static void text_infeasible(struct fr_text *text, const struct run *r) {
    if (!r->result.infeasible) return;
    fr_text_addf(text, "\nleft out (a plan may count more than once)\n");
    for (int i = 0; i < FR_REASON_COUNT; i++) {
        char line[128];
        if (!r->result.because[i]) continue;
        fr_text_addf(
            text, "  %6" PRId64 "  %-24s e.g. %s: ", r->result.because[i], fr_reason_names[i],
            fr_report_plan_line(&r->result.example[i].outcome.plan, line, sizeof line));
        fr_report_reason(&r->job, &r->result.example[i].outcome, i, text);
        fr_text_addf(text, "\n");
    }
}

static void text_per_layer(struct fr_text *text, const struct run *r) {
    char time[40], moved[40], best[40];
    if (!r->has_per_layer) return;
    fr_text_addf(text,
                 "\na grid per layer would take %s an iteration, %s of it moving activations "
                 "between grids "
                 "(one grid: %s):\n ",
                 fr_render_quantity(r->per_layer.time_s, FR_QUANTITY_TIME, time, sizeof time),
                 fr_quantity_format(r->per_layer.part_s[FR_PART_REDISTRIBUTION],
                                    FR_QUANTITY_TIME, moved, sizeof moved),
                 fr_render_quantity(r->result.top.items[0].outcome.time_s, FR_QUANTITY_TIME,
                                    best, sizeof best));
    for (int i = 0; i < r->per_layer.plan.n_layer_tp; i++)
        fr_text_addf(text, " %" PRId64 "x%" PRId64, r->per_layer.plan.layer_tp[i],
                     r->per_layer.ranks / r->per_layer.plan.layer_tp[i]);
    fr_text_addf(text, "  (P_r x P_c; --set layer_tp=best predicts it)\n");
}

/* Of the best plan that compresses: below which rate of a rank's own share of the network its
 * codecs pay, beside what the outermost level gives a rank when all send. */
static void text_break_even(struct fr_text *text, const struct run *r) {
    const struct fr_levels *levels = &r->job.cluster.levels;
    const struct fr_level *outer = &levels->level[levels->count - 1];
    char rate[40];
    for (size_t i = 0; i < r->result.top.count; i++) {
        const struct fr_outcome *out = &r->result.top.items[i].outcome;
        const double rates[] = {out->break_even_gradient_B_per_s,
                                out->break_even_backward_B_per_s};
        if (!(rates[0] > 0 || rates[1] > 0)) continue;
        fr_text_addf(text, "\nbreak-even of %s plan:", i == 0 ? "the best" : "a compressed");
        for (int k = 0; k < 2; k++)
            if (rates[k] > 0)
                fr_text_addf(text, " compressing %s pays below %s a rank;",
                             k == 0 ? "gradients" : "backward messages",
                             fr_quantity_format(rates[k], FR_QUANTITY_RATE, rate, sizeof rate));
        fr_text_addf(text, "\nlevel %s gives a rank %s when all send\n", outer->name,
                     fr_quantity_format(outer->rate_B_per_s / (double)outer->shared_by,
                                        FR_QUANTITY_RATE, rate, sizeof rate));
        return;
    }
}

static void print_text(struct fr_text *text, const struct run *r) {
    const struct fr_search_result *result = &r->result;
    char plan[128];
    fr_render_inputs(text, &r->job);
    fr_text_addf(text,
                 "objective  least %s, %" PRId64 " plans evaluated, %" PRId64 " feasible\n",
                 ranked_by(r), result->evaluated, result->feasible);
    if (per_iteration_note(r)) fr_text_addf(text, "note       %s\n", per_iteration_note(r));
    if (result->top.count) {
        fr_text_addf(text, "\nbest       %s on %" PRId64 " ranks",
                     fr_report_plan_line(&result->top.items[0].outcome.plan, plan, sizeof plan),
                     result->top.items[0].outcome.ranks);
        if (isfinite(margin(r)))
            fr_text_addf(
                text, "; next is %s on %" PRId64 ", %+.2f %%",
                fr_report_plan_line(&result->top.items[1].outcome.plan, plan, sizeof plan),
                result->top.items[1].outcome.ranks, 100 * margin(r));
        fr_text_addf(text, "\n");
        text_list(text, "plan", &result->top, r->options.top ? r->options.top : SIZE_MAX);
        text_odds(text, r);
        text_list(text, "Pareto: time, energy, memory, lossy", &result->pareto, 20);
        text_per_layer(text, r);
        text_break_even(text, r);
    } else
        fr_text_addf(text, "\nnothing feasible\n");
    text_infeasible(text, r);
}

static void print_csv(struct fr_text *text, const struct run *r) {
    fr_report_csv_header(text);
    for (size_t i = 0; i < r->result.top.count; i++)
        fr_report_csv_row(text, &r->result.top.items[i].outcome);
}

/* ---- the search -------------------------------------------------------------------------- */

/* Offered wherever the best plan is a grid over several layers: what the paper leaves open. */
static fr_status price_per_layer(struct run *r, struct fr_error *err) {
    if (r->result.top.count == 0) return FR_OK;
    struct fr_plan plan = r->result.top.items[0].outcome.plan;
    if (plan.method != &fr_method_grid || r->job.workload.n_layers < 2 || plan.layer_tp)
        return FR_OK;
    r->layer_tp = calloc((size_t)r->job.workload.n_layers, sizeof *r->layer_tp);
    if (!r->layer_tp) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (fr_layer_grids_best(&r->job, &plan, r->layer_tp, err) != FR_OK) return FR_OK;
    plan.layer_tp = r->layer_tp;
    plan.n_layer_tp = r->job.workload.n_layers;
    fr_cost(&r->job, &plan, &r->per_layer);
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

static fr_status search(const struct fr_args *args, struct run *r, struct fr_error *err) {
    const char *ranks = NULL, *vary[FR_ARGS_MAX];
    struct fr_text text = {0};
    FR_TRY(fr_args_required(args, "ranks", &ranks, err));
    FR_TRY(read_options(args, &r->options, err));
    FR_TRY(fr_app_load(args, true, &r->job, err));
    int n_vary = fr_args_all(args, "vary", vary);
    FR_TRY(fr_space_make(ranks, vary, n_vary, &r->job.plan, fr_app_plan_says(&r->job, "dp"),
                         fr_app_plan_says(&r->job, "tp"), &r->space, err));
    /* The margin needs the second best even when one is asked for. */
    size_t shown = r->options.top;
    if (shown == 1) r->options.top = 2;
    FR_TRY(fr_search(&r->job, &r->space, &r->options, &r->result, err));
    FR_TRY(price_per_layer(r, err));
    make_odds(r);
    r->explain = fr_args_has(args, "explain");
    err->detail[0] = '\0';
    r->options.top = shown;
    fr_status status = FR_OK;
    if (fr_args_has(args, "json"))
        status = print_json(&text, r, err);
    else if (fr_args_has(args, "csv"))
        print_csv(&text, r);
    else
        print_text(&text, r);
    if (r->explain && !fr_args_has(args, "json") && !fr_args_has(args, "csv"))
        status = fr_explain_search(&text, &r->job, &r->space, &r->options, &r->result, err);
    if (status != FR_OK) {
        fr_text_free(&text);
        return status;
    }
    FR_TRY(fr_app_print(&text, err));
    return r->result.top.count ? FR_OK : FR_ERR_INFEASIBLE;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct run *r = calloc(1, sizeof *r);
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
