/* What a search found, for people. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/load.h"
#include "app/text/render.h"
#include "app/text/search.h"
#include "app/text/training.h"
#include "models/outcome/report.h"
#include "models/plan/common.h"

static void text_odds(struct fr_text *text, const struct fr_searched *r,
                      fr_plan_key_set without) {
    char line[FR_PLAN_LINE], low[40], high[40];
    if (r->n_odds < 2) return;
    fr_text_addf(text, "\nhow sure (%s)\n%-60s %24s %9s %9s\n",
                 r->job.cluster.tuning.present ? "coefficients from tuned runs"
                                               : "coefficients known as well as priors are",
                 "plan", "90 % interval", "best", "regret");
    for (int i = 0; i < r->n_odds; i++)
        fr_text_addf(
            text, "%-60s %11s %12s %7.1f %% %7.2f %%\n",
            fr_report_outcome_row(&r->result.top.items[i].outcome, without, line, sizeof line),
            fr_quantity_format(r->odds[i].low_s, FR_QUANTITY_TIME, low, sizeof low),
            fr_quantity_format(r->odds[i].high_s, FR_QUANTITY_TIME, high, sizeof high),
            100 * r->odds[i].best, 100 * r->odds[i].regret);
    fr_text_addf(text,
                 "  best: probability to be the fastest of these; regret: expected loss of "
                 "choosing it\n");
}

/* Time and energy of an iteration, then to the loss or of a sample; of several global batches each
 * row has its own. */
static void text_row(struct fr_text *text, const struct fr_searched *r,
                     const struct fr_outcome *out, fr_plan_key_set without, int width) {
    char plan[FR_PLAN_LINE], time[40], energy[40], total[40], total_energy[40], memory[40],
        batch[32];
    double share = r->result.by == FR_RANK_SAMPLE ? 1 / fr_search_samples(out) : 0;
    snprintf(batch, sizeof batch, " %6.0f", fr_search_samples(out));
    fr_text_addf(
        text, "%-*s %6" PRId64 "%s %10s %10s %10s %10s %10s%s%s", width,
        fr_report_outcome_row(out, without, plan, sizeof plan), out->ranks,
        fr_space_has_batches(&r->space) ? batch : "",
        fr_render_quantity(out->time_s, FR_QUANTITY_TIME, time, sizeof time),
        fr_render_quantity(out->energy_J, FR_QUANTITY_ENERGY, energy, sizeof energy),
        fr_render_quantity(share > 0 ? share * out->time_s : out->total_time_s,
                           FR_QUANTITY_TIME, total, sizeof total),
        fr_render_quantity(share > 0 ? share * out->energy_J : out->total_energy_J,
                           FR_QUANTITY_ENERGY, total_energy, sizeof total_energy),
        fr_render_quantity(out->memory_peak_B, FR_QUANTITY_SIZE, memory, sizeof memory),
        out->iterations_origin == FR_ITERATIONS_INTERPOLATED ? " i"
        : out->iterations_origin == FR_ITERATIONS_SCALED     ? " s"
                                                             : "",
        out->extrapolated ? " x" : "");
    if (out->lossy_gradient > 0 || out->lossy_backward > 0)
        fr_text_addf(text, "  lossy %.0f %%, %.0f %%", 100 * out->lossy_gradient,
                     100 * out->lossy_backward);
    fr_text_addf(text, "\n");
}

/* What is said below a table of what stands in it. */
struct table {
    struct fr_text *text;
    int width;
    const struct fr_searched *r;
    fr_plan_key_set without; /* said once above the tables */
    bool interpolated, scaled, extrapolated, lossy;
    const struct fr_level *outer; /* of the cluster's levels */
    fr_status status;
    struct fr_error *err;
};

/* Before the tables: how wide they are, and what all their plans have in common. */
struct survey {
    size_t width; /* of the longest whole line */
    struct fr_plan_common common;
};

