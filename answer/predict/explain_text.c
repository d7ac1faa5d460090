#include "answer/predict/explain_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "answer/outcome/report.h"
#include "answer/predict/explain.h"
#include "answer/predict/neighbours.h"
#include "answer/text/even.h"
#include "answer/text/render.h"
#include "base/alloc.h"
#include "base/text/wrap.h"
#include "models/outcome/moments.h"

/* Columns in which the last cell of a row begins. */
enum { PLAN = 6, INPUT = 31, SCENARIO = 43 };

static void in_words(const char *name, char *out, size_t capacity) {
    snprintf(out, capacity, "%s", name);
    for (char *c = out; *c; c++)
        if (*c == '_') *c = ' ';
}

static void explain_memory(struct fr_text *text, const struct fr_job *job,
                           const struct fr_outcome *out) {
    enum { TENSORS_MAX = 5 };
    struct fr_explained_tensor tensor[TENSORS_MAX];
    int moment = 0;
    double total_B = 0;
    char size[40], words[64];
    int n = fr_explain_memory(job, out, TENSORS_MAX, &moment, &total_B, tensor);
    if (n == 0) return;
    in_words(fr_moment_names[moment], words, sizeof words);
    fr_text_addf(text, "memory is fullest at     %s, %s; its largest tensors\n", words,
                 fr_render_quantity(total_B, FR_QUANTITY_SIZE, size, sizeof size));
    for (int i = 0; i < n; i++) {
        in_words(fr_tensor_names[tensor[i].tensor], words, sizeof words);
        fr_text_addf(text, "  %-40s %12s  %.1f %%\n", words,
                     fr_render_quantity(tensor[i].size_B, FR_QUANTITY_SIZE, size, sizeof size),
                     100 * tensor[i].size_B / total_B);
    }
}

void fr_explain_plan(struct fr_text *text, const struct fr_job *job,
                     const struct fr_outcome *out) {
    char time[40];
    int most = fr_explain_binds(out);
    if (!isfinite(out->time_s)) return;
    fr_text_addf(text, "\nwhat binds               %s, %.0f %% of the iteration\n",
                 fr_part_names[most], 100 * out->part_s[most] / out->time_s);
    fr_text_addf(text, "what would change it\n");
    for (int k = 0; k < FR_SCENARIOS; k++) {
        double changed_s = fr_scenario_s(job, &out->plan, k);
        fr_text_addf(text, "  %-40s %12s  %+.1f %%\n", fr_scenarios[k].sentence,
                     fr_render_quantity(changed_s, FR_QUANTITY_TIME, time, sizeof time),
                     100 * (changed_s / out->time_s - 1));
    }
    explain_memory(text, job, out);
}

/* The value that a search of @p options ranked, where it is not the time of an iteration or
 * sample. */
static const char *of_what(const struct fr_search_options *options, fr_ranking by) {
    bool total = by == FR_RANK_TOTAL;
    switch (options->objective) {
    case FR_OBJECTIVE_ENERGY:
        return total ? " energy to the loss" : " energy";
    case FR_OBJECTIVE_EDP:
        return total ? " energy x time to the loss" : " energy x time";
    default:
        return total ? " time to the loss" : "";
    }
}

/* How far behind by what was ranked, and the part in which an iteration of it takes most longer. */
static void near_miss(struct fr_text *text, const struct fr_search_options *options,
                      fr_ranking by, const struct fr_outcome *best,
                      const struct fr_outcome *other) {
    char plan[FR_PLAN_LINE], time[40];
    double lost_s;
    int most = fr_explain_loses_in(best, other, &lost_s);
    const double slower = fr_explain_slower(options->objective, by, best, other);
    fr_text_addf(text, "  %+.2f %%%s, ", 100 * slower, of_what(options, by));
    if (slower < 0)
        fr_text_addf(text, "lossy, and better by no more than noise\n%*s", PLAN, "");
    else if (lost_s > 0)
        fr_text_addf(text, "%s more %s\n%*s",
                     fr_render_quantity(lost_s, FR_QUANTITY_TIME, time, sizeof time),
                     fr_part_names[most], PLAN, "");
    else
        fr_text_addf(text, "in no part slower\n%*s", PLAN, "");
    fr_wrap_cell(text, PLAN, fr_report_outcome_line(other, plan, sizeof plan));
}

/* A line a key: "tp  1 +14.2 %, 2 memory, 8 +9.0 %". */
static void neighbours(struct fr_text *text, const struct fr_around *a) {
    struct fr_text values = {0};
    if (a->n_neighbours > 0) fr_text_addf(text, "one key of the best plan changed\n");
    for (int i = 0; i < a->n_neighbours; i++) {
        const struct fr_neighbour *one = &a->neighbour[i];
        bool last = i + 1 == a->n_neighbours || one[1].key != one->key;
        fr_text_addf(&values, "%s ", one->value);
        bool spaced = isfinite(one->slower);
        if (spaced) fr_text_addf(&values, "%+.2f %%", 100 * one->slower);
        for (int r = 0; r < FR_REASON_COUNT; r++)
            if (one->outcome.reasons & FR_BECAUSE(r)) {
                fr_text_addf(&values, "%s%s", spaced ? " " : "", fr_reason_names[r]);
                spaced = true;
            }
        if (isnan(one->slower) && !one->outcome.reasons) fr_text_addf(&values, "unknown");
        if (!last) fr_text_addf(&values, ", ");
        if (!last) continue;
        fr_text_addf(text, "  %-28s ", fr_plan_keys[one->key].name);
        fr_wrap_list(text, fr_text_get(&values), INPUT, INPUT, FR_COLUMNS);
        fr_end_line(text);
        fr_text_free(&values);
    }
}

