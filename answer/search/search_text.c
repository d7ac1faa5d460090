/* Results of a search, for people. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/outcome/report.h"
#include "answer/predict/training_text.h"
#include "answer/search/answers.h"
#include "answer/search/choice/lossy.h"
#include "answer/search/fits_text.h"
#include "answer/search/search_table.h"
#include "answer/search/search_text.h"
#include "answer/text/even.h"
#include "answer/text/render.h"
#include "base/alloc.h"
#include "base/text/wrap.h"
#include "search/crossover.h"

/* "head       this, that". */
static void wrap_list(struct fr_text *text, const char *head, const char *list, int columns) {
    enum { LIST = 11 };
    fr_text_addf(text, "%-*s", LIST, head);
    fr_wrap_list(text, list, LIST, LIST, columns);
    fr_end_line(text);
}

static const char *how_sure(const struct fr_searched *r) {
    return r->job.cluster.tuning.present ? "coefficients from tuned runs"
           : r->job.cluster.uncertainty.present
               ? "coefficients as sure as the cluster's file says"
               : "coefficients known as well as priors are";
}

/* By the numbers of the table above. */
static void text_odds(struct fr_text *text, const struct fr_searched *r) {
    char low[40], high[40];
    if (fr_answers_shown(r)) {
        fr_answers_sure(text, r, how_sure(r));
        return;
    }
    if (r->n_odds < 2) return;
    fr_text_addf(text, "\nhow sure (%s)\n  #%25s %9s %10s\n", how_sure(r), "90 % interval",
                 "best", "regret");
    for (int i = 0; i < r->n_odds; i++)
        fr_text_addf(text, "%3d %10s to %10s %7.1f %% %8.2f %%\n", i + 1,
                     fr_quantity_format(r->odds[i].low_s, FR_QUANTITY_TIME, low, sizeof low),
                     fr_quantity_format(r->odds[i].high_s, FR_QUANTITY_TIME, high, sizeof high),
                     100 * r->odds[i].best, 100 * r->odds[i].regret);
    fr_text_addf(
        text, "  best: probability of being the fastest of these; regret: its expected loss\n");
}

/* A table that is being written, a megabyte at a time. */
struct writing {
    struct fr_search_table table;
    fr_part_fn *part;
    fr_status status;
    struct fr_error *err;
};

static bool look(void *context, size_t rank, const struct fr_outcome *out) {
    (void)rank;
    fr_search_survey_add(context, out);
    return true;
}

static bool text_line(void *context, size_t rank, const struct fr_outcome *out) {
    struct writing *w = context;
    fr_search_table_row(&w->table, rank, out);
    w->status = w->part(w->table.text, w->err);
    return w->status == FR_OK;
}

enum { FRONT_SHOWN = 20 };

static size_t front_shown(const struct fr_searched *r) {
    return r->result.pareto.count < FRONT_SHOWN ? r->result.pareto.count : FRONT_SHOWN;
}

/* Plans one by one, where answers are not all that is shown. */
static bool lists_plans(const struct fr_searched *r) { return r->all || !fr_answers_shown(r); }

/* The part of the result that the table of the best shows. */
static struct fr_search_result shown(const struct fr_searched *r) {
    struct fr_search_result shown = r->result;
    size_t limit = r->options.top;
    if (limit > 0 && shown.ranked.count > limit) shown.ranked.count = limit;
    if (shown.top.count > shown.ranked.count) shown.top.count = shown.ranked.count;
    return shown;
}

static fr_status survey(const struct fr_searched *r, struct fr_search_survey *s,
                        struct fr_error *err) {
    struct fr_search_result top = shown(r);
    if (fr_answers_shown(r)) fr_answers_survey(r, s);
    if (lists_plans(r))
        FR_TRY(fr_search_each(&r->job, &r->space, &r->options, &top, look, s, err));
    for (size_t i = 0; i < front_shown(r); i++) look(s, i, &r->result.pareto.items[i].outcome);
    return FR_OK;
}

static void text_answers(const struct fr_search_table *table) {
    struct fr_search_table answers = *table;
    if (!fr_answers_shown(table->r)) return;
    fr_search_table_head(&answers, "answer");
    fr_answers_rows(&answers);
    fr_search_table_foot(&answers);
}