static bool look(void *context, size_t rank, const struct fr_outcome *out) {
    struct survey *s = context;
    char line[FR_PLAN_LINE];
    size_t length = strlen(fr_report_outcome_line(out, line, sizeof line));
    (void)rank;
    if (length > s->width) s->width = length;
    fr_plan_common_add(&s->common, &out->plan);
    return true;
}

static int width(const struct survey *s, const char *title) {
    size_t rows = s->width - fr_plan_common_length(&s->common);
    return (int)(rows > strlen(title) ? rows : strlen(title));
}

static void text_head(const struct table *t, const char *title) {
    bool batches = fr_space_has_batches(&t->r->space);
    fr_text_addf(t->text, "\n%-*s %6s%s %21s %21s\n%-*s %6s%s %10s %10s %10s %10s %10s\n",
                 t->width, "", "", batches ? "       " : "", "---- one iteration --",
                 t->r->result.by == FR_RANK_SAMPLE ? "---------- a sample -"
                                                   : "------- to the loss -",
                 t->width, title, "ranks", batches ? "  batch" : "", "time", "energy", "time",
                 "energy", "memory");
}

static bool text_line(void *context, size_t rank, const struct fr_outcome *out) {
    struct table *t = context;
    (void)rank;
    text_row(t->text, t->r, out, t->without, t->width);
    t->interpolated = t->interpolated || out->iterations_origin == FR_ITERATIONS_INTERPOLATED;
    t->scaled = t->scaled || out->iterations_origin == FR_ITERATIONS_SCALED;
    t->extrapolated = t->extrapolated || out->extrapolated;
    t->lossy = t->lossy || out->lossy_gradient > 0 || out->lossy_backward > 0;
    t->status = fr_app_print_part(t->text, t->err);
    return t->status == FR_OK;
}

static void text_foot(const struct table *t) {
    if (t->interpolated)
        fr_text_addf(t->text, "  i: iterations interpolated between known plans\n");
    if (t->scaled)
        fr_text_addf(t->text,
                     "  s: iterations of another batch, as many samples (\"scaling\")\n");
    if (t->extrapolated)
        fr_text_addf(t->text, "  x: some input lies outside what was measured\n");
    if (t->lossy)
        fr_text_addf(
            t->text,
            "  lossy: shares of gradient bytes and of backward messages that go compressed\n");
}

enum { FRONT_SHOWN = 20 };

static size_t front_shown(const struct fr_searched *r) {
    return r->result.pareto.count < FRONT_SHOWN ? r->result.pareto.count : FRONT_SHOWN;
}

/* The part of the result that the table of the best shows. */
static struct fr_search_result shown(const struct fr_searched *r) {
    struct fr_search_result shown = r->result;
    size_t limit = r->options.top;
    if (limit > 0 && shown.ranked.count > limit) shown.ranked.count = limit;
    if (shown.top.count > shown.ranked.count) shown.top.count = shown.ranked.count;
    return shown;
}

static fr_status survey(const struct fr_searched *r, struct survey *s, struct fr_error *err) {
    struct fr_search_result top = shown(r);
    FR_TRY(fr_search_each(&r->job, &r->space, &r->options, &top, look, s, err));
    for (size_t i = 0; i < front_shown(r); i++) look(s, i, &r->result.pareto.items[i].outcome);
    return FR_OK;
}

static fr_status text_top(struct fr_text *text, const struct fr_searched *r,
                          const struct survey *s, struct fr_error *err) {
    static const char title[] = "plan";
    struct table t = {.text = text,
                      .r = r,
                      .width = width(s, title),
                      .without = fr_plan_common_keys(&s->common),
                      .err = err};
    struct fr_search_result top = shown(r);
    text_head(&t, title);
    FR_TRY(fr_search_each(&r->job, &r->space, &r->options, &top, text_line, &t, err));
    FR_TRY(t.status);
    size_t more = r->result.ranked.count - top.ranked.count;
    if (more > 0) fr_text_addf(text, "  ... and %zu more\n", more);
    text_foot(&t);
    return FR_OK;
}