static void turns(struct fr_text *text, const struct fr_around *a) {
    char line[FR_PLAN_LINE];
    fr_text_addf(
        text,
        "which input, moved alone by how much, would change the choice (by a factor of\n"
        "at most %g, among %d plans)\n",
        FR_TURN_MOST, a->n_rivals + 1);
    for (int i = 0; i < a->n_turns; i++) {
        fr_text_addf(text, "  %-28s x %-6.3g ", a->turn[i].input, a->turn[i].factor);
        fr_wrap_cell(text, INPUT + 9, fr_plan_line(&a->turn[i].plan, 0, line, sizeof line));
    }
    if (a->n_turns == 0) fr_text_addf(text, "  none\n");
}

static fr_status around(struct fr_text *text, const struct fr_job *job,
                        const struct fr_space *space, const struct fr_search_options *options,
                        const struct fr_search_result *result, struct fr_error *err) {
    struct fr_around *a = fr_calloc(1, sizeof *a);
    if (!a) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_around_best(job, space, options, result, a);
    neighbours(text, a);
    turns(text, a);
    free(a);
    return FR_OK;
}

/* A paragraph: @p words, which are freed. */
static void say(struct fr_text *text, int indent, struct fr_text *words) {
    fr_wrap(text, fr_text_get(words), indent - 2, indent, FR_COLUMNS);
    fr_end_line(text);
    fr_text_free(words);
}

/* Effect of iterations on the choice: where they come from, and what one iteration would
 * choose. */
static fr_status iterations(struct fr_text *text, const struct fr_job *job,
                            const struct fr_space *space,
                            const struct fr_search_options *options,
                            const struct fr_search_result *result, struct fr_error *err) {
    const struct fr_outcome *best = &result->top.items[0].outcome, *other;
    struct fr_search_options one = *options;
    struct fr_search_result by_one = {0};
    struct fr_text words = {0};
    char line[FR_PLAN_LINE];
    if (result->by != FR_RANK_TOTAL) return FR_OK;
    fr_text_addf(&words, "iterations to the loss: %.6g, %s%s%s", best->iterations,
                 fr_iterations_origins[best->iterations_origin],
                 *job->workload.basis.source ? ": " : "", job->workload.basis.source);
    say(text, 2, &words);
    one.per_iteration = true;
    one.total = false;
    one.top = 1;
    FR_TRY(fr_search(job, space, &one, &by_one, err));
    other = by_one.top.count > 0 ? &by_one.top.items[0].outcome : best;
    bool same =
        by_one.top.count == 0 || by_one.top.items[0].index == result->top.items[0].index;
    fr_text_addf(&words, "  one iteration alone would choose %s",
                 same ? "the same plan" : fr_report_outcome_line(other, line, sizeof line));
    if (!same && isfinite(other->total_time_s))
        fr_text_addf(&words, ", %.6g iterations: %+.1f %% to the loss", other->iterations,
                     100 * (other->total_time_s / best->total_time_s - 1));
    else if (!same)
        fr_text_addf(&words, ", whose iterations to the loss are unknown");
    fr_text_addf(text, "  ");
    say(text, 4, &words);
    fr_search_result_free(&by_one);
    return FR_OK;
}

/* How much more slowly each of the first plans may learn. */
static void break_even(struct fr_text *text, const struct fr_search_result *result) {
    enum { SHOWN = 5 };
    char plan[FR_PLAN_LINE], cell[40];
    bool any = false;
    for (size_t i = 0; i < result->top.count && i < SHOWN; i++) {
        const struct fr_outcome *out = &result->top.items[i].outcome;
        if (!(out->break_even_iterations > 0)) continue;
        if (!any)
            fr_text_addf(text, "a lossy plan wins if it needs less than so many times the "
                               "iterations of\nan exact one\n");
        any = true;
        fr_text_addf(text, "  %-8s ", fr_even_cell(out, cell, sizeof cell));
        fr_wrap_cell(text, PLAN, fr_report_outcome_line(out, plan, sizeof plan));
    }
    const struct fr_found *exact = &result->best_exact;
    if (!any || exact->index < 0) return;
    fr_text_addf(text, "  exact    ");
    fr_wrap_cell(text, PLAN, fr_report_outcome_line(&exact->outcome, plan, sizeof plan));
}

fr_status fr_explain_search(struct fr_text *text, const struct fr_job *job,
                            const struct fr_space *space,
                            const struct fr_search_options *options,
                            const struct fr_search_result *result, struct fr_error *err) {
    char line[FR_PLAN_LINE];
    if (result->top.count == 0) return FR_OK;
    const struct fr_outcome *best = &result->top.items[0].outcome;
    fr_explain_plan(text, job, best);
    FR_TRY(iterations(text, job, space, options, result, err));
    break_even(text, result);
    fr_text_addf(text, "would the best be another?\n");
    for (int k = 0; k < FR_SCENARIOS; k++) {
        struct fr_found other;
        bool found;
        FR_TRY(fr_explain_best_if(job, space, options, k, &other, &found, err));
        if (!found) continue;
        bool same = other.index == result->top.items[0].index;
        fr_text_addf(text, "  %-40s ", fr_scenarios[k].sentence);
        fr_wrap_cell(text, SCENARIO,
                     same ? "the same plan"
                          : fr_report_outcome_line(&other.outcome, line, sizeof line));
    }
    FR_TRY(around(text, job, space, options, result, err));
    if (result->top.count > 1) fr_text_addf(text, "why the next ones lose\n");
    for (size_t i = 1; i < result->top.count && i < 5; i++)
        near_miss(text, options, result->by, best, &result->top.items[i].outcome);
    return FR_OK;
}
