#include "answer/search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/outcome/report.h"
#include "answer/predict/explain.h"
#include "answer/predict/neighbours.h"
#include "answer/search/choice/choice_document.h"
#include "answer/search/choice/even.h"
#include "answer/search/choice/lossy.h"
#include "base/alloc.h"
#include "base/json/interval.h"
#include "models/job/runtime.h"
#include "models/outcome/fits/fits.h"
#include "search/break_even.h"
#include "search/crossover.h"

const char *fr_searched_ranked_by(const struct fr_searched *r) {
    static const char *const total[] = {"total_time_s", "total_energy_J", "total_edp_J_s"};
    static const char *const once[] = {"iteration_time_s", "iteration_energy_J",
                                       "iteration_edp_J_s"};
    static const char *const sample[] = {"sample_time_s", "sample_energy_J", "sample_edp_J_s"};
    static const char *const *const names[] = {total, once, sample};
    return names[r->result.by][r->options.objective];
}

static double value_of(const struct fr_searched *r, const struct fr_outcome *out) {
    return fr_objective_value(r->options.objective, r->result.by, out);
}

double fr_searched_margin(const struct fr_searched *r) {
    const struct fr_found_list *top = &r->result.top;
    if (top->count < 2) return NAN;
    return value_of(r, &top->items[1].outcome) / value_of(r, &top->items[0].outcome) - 1;
}

static bool varies_model(const struct fr_space *space) {
    for (int i = 0; i < space->n_inputs; i++)
        if (strncmp(space->input[i].key, "model.", strlen("model.")) == 0) return true;
    return false;
}

bool fr_searched_has_nothing_lossy(const struct fr_searched *r) {
    for (int i = 0; i < r->recipe.n; i++)
        if (strcmp(r->recipe.row[i].key, "ghost") == 0 ||
            strncmp(r->recipe.row[i].key, "compression.", 12) == 0)
            return false;
    return r->lossy && r->recipe.chosen;
}