static fr_status text_top(const struct fr_search_table *table, fr_part_fn *part,
                          struct fr_error *err) {
    struct writing w = {.table = *table, .part = part, .err = err};
    const struct fr_searched *r = table->r;
    struct fr_search_result top = shown(r);
    if (!lists_plans(r)) return FR_OK;
    fr_search_table_head(&w.table, "plan");
    FR_TRY(fr_search_each(&r->job, &r->space, &r->options, &top, text_line, &w, err));
    FR_TRY(w.status);
    size_t more = r->result.ranked.count - top.ranked.count;
    if (more > 0) fr_text_addf(table->text, "  ... and %zu more\n", more);
    fr_search_table_foot(&w.table);
    return FR_OK;
}

static fr_status text_front(const struct fr_search_table *table, fr_part_fn *part,
                            struct fr_error *err) {
    const struct fr_found_list *list = &table->r->result.pareto;
    struct writing w = {.table = *table, .part = part, .err = err};
    size_t n = front_shown(table->r);
    fr_search_table_head(&w.table, "Pareto: time, energy, memory, lossy");
    for (size_t i = 0; i < n; i++) text_line(&w, i, &list->items[i].outcome);
    if (list->count > n) fr_text_addf(table->text, "  ... and %zu more\n", list->count - n);
    fr_search_table_foot(&w.table);
    return w.status;
}

/* Rates of the best plan that people compare by; and the training that was asked for. */
static void text_rates(struct fr_text *text, const struct fr_searched *r,
                       const struct fr_outcome *best) {
    const struct fr_job *job = best->job ? best->job : &r->job;
    fr_render_rates(text, job, best);
    if (!fr_training_asked(&r->training)) return;
    const struct fr_training_cost cost = fr_training_cost_of(&r->training, &r->job, best);
    fr_render_training(text, &r->training, &cost);
}

/* Savings for a little more time. */
static void text_slowdown(struct fr_text *text, const struct fr_searched *r, int columns) {
    const struct fr_slowdown *s = &r->slowdown;
    const struct fr_outcome *best = &r->result.top.items[0].outcome;
    char line[256];
    if (!s->asked) return;
    snprintf(line, sizeof line,
             "%+.2f %% time, %.1f %% less energy than the fastest; by clocks %.1f %%%s",
             100 * (best->time_s / s->fastest_s - 1), 100 * (1 - best->energy_J / s->fastest_J),
             100 * (1 - best->energy_J / s->own_J),
             s->clocks ? "" : " (the cluster's device states no \"clock\")");
    wrap_list(text, "slowdown", line, columns);
}

static double value_of(const struct fr_searched *r, const struct fr_outcome *out) {
    return fr_objective_value(r->options.objective, r->result.by, out);
}

/* The next answer, or plan where the list is plain; NULL: there is none. */
static const struct fr_outcome *second(const struct fr_searched *r) {
    if (fr_answers_shown(r)) return r->answers.n > 1 ? &r->answers.items[1].outcome : NULL;
    return r->result.top.count > 1 ? &r->result.top.items[1].outcome : NULL;
}

/* How many iterations the best may need, where it loses information, and which exact plan it is held against. */
static void text_even(struct fr_text *text, const struct fr_searched *r, int columns) {
    const struct fr_found *exact = &r->result.best_exact;
    struct fr_text words = {0};
    char plan[FR_PLAN_LINE], time[40];
    fr_even_say(&r->result.top.items[0].outcome, &words);
    if (words.length && exact->index >= 0)
        fr_text_addf(
            &words, ": %s, %s an iteration",
            fr_report_outcome_line(&exact->outcome, plan, sizeof plan),
            fr_render_quantity(exact->outcome.time_s, FR_QUANTITY_TIME, time, sizeof time));
    if (words.length) fr_wrap_head(text, "even", fr_text_get(&words), columns);
    fr_text_free(&words);
    fr_lossy_say(r, &words);
    if (words.length) fr_wrap_head(text, "noise", fr_text_get(&words), columns);
    fr_text_free(&words);
}