static fr_status text_front(struct fr_text *text, const struct fr_searched *r,
                            const struct survey *s, struct fr_error *err) {
    static const char title[] = "Pareto: time, energy, memory, lossy";
    const struct fr_found_list *list = &r->result.pareto;
    struct table t = {.text = text,
                      .r = r,
                      .width = width(s, title),
                      .without = fr_plan_common_keys(&s->common),
                      .err = err};
    size_t n = front_shown(r);
    text_head(&t, title);
    for (size_t i = 0; i < n; i++) text_line(&t, i, &list->items[i].outcome);
    if (list->count > n) fr_text_addf(text, "  ... and %zu more\n", list->count - n);
    text_foot(&t);
    return t.status;
}

/* What people compare by, of the best plan; and the training that was asked for. */
static void text_rates(struct fr_text *text, const struct fr_searched *r,
                       const struct fr_outcome *best) {
    const struct fr_job *job = best->job ? best->job : &r->job;
    fr_render_rates(text, job, best);
    if (!fr_training_asked(&r->training)) return;
    const struct fr_training_cost cost = fr_training_cost_of(&r->training, &r->job, best);
    fr_render_training(text, &r->training, &cost);
}

/* The best plan in full, and what it and all others in the tables share. */
static void text_best(struct fr_text *text, const struct fr_searched *r,
                      const struct survey *s) {
    const struct fr_found *top = r->result.top.items;
    char plan[FR_PLAN_LINE];
    fr_text_addf(text, "\nbest       %s on %" PRId64 " ranks",
                 fr_report_outcome_line(&top[0].outcome, plan, sizeof plan),
                 top[0].outcome.ranks);
    if (isfinite(fr_searched_margin(r)))
        fr_text_addf(text, "; next is %s on %" PRId64 ", %+.2f %%",
                     fr_report_outcome_line(&top[1].outcome, plan, sizeof plan),
                     top[1].outcome.ranks, 100 * fr_searched_margin(r));
    fr_text_addf(text, "\n");
    text_rates(text, r, &top[0].outcome);
    if (*fr_plan_common_line(&s->common, plan, sizeof plan))
        fr_text_addf(text, "all below  %s\n", plan);
}

/* The user's own plans beside the best; why one cannot be. */
static void text_mine(struct fr_text *text, const struct fr_searched *r) {
    for (int i = 0; i < r->n_mine; i++) {
        const struct fr_mine *m = &r->mine[i];
        const struct fr_outcome *out = &m->outcome;
        char line[FR_PLAN_LINE], time[40];
        fr_text_addf(text, "%s  %s\n", i ? "" : "\nyours\n", m->name);
        fr_text_addf(text, "    %s: %s\n", fr_report_outcome_line(out, line, sizeof line),
                     fr_render_quantity(out->time_s, FR_QUANTITY_TIME, time, sizeof time));
        for (int k = 0; k < FR_REASON_COUNT; k++)
            if (out->reasons & FR_BECAUSE(k)) {
                fr_text_addf(text, "    it cannot be: ");
                fr_report_reason(&r->job, out, k, text);
                fr_text_addf(text, "\n");
            }
        if (m->faster < 0) continue;
        fr_text_addf(text, "    %+.2f %% of the best, rank %" PRId64 " of %" PRId64,
                     100 * m->behind, m->faster + 1, r->result.feasible);
        if (isfinite(m->as_good))
            fr_text_addf(text, "; as good with a probability of %.1f %%", 100 * m->as_good);
        fr_mine_differs(&r->job, &out->plan, &r->result.top.items[0].outcome.plan, line,
                        sizeof line);
        fr_text_addf(text, "%s%s\n", *line ? "\n    differs from it: " : "", line);
    }
}

static void text_infeasible(struct fr_text *text, const struct fr_searched *r) {
    if (!r->result.infeasible) return;
    fr_text_addf(text, "\nleft out (a plan may count more than once)\n");
    for (int i = 0; i < FR_REASON_COUNT; i++) {
        char line[FR_PLAN_LINE];
        if (!r->result.because[i]) continue;
        fr_text_addf(text, "  %6" PRId64 "  %-24s e.g. %s: ", r->result.because[i],
                     fr_reason_names[i],
                     fr_report_outcome_line(&r->result.example[i].outcome, line, sizeof line));
        fr_report_reason(&r->job, &r->result.example[i].outcome, i, text);
        fr_text_addf(text, "\n");
    }
}