const char *fr_searched_note(const struct fr_searched *r) {
    const struct fr_found_list *front = &r->result.pareto;
    if (fr_searched_has_nothing_lossy(r))
        return "--max-lossy changes nothing: no ghost neurons and no codec are priced for this "
               "kind of model";
    if (r->result.by == FR_RANK_TOTAL) return NULL;
    if (varies_model(&r->space))
        return r->result.by == FR_RANK_SAMPLE
                   ? "ranked per sample: what is varied of the model changes what a sample "
                     "asks "
                     "for, and batch and model how many are needed; this order compares one"
                   : "ranked per iteration: what is varied of the model changes what an "
                     "iteration does and how many are needed; this order compares one";
    if (r->result.by == FR_RANK_SAMPLE)
        return "ranked per sample: an iteration of a larger global batch does more; how many "
               "samples each batch needs to the same loss differs and is left out of this "
               "order";
    bool ghost = fr_space_has_ghost(&r->space);
    for (size_t i = 0; i < front->count; i++)
        if (fr_outcome_lossy(&front->items[i].outcome) > 0)
            return ghost
                       ? "ranked per iteration: plans with ghost neurons and compressed plans "
                         "may need more iterations to the same loss, which this order "
                         "leaves out. The smallest ghost width tends to win; --max-lossy "
                         "limits what is compressed"
                       : "ranked per iteration: compressed plans lose part of their "
                         "gradients and "
                         "may need "
                         "more iterations to the same loss, which this order leaves out; "
                         "--max-lossy "
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

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_odds(struct fr_json_writer *w, const struct fr_searched *r) {
    char line[FR_PLAN_LINE];
    fr_json_add_array(w, "odds");
    for (int i = 0; i < r->n_odds; i++) {
        fr_json_begin_object(w);
        fr_json_add_string(
            w, "plan",
            fr_report_outcome_line(&r->result.top.items[i].outcome, line, sizeof line));
        fr_json_add_number(w, "probability_best", r->odds[i].best);
        fr_json_add_number(w, "expected_regret", r->odds[i].regret);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

/* All that is ranked, however many: handed on as it is written. */
struct rows {
    const struct fr_searched *r;
    struct fr_json_writer *w; /* of text, for JSON */
    struct fr_text *text;
    fr_part_fn *part;
    fr_status status;
    struct fr_error *err;
};

static bool json_row(void *context, size_t rank, const struct fr_outcome *out) {
    struct rows *rows = context;
    struct fr_outcome own = *out; /* one behind those that were kept states no break-even yet */
    (void)rank;
    fr_even_state(rows->r, &own);
    fr_report_json(rows->w, &rows->r->job, &own);
    if (rows->part) rows->status = rows->part(rows->text, rows->err);
    return rows->status == FR_OK;
}

static bool csv_row(void *context, size_t rank, const struct fr_outcome *out) {
    struct rows *rows = context;
    struct fr_outcome own = *out;
    (void)rank;
    fr_even_state(rows->r, &own);
    fr_report_csv_row(rows->text, &rows->r->job, &own);
    if (rows->part) rows->status = rows->part(rows->text, rows->err);
    return rows->status == FR_OK;
}

static fr_status each(struct rows *rows, fr_found_fn *row) {
    const struct fr_searched *r = rows->r;
    FR_TRY(fr_search_each(&r->job, &r->space, &r->options, &r->result, row, rows, rows->err));
    return rows->status;
}

static fr_status json_top(struct fr_json_writer *w, const struct fr_searched *r,
                          fr_part_fn *part, struct fr_error *err) {
    struct rows rows = {.r = r, .w = w, .text = w->text, .part = part, .err = err};
    fr_json_add_array(w, "top");
    FR_TRY(each(&rows, json_row));
    fr_json_end_array(w);
    return FR_OK;
}

static void json_front(struct fr_json_writer *w, const struct fr_searched *r) {
    fr_json_add_array(w, "pareto");
    for (size_t i = 0; i < r->result.pareto.count; i++)
        fr_report_json(w, &r->job, &r->result.pareto.items[i].outcome);
    fr_json_end_array(w);
}

static void json_reasons(struct fr_json_writer *w, const struct fr_searched *r) {
    fr_json_add_array(w, "infeasible_reasons");
    for (int i = 0; i < FR_REASON_COUNT; i++) {
        struct fr_text text = {0};
        char line[FR_PLAN_LINE];
        if (!r->result.because[i]) continue;
        fr_report_reason(&r->job, &r->result.example[i].outcome, i, &text);
        fr_json_begin_object(w);
        fr_json_add_string(w, "reason", fr_reason_names[i]);
        fr_json_add_integer(w, "count", r->result.because[i]);
        fr_json_add_string(
            w, "example",
            fr_report_outcome_line(&r->result.example[i].outcome, line, sizeof line));
        fr_json_add_string(w, "explanation", fr_text_get(&text));
        fr_json_end_object(w);
        fr_text_free(&text);
    }
    fr_json_end_array(w);
}

static void json_user_plans(struct fr_json_writer *w, const struct fr_searched *r) {
    char differs[FR_PLAN_LINE];
    if (r->n_user_plans == 0) return;
    fr_json_add_array(w, "included");
    for (int i = 0; i < r->n_user_plans; i++) {
        const struct fr_user_plan *user_plan = &r->user_plan[i];
        fr_json_begin_object(w);
        fr_json_add_string(w, "name", user_plan->name);
        fr_json_add_number(w, "behind", user_plan->slower);
        fr_json_add_number(w, "probability_as_good", user_plan->as_good);
        fr_gain_put(user_plan, w);
        if (user_plan->faster >= 0) fr_json_add_integer(w, "rank", user_plan->faster + 1);
        if (r->result.top.count)
            fr_json_add_string(w, "differs",
                               fr_user_plan_differs(&r->job, &user_plan->plan,
                                                    &r->result.top.items[0].outcome.plan,
                                                    differs, sizeof differs));
        fr_json_key(w, "outcome");
        fr_report_json(w, &r->job, &user_plan->outcome);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

/* Plans that are better than the best, and fit less surely than was asked for. */
static void json_less_sure(struct fr_json_writer *w, const struct fr_searched *r) {
    const struct fr_search_result *result = &r->result;
    fr_json_add_array(w, "less_sure");
    for (size_t i = 0; i < result->less_sure.count; i++) {
        const struct fr_outcome *out = &result->less_sure.items[i].outcome;
        const struct fr_job *job = out->job ? out->job : &r->job;
        char line[FR_PLAN_LINE];
        struct fr_neighbour surer;
        fr_json_begin_object(w);
        fr_json_add_string(w, "plan", fr_report_outcome_line(out, line, sizeof line));
        fr_json_add_number(w, "fits", fr_fits_of(job, out).probability);
        fr_json_add_number(w, "gain",
                           result->top.count
                               ? value_of(r, &result->top.items[0].outcome) / value_of(r, out) -
                                     1
                               : NAN);
        if (fr_neighbours_surer(job, &r->space, &r->options, result->by, out, &surer)) {
            fr_json_add_object(w, "surer");
            fr_json_add_string(w, "key", fr_plan_keys[surer.key].name);
            fr_json_add_string(w, "value", surer.value);
            fr_json_add_number(w, "fits", fr_fits_of(job, &surer.outcome).probability);
            fr_json_add_number(w, "iteration_time_s", surer.outcome.time_s);
            fr_json_end_object(w);
        }
        fr_json_key(w, "outcome");
        fr_report_json(w, job, out);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
    if (result->surest.index < 0) return;
    fr_json_key(w, "surest");
    fr_report_json(w, &r->job, &result->surest.outcome);
}

/* The model searched for, as the user gave it and --set changed it: running its plans needs
 * it. */
static void json_model(struct fr_json_writer *w, const struct fr_job *job) {
    struct fr_json model = fr_json_root(fr_job_model(job));
    fr_json_key(w, "model");
    fr_json_put_copy(w, &model);
}

static void json_switches(struct fr_json_writer *w, const struct fr_searched *r) {
    struct fr_crossover *s = fr_calloc(FR_CROSSOVERS_MAX, sizeof *s);
    int n = s ? fr_crossovers_find(&r->job, &r->space, &r->options, &r->result, s) : 0;
    fr_json_add_array(w, "switches");
    for (int i = 0; i < n; i++) {
        char line[FR_PLAN_LINE];
        fr_json_begin_object(w);
        fr_json_add_string(w, "level", r->job.cluster.levels.level[s[i].level].name);
        fr_json_add_string(w, "changes", s[i].method ? "method" : "plan");
        fr_json_add_number(w, "factor", s[i].factor);
        fr_json_add_number(w, "rate_B_per_s", s[i].rate_B_per_s);
        fr_json_add_string(w, "method", s[i].to.plan.method->name);
        fr_json_add_string(w, "plan", fr_report_outcome_line(&s[i].to, line, sizeof line));
        fr_json_add_number(w, "iteration_time_s", s[i].to.time_s);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
    free(s);
}

/* The best plan's energy against its time, as plot frontier draws it. */
static void json_curve(struct fr_json_writer *w, const struct fr_searched *r,
                       const struct fr_outcome *best) {
    struct fr_curve_point curve[FR_CURVE_POINTS];
    int n = fr_slowdown_curve(&r->job, &r->slowdown, best, curve);
    struct fr_plan plan = best->plan;
    char line[FR_PLAN_LINE];
    plan.clock_Hz = NULL;
    plan.n_clock_Hz = 0;
    fr_json_add_object(w, "curve");
    fr_json_add_string(w, "plan", fr_plan_line(&plan, 0, line, sizeof line));
    fr_json_add_array(w, "points");
    for (int i = 0; i < n; i++) {
        fr_json_begin_object(w);
        fr_json_add_number(w, "iteration_time_s", curve[i].time_s);
        fr_json_add_number(w, "iteration_energy_J", curve[i].energy_J);
        fr_json_add_interval(w, "iteration_energy_J", curve[i].low_J, curve[i].high_J);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
    fr_json_end_object(w);
}

static void json_slowdown(struct fr_json_writer *w, const struct fr_searched *r) {
    const struct fr_slowdown *s = &r->slowdown;
    if (!s->asked || r->result.top.count == 0) return;
    const struct fr_outcome *best = &r->result.top.items[0].outcome;
    fr_json_add_object(w, "max_slowdown");
    fr_json_add_number(w, "limit", s->most);
    fr_json_add_bool(w, "clocks", s->clocks);
    fr_json_add_number(w, "fastest_iteration_time_s", s->fastest_s);
    fr_json_add_number(w, "fastest_iteration_energy_J", s->fastest_J);
    fr_json_add_number(w, "slowdown", best->time_s / s->fastest_s - 1);
    fr_json_add_number(w, "energy_saved", 1 - best->energy_J / s->fastest_J);
    fr_json_add_number(w, "energy_saved_by_clocks", 1 - best->energy_J / s->own_J);
    json_curve(w, r, best);
    fr_json_end_object(w);
}

/* Feasible plans that are neither listed nor on the front.  How many of them bounds spared a price hangs on how the
 * space was cut, as the time does that a search takes; this does not. */
static int64_t unlisted(const struct fr_search_result *r) {
    int64_t left = r->feasible - (int64_t)r->ranked.count;
    for (size_t i = 0; left > 0 && i < r->pareto.count; i++) {
        size_t k = 0;
        while (k < r->ranked.count && r->ranked.items[k].index != r->pareto.items[i].index) k++;
        left -= k == r->ranked.count;
    }
    return left;
}

fr_status fr_searched_json(struct fr_text *text, const struct fr_searched *r, fr_part_fn *part,
                           struct fr_error *err) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    const struct fr_search_result *result = &r->result;
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/search/1");
    fr_json_add_string(&w, "objective", fr_objective_names[r->options.objective]);
    fr_runtime_put(&r->job.cluster, &w);
    fr_calibration_put(&r->job.cluster.calibration, &w);
    fr_json_add_string(&w, "ranked_by", fr_searched_ranked_by(r));
    if (fr_searched_note(r)) fr_json_add_string(&w, "note", fr_searched_note(r));
    fr_json_add_string(&w, "space", r->recipe.chosen ? "recipe" : "given");
    fr_recipe_put(&r->recipe, &w);
    json_model(&w, &r->job);
    fr_json_add_number(&w, "fit", r->options.fit);
    fr_json_add_integer(&w, "evaluated", result->evaluated);
    fr_json_add_integer(&w, "feasible", result->feasible);
    fr_json_add_integer(&w, "infeasible", result->infeasible);
    json_reasons(&w, r);
    fr_nearby_put(r, &w);
    fr_json_add_integer(&w, "unpriced", unlisted(result));
    fr_json_add_number(&w, "elapsed_s", result->elapsed_s);
    fr_json_add_number(&w, "margin", fr_searched_margin(r));
    json_slowdown(&w, r);
    fr_json_key(&w, "best");
    if (result->top.count)
        fr_report_json(&w, &r->job, &result->top.items[0].outcome);
    else
        fr_json_put_null(&w);
    if (result->top.count && fr_training_asked(&r->training)) {
        const struct fr_training_cost cost =
            fr_training_cost_of(&r->training, &r->job, &result->top.items[0].outcome);
        fr_json_key(&w, "training");
        fr_training_put(&w, &r->training, &cost);
    }
    if (r->has_per_layer) {
        fr_json_key(&w, "per_layer_grids");
        fr_report_json(&w, &r->job, &r->per_layer);
    }
    if (result->best_exact.index >= 0 && result->top.count &&
        !fr_outcome_is_exact(&result->top.items[0].outcome)) {
        fr_json_key(&w, "best_exact");
        fr_report_json(&w, &r->job, &result->best_exact.outcome);
    }
    fr_lossy_put(r, &w);
    json_odds(&w, r);
    fr_choice_put(r, &w);
    json_less_sure(&w, r);
    json_user_plans(&w, r);
    json_switches(&w, r);
    if (r->explain && result->top.count) {
        fr_json_key(&w, "explain");
        FR_TRY(fr_explain_search_json(&w, &r->job, &r->space, &r->options, result, err));
    }
    FR_TRY(json_top(&w, r, part, err));
    json_front(&w, r);
    fr_json_end_object(&w);
    return FR_OK;
}

fr_status fr_searched_csv(struct fr_text *text, const struct fr_searched *r, fr_part_fn *part,
                          struct fr_error *err) {
    struct rows rows = {.r = r, .text = text, .part = part, .err = err};
    fr_report_csv_header(text, fr_space_job(&r->space, &r->job, 0));
    return each(&rows, csv_row);
}