/* The best plan in full, and what it and all others in the tables share. */
static void text_best(struct fr_text *text, const struct fr_searched *r,
                      const struct fr_search_survey *s, int columns) {
    const struct fr_found *top = r->result.top.items;
    const struct fr_outcome *next = second(r);
    char plan[FR_PLAN_LINE], line[FR_PLAN_LINE + 64];
    fr_text_addf(text, "\n");
    snprintf(line, sizeof line, "%s on %" PRId64 " ranks",
             fr_report_outcome_line(&top[0].outcome, plan, sizeof plan), top[0].outcome.ranks);
    wrap_list(text, "best", line, columns);
    if (next) {
        double slower = value_of(r, next) / value_of(r, &top[0].outcome) - 1;
        snprintf(line, sizeof line, "%s on %" PRId64 ", %+.2f %%",
                 fr_report_outcome_line(next, plan, sizeof plan), next->ranks, 100 * slower);
        wrap_list(text, "next", line, columns);
    }
    text_even(text, r, columns);
    fr_answers_expected(text, r, columns);
    text_slowdown(text, r, columns);
    text_rates(text, r, &top[0].outcome);
    fr_search_fits(text, r, columns);
    fr_plan_common_line(&s->common, plan, sizeof plan);
    snprintf(line, sizeof line, s->several_ranks ? "%s" : "%s%s%" PRId64 " ranks", plan,
             *plan ? ", " : "", s->ranks);
    if (*line) wrap_list(text, "all below", line, columns);
}

/* An indented paragraph: @p words, which are freed. */
static void tell(struct fr_text *text, struct fr_text *words, int columns) {
    enum { INDENT = 4 };
    fr_text_addf(text, "%*s", INDENT, "");
    fr_wrap_list(text, fr_text_get(words), INDENT, INDENT, columns);
    fr_end_line(text);
    fr_text_free(words);
}

/* A plan of the user's that cannot be, and why. */
static void text_refused(struct fr_text *text, const struct fr_searched *r,
                         const struct fr_outcome *out, int columns) {
    for (int k = 0; k < FR_REASON_COUNT; k++) {
        struct fr_text words = {0}, lines = {0};
        if (!(out->reasons & FR_BECAUSE(k))) continue;
        fr_text_addf(&words, "it cannot be: ");
        fr_report_reason(&r->job, out, k, &words);
        fr_wrap(&lines, fr_text_get(&words), 4, 4, columns);
        fr_text_addf(text, "    %s\n", fr_text_get(&lines));
        fr_text_free(&words), fr_text_free(&lines);
    }
}

/* The user's own plans beside the best; why one cannot be. */
static void text_user_plans(struct fr_text *text, const struct fr_searched *r, int columns) {
    for (int i = 0; i < r->n_user_plans; i++) {
        const struct fr_user_plan *m = &r->user_plan[i];
        const struct fr_outcome *out = &m->outcome;
        char line[FR_PLAN_LINE], time[40];
        struct fr_text words = {0};
        fr_text_addf(text, "%s  %s\n", i ? "" : "\nyours\n", m->name);
        fr_text_addf(&words, "%s: %s", fr_report_outcome_line(out, line, sizeof line),
                     fr_render_quantity(out->time_s, FR_QUANTITY_TIME, time, sizeof time));
        tell(text, &words, columns);
        text_refused(text, r, out, columns);
        fr_answers_gain(&words, m);
        if (words.length) tell(text, &words, columns);
        if (m->faster < 0) continue;
        fr_text_addf(&words, "%+.2f %% of the best, rank %" PRId64 " of %" PRId64,
                     100 * m->slower, m->faster + 1, r->result.feasible);
        if (isfinite(m->as_good) && !isfinite(m->gain.faster))
            fr_text_addf(&words, "; as good with a probability of %.1f %%", 100 * m->as_good);
        tell(text, &words, columns);
        fr_user_plan_differs(&r->job, &out->plan, &r->result.top.items[0].outcome.plan, line,
                             sizeof line);
        if (*line)
            fr_text_addf(&words, "differs from it: %s", line), tell(text, &words, columns);
    }
}