static void text_per_layer(struct fr_text *text, const struct fr_searched *r) {
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
static bool break_even_of(void *context, size_t i, const struct fr_outcome *out) {
    const struct table *t = context;
    const double rates[] = {out->break_even_gradient_B_per_s, out->break_even_backward_B_per_s};
    char rate[40];
    if (!(rates[0] > 0 || rates[1] > 0)) return true;
    fr_text_addf(t->text, "\nbreak-even of %s plan:", i == 0 ? "the best" : "a compressed");
    for (int k = 0; k < 2; k++)
        if (rates[k] > 0)
            fr_text_addf(t->text, " compressing %s pays below %s a rank;",
                         k == 0 ? "gradients" : "backward messages",
                         fr_quantity_format(rates[k], FR_QUANTITY_RATE, rate, sizeof rate));
    fr_text_addf(t->text, "\nlevel %s gives a rank %s when all send\n", t->outer->name,
                 fr_quantity_format(t->outer->rate_B_per_s / (double)t->outer->shared_by,
                                    FR_QUANTITY_RATE, rate, sizeof rate));
    return false;
}

static fr_status text_break_even(struct fr_text *text, const struct fr_searched *r,
                                 struct fr_error *err) {
    const struct fr_levels *levels = &r->job.cluster.levels;
    struct table t = {.text = text, .outer = &levels->level[levels->count - 1]};
    return fr_search_each(&r->job, &r->space, &r->options, &r->result, break_even_of, &t, err);
}

/* Words of @p from under @p head, in lines of some 100 columns, cut after "; ". */
static void wrapped(struct fr_text *text, const char *head, const char *from) {
    enum { COLUMNS = 88 };
    for (const char *at = from; *at;) {
        size_t length = strlen(at), cut = length;
        for (size_t i = 0; length > COLUMNS && i + 1 < length; i++)
            if (at[i] == ';' && (i < COLUMNS || cut == length)) cut = i + 1;
        fr_text_addf(text, "%-10s %.*s\n", at == from ? head : "", (int)cut, at);
        at += cut + (at[cut] == ' ');
    }
}

/* The recipe: what a user's own words vary need not be said again. */
static void text_recipe(struct fr_text *text, const struct fr_searched *r) {
    for (int varied = 1; varied >= 0 && r->recipe.chosen; varied--) {
        struct fr_text words = {0};
        fr_recipe_tell(&r->recipe, varied, &words);
        wrapped(text, varied ? "varied" : "held", fr_text_get(&words));
        fr_text_free(&words);
    }
}

fr_status fr_app_search_text(struct fr_text *text, const struct fr_searched *r,
                             struct fr_error *err) {
    const struct fr_search_result *result = &r->result;
    struct survey seen = {0};
    fr_render_inputs(text, &r->job);
    fr_text_addf(text,
                 "objective  least %s, %" PRId64 " plans evaluated, %" PRId64 " feasible\n",
                 fr_searched_ranked_by(r), result->evaluated, result->feasible);
    text_recipe(text, r);
    if (fr_searched_note(r)) fr_text_addf(text, "note       %s\n", fr_searched_note(r));
    if (result->top.count) {
        FR_TRY(survey(r, &seen, err));
        text_best(text, r, &seen);
        FR_TRY(text_top(text, r, &seen, err));
        text_mine(text, r);
        text_odds(text, r, fr_plan_common_keys(&seen.common));
        FR_TRY(text_front(text, r, &seen, err));
        text_per_layer(text, r);
        FR_TRY(text_break_even(text, r, err));
    } else
        fr_text_addf(text, "\nnothing feasible\n");
    if (!result->top.count) text_mine(text, r);
    text_infeasible(text, r);
    return FR_OK;
}