static void text_infeasible(struct fr_text *text, const struct fr_searched *r, int columns) {
    if (!r->result.infeasible) return;
    fr_text_addf(text, "\nleft out (a plan may count more than once)\n");
    for (int i = 0; i < FR_REASON_COUNT; i++) {
        char line[FR_PLAN_LINE];
        struct fr_text why = {0};
        if (!r->result.because[i]) continue;
        fr_text_addf(&why, "%s e.g. %s: ", fr_reason_names[i],
                     fr_report_outcome_line(&r->result.example[i].outcome, line, sizeof line));
        fr_report_reason(&r->job, &r->result.example[i].outcome, i, &why);
        fr_text_addf(text, "  %6" PRId64 "  ", r->result.because[i]);
        fr_wrap(text, fr_text_get(&why), 10, 10, columns);
        fr_text_addf(text, "\n");
        fr_text_free(&why);
    }
}

static void text_per_layer(struct fr_text *text, const struct fr_searched *r, int columns) {
    char time[40], moved[40], best[40];
    struct fr_text words = {0};
    if (!r->has_per_layer) return;
    fr_text_addf(&words,
                 "a grid per layer would take %s an iteration, %s of it moving activations "
                 "between grids "
                 "(one grid: %s):",
                 fr_render_quantity(r->per_layer.time_s, FR_QUANTITY_TIME, time, sizeof time),
                 fr_quantity_format(r->per_layer.part_s[FR_PART_REDISTRIBUTION],
                                    FR_QUANTITY_TIME, moved, sizeof moved),
                 fr_render_quantity(r->result.top.items[0].outcome.time_s, FR_QUANTITY_TIME,
                                    best, sizeof best));
    for (int i = 0; i < r->per_layer.plan.n_layer_tp; i++)
        fr_text_addf(&words, " %" PRId64 "x%" PRId64, r->per_layer.plan.layer_tp[i],
                     r->per_layer.ranks / r->per_layer.plan.pp / r->per_layer.plan.layer_tp[i]);
    fr_text_addf(&words, " (P_r x P_c; --set layer_tp=best predicts it)");
    fr_text_addf(text, "\n");
    fr_wrap(text, fr_text_get(&words), 0, 2, columns);
    fr_text_addf(text, "\n");
    fr_text_free(&words);
}

/* The break-even of the best plan that compresses: below which rate of a rank's own share of
 * the network do its codecs pay?  Beside it stands the rate that the outermost level gives a
 * rank when all send. */
static bool break_even_of(void *context, size_t i, const struct fr_outcome *out) {
    struct fr_text *words = context;
    const double rates[] = {out->break_even_gradient_B_per_s, out->break_even_backward_B_per_s};
    char rate[40];
    if (!(rates[0] > 0 || rates[1] > 0)) return true;
    fr_text_addf(words, "break-even of %s plan:", i == 0 ? "the best" : "a compressed");
    for (int k = 0; k < 2; k++)
        if (rates[k] > 0)
            fr_text_addf(words, " compressing %s pays below %s a rank;",
                         k == 0 ? "gradients" : "backward messages",
                         fr_quantity_format(rates[k], FR_QUANTITY_RATE, rate, sizeof rate));
    return false;
}

static fr_status text_break_even(struct fr_text *text, const struct fr_searched *r, int columns,
                                 struct fr_error *err) {
    const struct fr_levels *levels = &r->job.cluster.levels;
    const struct fr_level *outer = &levels->level[levels->count - 1];
    struct fr_text words = {0};
    char rate[40];
    fr_status status =
        fr_search_each(&r->job, &r->space, &r->options, &r->result, break_even_of, &words, err);
    if (words.length) {
        fr_text_addf(&words, " level %s gives a rank %s when all send", outer->name,
                     fr_quantity_format(outer->rate_B_per_s / (double)outer->shared_by,
                                        FR_QUANTITY_RATE, rate, sizeof rate));
        fr_text_addf(text, "\n");
        fr_wrap(text, words.data, 0, 2, columns);
        fr_text_addf(text, "\n");
    }
    fr_text_free(&words);
    return status;
}

/* The recipe: what a user's own words vary need not be said again. */
static void text_recipe(struct fr_text *text, const struct fr_searched *r, int columns) {
    for (int varied = 1; varied >= 0 && r->recipe.chosen; varied--) {
        struct fr_text words = {0};
        fr_recipe_tell(&r->recipe, varied, &words);
        wrap_list(text, varied ? "varied" : "held", fr_text_get(&words), columns);
        fr_text_free(&words);
    }
}

static void text_switches(struct fr_text *text, const struct fr_searched *r, int columns) {
    struct fr_crossover *s = fr_calloc(FR_CROSSOVERS_MAX, sizeof *s);
    int n = s ? fr_crossovers_find(&r->job, &r->space, &r->options, &r->result, s) : 0;
    if (n > 0)
        fr_text_addf(text, "\nwhere the choice changes with the rate of a level's links\n");
    for (int i = 0; i < n; i++) {
        const struct fr_level *level = &r->job.cluster.levels.level[s[i].level];
        struct fr_text words = {0};
        char rate[40], now[40], line[FR_PLAN_LINE];
        fr_text_addf(&words, "%s %s %s (%.3g times %s): %s%s", level->name,
                     s[i].factor < 1 ? "below" : "above",
                     fr_quantity_format(s[i].rate_B_per_s, FR_QUANTITY_RATE, rate, sizeof rate),
                     s[i].factor,
                     fr_quantity_format(level->rate_B_per_s, FR_QUANTITY_RATE, now, sizeof now),
                     s[i].method ? "another method, " : "",
                     fr_report_outcome_line(&s[i].to, line, sizeof line));
        fr_text_addf(text, "  ");
        fr_wrap(text, fr_text_get(&words), 2, 4, columns);
        fr_end_line(text);
        fr_text_free(&words);
    }
    free(s);
}

/* Other ranks, another batch: what would do, or do better. */
static void text_nearby(struct fr_text *text, const struct fr_searched *r, int columns) {
    for (int i = 0; i < r->n_nearby; i++) {
        struct fr_text words = {0};
        fr_nearby_say(r, &r->nearby[i], &words);
        fr_text_addf(text, i == 0 ? "\n" : "");
        fr_wrap(text, fr_text_get(&words), 0, 2, columns);
        fr_text_addf(text, "\n");
        fr_text_free(&words);
    }
}

fr_status fr_searched_text(struct fr_text *text, const struct fr_searched *r, bool wide,
                           fr_part_fn *part, struct fr_error *err) {
    const struct fr_search_result *result = &r->result;
    const int columns = wide ? FR_COLUMNS_WIDE : FR_COLUMNS;
    struct fr_search_survey seen = {0};
    struct fr_search_table table = {.text = text, .r = r, .survey = &seen, .columns = columns};
    fr_render_inputs(text, &r->job,
                     result->top.count ? &result->top.items[0].outcome.plan : NULL, columns);
    fr_text_addf(text,
                 "objective  least %s, %" PRId64 " plans evaluated, %" PRId64 " feasible\n",
                 fr_searched_ranked_by(r), result->evaluated, result->feasible);
    if (result->unpriced > 0)
        fr_text_addf(text,
                     "bounds     %" PRId64 " of these excluded by a lower bound, unpriced\n",
                     result->unpriced);
    text_recipe(text, r, columns);
    if (fr_searched_note(r)) fr_wrap_head(text, "note", fr_searched_note(r), columns);
    if (result->top.count) {
        fr_render_filled(text, &r->job, &result->top.items[0].outcome, columns);
        FR_TRY(survey(r, &seen, err));
        text_best(text, r, &seen, columns);
        text_answers(&table);
        FR_TRY(text_top(&table, part, err));
        fr_search_less_sure(text, r, columns);
        text_user_plans(text, r, columns);
        text_odds(text, r);
        FR_TRY(text_front(&table, part, err));
        text_per_layer(text, r, columns);
        FR_TRY(text_break_even(text, r, columns, err));
        text_switches(text, r, columns);
    } else {
        fr_text_addf(text, "\nnothing feasible\n");
        fr_search_less_sure(text, r, columns);
    }
    text_nearby(text, r, columns);
    if (!result->top.count) text_user_plans(text, r, columns);
    text_infeasible(text, r, columns);
    return FR_OK;
}
