#include "answer/search/search_brief.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/brief/emitter.h"
#include "answer/brief/words.h"
#include "answer/outcome/outcome_fact.h"
#include "answer/outcome/report.h"
#include "answer/search/answers.h"
#include "answer/search/choice/lossy.h"
#include "answer/text/even.h"
#include "base/alloc.h"
#include "base/text/readable.h"
#include "base/text/wrap.h"
#include "models/outcome/fits/fits.h"
#include "models/plan/common.h"
#include "search/crossover.h"

enum { ALTERNATIVES = 4, RISKY = 2 };

/* The best, and what is shown beside it. */
struct shown {
    const struct fr_outcome *best, *other[ALTERNATIVES], *risky[RISKY];
    int n_others, n_risky;
    fr_plan_key_set without; /* keys that all of them share */
};

static const struct fr_job *job_of(const struct fr_searched *r, const struct fr_outcome *out) {
    return out->job ? out->job : &r->job;
}

static double value_of(const struct fr_searched *r, const struct fr_outcome *out) {
    return fr_objective_value(r->options.objective, r->result.by, out);
}

/* The i-th answer; where near-ties are not folded the i-th plan; NULL: there is none. */
static const struct fr_outcome *ranked(const struct fr_searched *r, int i) {
    if (r->answers.n > 0) return i < r->answers.n ? &r->answers.items[i].outcome : NULL;
    return (size_t)i < r->result.top.count ? &r->result.top.items[i].outcome : NULL;
}

static void choose(const struct fr_searched *r, struct shown *s) {
    struct fr_plan_common common = {0};
    const struct fr_found_list *risky = &r->result.less_sure;
    const int most = r->options.top > 0 && r->options.top <= ALTERNATIVES
                         ? (int)r->options.top - 1
                         : ALTERNATIVES - 1;
    *s = (struct shown){.best = ranked(r, 0)};
    for (; s->n_others < most && ranked(r, s->n_others + 1); s->n_others++)
        s->other[s->n_others] = ranked(r, s->n_others + 1);
    for (; s->n_risky < RISKY && (size_t)s->n_risky < risky->count; s->n_risky++)
        s->risky[s->n_risky] = &risky->items[s->n_risky].outcome;
    fr_plan_common_add(&common, &s->best->plan);
    for (int i = 0; i < s->n_others; i++) fr_plan_common_add(&common, &s->other[i]->plan);
    for (int i = 0; i < s->n_risky; i++) fr_plan_common_add(&common, &s->risky[i]->plan);
    s->without = fr_plan_common_keys(&common);
}

/* ---- the best ---------------------------------------------------------------------------------- */

/* Time, its interval, rate: what is expected of the best of many, where that is known. */
static void best_step(const struct fr_searched *r, const struct fr_outcome *best,
                      struct fr_brief *brief) {
    struct fr_outcome stated = *best;
    struct fr_interval of;
    struct fr_text words = {0};
    char time[FR_READABLE], steps[80];
    const bool chosen = fr_searched_expected(r, &of);
    if (chosen) {
        stated.low_s = of.low_s;
        stated.high_s = of.high_s;
    }
    fr_brief_step(job_of(r, best), &stated, &words);
    fr_brief_words(brief, FR_BRIEF_MUST, "", &words);
    if (isfinite(best->total_time_s) && r->result.by == FR_RANK_TOTAL)
        fr_brief_row(brief, FR_BRIEF_MUST, "", "%s to target loss in %.6g steps%s",
                     fr_readable(best->total_time_s, FR_QUANTITY_TIME, time), best->iterations,
                     fr_even_steps(best, steps, sizeof steps));
    if (chosen && of.expected_s > 1.005 * of.model_s)
        fr_brief_row(brief, FR_BRIEF_MAY, "",
                     "%s expected: the best of many looks better than it is",
                     fr_readable(of.expected_s, FR_QUANTITY_TIME, time));
}

/* How many iterations it may need, where it loses information; and the plan that it is held against. */
static void even(const struct fr_searched *r, const struct shown *s, struct fr_brief *brief) {
    const struct fr_found *exact = &r->result.best_exact;
    struct fr_text words = {0};
    char time[FR_READABLE];
    fr_lossy_say(r, &words);
    fr_brief_words(brief, FR_BRIEF_MUST, "noise", &words);
    fr_even_say(s->best, &words);
    if (s->best->wins > 0)
        fr_text_addf(&words, "; it does with %s, by the laws of iterations",
                     fr_readable_percent(s->best->wins, time));
    fr_brief_words(brief, FR_BRIEF_MUST, "even", &words);
    if (!(s->best->break_even_iterations > 0) || exact->index < 0) return;
    fr_text_addf(&words, "exact, %s a step: ",
                 fr_readable(exact->outcome.time_s, FR_QUANTITY_TIME, time));
    fr_brief_plan(&exact->outcome, s->without, &words);
    fr_brief_words(brief, FR_BRIEF_SHOULD, "", &words);
}

static void like_it(const struct fr_searched *r, struct fr_brief *brief) {
    char within[FR_READABLE];
    if (r->answers.n == 0 || r->answers.items[0].count < 2) return;
    const struct fr_answer *a = &r->answers.items[0];
    fr_brief_row(brief, FR_BRIEF_SHOULD, "like it", "%zu plan%s within %s: %s", a->count - 1,
                 a->count == 2 ? "" : "s",
                 fr_readable_percent(fr_answers_above(a->within), within), a->varies);
}

static void best_plan(const struct fr_searched *r, const struct shown *s,
                      struct fr_brief *brief) {
    struct fr_text plan = {0}, fits = {0};
    fr_brief_plan(s->best, 0, &plan);
    if (r->space.n_ranks > 1) fr_text_addf(&plan, ", on %" PRId64 " ranks", s->best->ranks);
    fr_brief_words(brief, FR_BRIEF_MUST, "best", &plan);
    best_step(r, s->best, brief);
    fr_brief_fits(job_of(r, s->best), s->best, &fits);
    fr_brief_words(brief, FR_BRIEF_MUST, "", &fits);
    even(r, s, brief);
    like_it(r, brief);
    if (!fr_training_asked(&r->training)) return;
    const struct fr_training_cost cost = fr_training_cost_of(&r->training, &r->job, s->best);
    fr_brief_training(brief, &r->training, &cost);
}

static void slowdown(const struct fr_searched *r, const struct fr_outcome *best,
                     struct fr_brief *brief) {
    const struct fr_slowdown *s = &r->slowdown;
    char time[FR_READABLE], energy[FR_READABLE], clocks[FR_READABLE];
    if (!s->asked) return;
    fr_brief_row(brief, FR_BRIEF_MUST, "saves",
                 "%s of the energy for %s more time than the fastest; by clocks %s",
                 fr_readable_percent(1 - best->energy_J / s->fastest_J, energy),
                 fr_readable_percent(best->time_s / s->fastest_s - 1, time),
                 s->clocks ? fr_readable_percent(1 - best->energy_J / s->own_J, clocks)
                           : "nothing: the device states no \"clock\"");
}

/* ---- beside it --------------------------------------------------------------------------------- */

static void other_plan(const struct fr_searched *r, const struct shown *s, const char *label,
                       const struct fr_outcome *out, struct fr_brief *brief) {
    const struct fr_fits fits = fr_fits_of(job_of(r, out), out);
    char slower[FR_READABLE], percent[FR_FITS_PERCENT];
    const double by = value_of(r, out) / value_of(r, s->best) - 1;
    struct fr_text words = {0};
    fr_text_addf(&words, "%s%s  ", by < 0 ? "" : "+", fr_readable_percent(by, slower));
    fr_text_addf(&words, "%*s", words.length < 8 ? (int)(8 - words.length) : 0, "");
    fr_brief_plan(out, s->without, &words);
    if (r->space.n_ranks > 1) fr_text_addf(&words, ", on %" PRId64 " ranks", out->ranks);
    if (isfinite(fits.probability))
        fr_text_addf(&words, ", fits %s", fr_fits_percent(fits.probability, percent));
    if (out->break_even_iterations > 0)
        fr_text_addf(&words, ", even at %s", fr_even_cell(out, slower, sizeof slower));
    if (out->wins > 0)
        fr_text_addf(&words, ", wins with %s", fr_readable_percent(out->wins, slower));
    fr_brief_words(brief, label[0] == 'r' ? FR_BRIEF_SHOULD : FR_BRIEF_MAY, label, &words);
}

static void others(const struct fr_searched *r, const struct shown *s, struct fr_brief *brief) {
    static const char *const places[] = {"2", "3", "4", "5", "6", "7"};
    fr_brief_blank(brief);
    for (int i = 0; i < s->n_others; i++) other_plan(r, s, places[i], s->other[i], brief);
    for (int i = 0; i < s->n_risky; i++) other_plan(r, s, "risky", s->risky[i], brief);
    if (s->n_others + s->n_risky > 0 && s->without)
        fr_brief_row(brief, FR_BRIEF_MAY, "", "keys that are not shown are as in the best");
    fr_brief_blank(brief);
}

static void refused(const struct fr_searched *r, const struct fr_outcome *out,
                    struct fr_brief *brief) {
    struct fr_text words = {0};
    for (int k = 0; k < FR_REASON_COUNT && !words.length; k++)
        if (out->reasons & FR_BECAUSE(k)) {
            fr_text_addf(&words, "it cannot run: ");
            fr_report_reason(&r->job, out, k, &words);
        }
    fr_brief_words(brief, FR_BRIEF_SHOULD, "", &words);
}

/* The user's own plans beside the best. */
static void user_plan(const struct fr_searched *r, struct fr_brief *brief) {
    for (int i = 0; i < r->n_user_plans; i++) {
        const struct fr_user_plan *m = &r->user_plan[i];
        struct fr_text words = {0};
        char name[48], time[FR_READABLE], slower[FR_READABLE], place[FR_READABLE],
            all[FR_READABLE];
        fr_text_addf(&words, "%s: %s a step", fr_brief_name(m->name, name),
                     fr_readable(m->outcome.time_s, FR_QUANTITY_TIME, time));
        if (m->faster >= 0)
            fr_text_addf(&words, ", %s%s of the best, rank %s of %s", m->slower < 0 ? "" : "+",
                         fr_readable_percent(m->slower, slower),
                         fr_readable_count(m->faster + 1, place),
                         fr_readable_count(r->result.feasible, all));
        fr_brief_words(brief, FR_BRIEF_SHOULD, "yours", &words);
        refused(r, &m->outcome, brief);
        fr_answers_gain(&words, m);
        fr_brief_words(brief, FR_BRIEF_SHOULD, "", &words);
    }
}

/* ---- what would change it, how sure ------------------------------------------------------------- */

static void nearby(const struct fr_searched *r, struct fr_brief *brief) {
    struct fr_text words = {0};
    for (int i = 0; i < r->n_nearby; i++) {
        fr_nearby_say(r, &r->nearby[i], &words);
        fr_brief_words(brief, FR_BRIEF_SHOULD, i ? "" : "better", &words);
    }
}

static void changes(const struct fr_searched *r, struct fr_brief *brief) {
    struct fr_crossover *s = fr_calloc(FR_CROSSOVERS_MAX, sizeof *s);
    int n = s ? fr_crossovers_find(&r->job, &r->space, &r->options, &r->result, s) : 0;
    struct fr_text words = {0};
    char rate[FR_READABLE], now[FR_READABLE];
    for (int i = 0; i < n; i++) {
        const struct fr_level *level = &r->job.cluster.levels.level[s[i].level];
        fr_text_addf(&words, "%s%s links %s %s (now %s)%s", i ? ", " : "with ", level->name,
                     s[i].factor < 1 ? "under" : "over",
                     fr_readable(s[i].rate_B_per_s, FR_QUANTITY_RATE, rate),
                     fr_readable(level->rate_B_per_s, FR_QUANTITY_RATE, now),
                     s[i].method ? " to another method" : "");
    }
    free(s);
    if (n == 0 && r->space.n_inputs == 0 && !r->space.variants)
        fr_text_addf(&words,
                     "with no link's rate: the best stays the best to 64 times either way");
    fr_brief_words(brief, FR_BRIEF_SHOULD, "changes", &words);
    if (r->has_per_layer)
        fr_brief_row(brief, FR_BRIEF_SHOULD, "grids",
                     "one for each layer: %s a step (--set layer_tp=best)",
                     fr_readable(r->per_layer.time_s, FR_QUANTITY_TIME, rate));
}

/* Where energy is what counts: its interval, since odds are of times. */
static void energy_is_sure(const struct fr_searched *r, const struct fr_outcome *best,
                           struct fr_text *words) {
    struct fr_outcome_view v;
    char range[2 * FR_READABLE];
    fr_outcome_view(job_of(r, best), best, &v);
    const struct fr_outcome_ends *of =
        fr_fact_ends(&fr_outcome_facts[FR_OUTCOME_iteration_energy_J], &v);
    if (of && of->stated && isfinite(of->low) && of->high > of->low)
        fr_text_addf(words, "energy of a step (90 %%: %s); ",
                     fr_readable_range(of->low, of->high, FR_QUANTITY_ENERGY, range));
    fr_text_addf(words, "P(best) is stated where time is minimised");
}

static void sure(const struct fr_searched *r, const struct fr_outcome *best_plan,
                 struct fr_brief *brief) {
    const struct fr_answers *answers = &r->answers;
    const double tried = fr_answers_tried(answers);
    char best[FR_READABLE], gain[FR_READABLE];
    struct fr_text words = {0};
    const bool several = answers->n > 1 && answers->items[0].odds.predicted_s > 0;
    if (r->within.chosen && r->result.by == FR_RANK_TOTAL) /* odds are of times alone */
        fr_text_addf(&words, "the best lossy plan wins with %s",
                     fr_readable_percent(r->within.wins, best));
    else if (several || r->n_odds > 1)
        fr_text_addf(
            &words, "P(best) %s of %d %s",
            fr_readable_percent(several ? answers->items[0].odds.best : r->odds[0].best, best),
            several ? answers->n : r->n_odds, several ? "answers" : "plans");
    if (several && isfinite(tried))
        fr_text_addf(&words, "; trying the first %s gains %s on average",
                     answers->n > 2 ? "three" : "two", fr_readable_percent(tried, gain));
    if (!words.length && r->options.objective != FR_OBJECTIVE_TIME)
        energy_is_sure(r, best_plan, &words);
    else if (!words.length)
        fr_text_addf(&words, "one answer: there is nothing to compare it with");
    else
        fr_text_addf(&words, "; coefficients %s",
                     r->job.cluster.tuning.present        ? "from tuned runs"
                     : r->job.cluster.uncertainty.present ? "as sure as the cluster's file says"
                                                          : "as sure as priors");
    fr_brief_words(brief, FR_BRIEF_SHOULD, "sure", &words);
}

/* ---- what was searched -------------------------------------------------------------------------- */

static void add_reason(int reason, int64_t count, struct fr_text *words) {
    char n[FR_READABLE], name[80];
    snprintf(name, sizeof name, "%s",
             reason == FR_REASON_MEMORY   ? "do not fit"
             : reason == FR_REASON_UNSURE ? "fit less surely than asked"
                                          : fr_reason_names[reason]);
    for (char *at = name; *at; at++)
        if (*at == '_') *at = ' ';
    fr_text_addf(words, "%s %s", fr_readable_count(count, n), name);
}

static void left_out(const struct fr_searched *r, struct fr_text *words) {
    enum { NAMED = 3 };
    const struct fr_search_result *result = &r->result;
    bool listed[FR_REASON_COUNT] = {false};
    char n[FR_READABLE];
    if (!result->infeasible) return;
    fr_text_addf(words, "; %s left out: ", fr_readable_count(result->infeasible, n));
    for (int k = 0; k <= NAMED; k++) {
        int most = -1;
        for (int i = 0; i < FR_REASON_COUNT; i++)
            if (!listed[i] && result->because[i] > 0 &&
                (most < 0 || result->because[i] > result->because[most]))
                most = i;
        if (most < 0) return;
        listed[most] = true;
        fr_text_addf(words, "%s", k ? ", " : "");
        if (k < NAMED)
            add_reason(most, result->because[most], words);
        else
            fr_text_addf(words, "...");
    }
}

static void add_held(const struct fr_recipe *recipe, struct fr_text *words) {
    for (int i = 0; i < recipe->n; i++)
        if (!fr_recipe_varies(&recipe->row[i]))
            fr_text_addf(words, "%s%s %s", words->length ? ", " : "", recipe->row[i].key,
                         recipe->row[i].values);
    if (words->length) fr_text_addf(words, "; --all says why");
}

/* Keys that a search with --max-lossy leaves at one value. */
static void held(const struct fr_searched *r, struct fr_brief *brief) {
    struct fr_text words = {0};
    if (fr_searched_has_nothing_lossy(r))
        fr_brief_row(brief, FR_BRIEF_MUST, "lossy", "%s", fr_searched_note(r));
    else if (r->lossy && r->recipe.chosen)
        add_held(&r->recipe, &words);
    fr_brief_words(brief, FR_BRIEF_MUST, "held", &words);
}

static void searched(const struct fr_searched *r, struct fr_brief *brief) {
    static const char *const aims[] = {"time", "energy", "energy times time"};
    static const char *const of[] = {[FR_RANK_ITERATION] = "a step",
                                     [FR_RANK_TOTAL] = "to target loss",
                                     [FR_RANK_SAMPLE] = "a sample"};
    struct fr_text words = {0};
    char n[FR_READABLE];
    fr_text_addf(&words, "%s plan%s for the least %s %s",
                 fr_readable_count(r->result.evaluated, n), r->result.evaluated == 1 ? "" : "s",
                 aims[r->options.objective], of[r->result.by]);
    left_out(r, &words);
    fr_text_addf(&words, " (--all)");
    fr_brief_words(brief, FR_BRIEF_MUST, "searched", &words);
}

/* ---- nothing found ------------------------------------------------------------------------------ */

int fr_searched_main_reason(const struct fr_searched *r) {
    const struct fr_search_result *result = &r->result;
    int most = -1;
    /* a plan that does not fit has unknown iterations as well: more of these would run */
    if (result->because[FR_REASON_ITERATIONS] > result->because[FR_REASON_MEMORY])
        return FR_REASON_ITERATIONS;
    if (result->because[FR_REASON_MEMORY]) return FR_REASON_MEMORY;
    for (int i = 0; i < FR_REASON_COUNT; i++)
        if (result->because[i] > 0 && (most < 0 || result->because[i] > result->because[most]))
            most = i;
    return most;
}

/* The answer, and of the plan that comes nearest how surely it fits. */
static void nothing(const struct fr_searched *r, struct fr_brief *brief) {
    const struct fr_search_result *result = &r->result;
    const int reason = fr_searched_main_reason(r);
    struct fr_text words = {0};
    fr_text_addf(&words, "no plan is feasible%s", reason < 0 ? "" : "; e.g. ");
    if (reason >= 0) {
        fr_brief_plan(&result->example[reason].outcome, 0, &words);
        fr_text_addf(&words, ": ");
        fr_report_reason(&r->job, &result->example[reason].outcome, reason, &words);
    }
    fr_brief_words(brief, FR_BRIEF_MUST, "best", &words);
    if (reason >= 0) fr_brief_row(brief, FR_BRIEF_MUST, "helps", "%s", fr_reason_helps[reason]);
    if (result->surest.index < 0) return;
    const struct fr_outcome *out = &result->surest.outcome;
    fr_brief_plan(out, 0, &words);
    fr_brief_words(brief, FR_BRIEF_SHOULD, "surest", &words);
    fr_brief_step(job_of(r, out), out, &words);
    fr_brief_words(brief, FR_BRIEF_SHOULD, "", &words);
    fr_brief_fits(job_of(r, out), out, &words);
    fr_brief_words(brief, FR_BRIEF_SHOULD, "", &words);
}

static void next(const struct fr_searched *r, const struct fr_outcome *best, const char *again,
                 const char *larger, struct fr_brief *brief) {
    struct fr_text command = {0};
    const char *to = best ? fr_brief_emitter(job_of(r, best), best) : NULL;
    if (!best && fr_searched_main_reason(r) == FR_REASON_MEMORY)
        fr_text_addf(&command, "%s", larger);
    else if (*again)
        fr_text_addf(&command, "%s\n%s%s", again,
                     to     ? "--emit "
                     : best ? "--explain"
                            : "--all",
                     to ? to : "");
    if (command.length) fr_brief_command(brief, "next", fr_text_get(&command), "");
    fr_brief_row(brief, FR_BRIEF_MUST, command.length ? "" : "next", "or with %s--all, --json",
                 best ? "--explain, " : "");
    fr_text_free(&command);
}

static int64_t asked_ranks(const struct fr_searched *r, const struct fr_outcome *best) {
    return best ? best->ranks : r->space.n_ranks > 0 ? r->space.ranks[r->space.n_ranks - 1] : 1;
}

void fr_searched_brief(struct fr_text *text, const struct fr_searched *r, const char *again,
                       const char *larger, int columns) {
    struct fr_brief brief = {0};
    struct shown s = {0};
    if (r->result.top.count) choose(r, &s);
    const struct fr_job *job = s.best ? job_of(r, s.best) : &r->job;
    fr_brief_question(&brief, job, s.best ? &s.best->plan : NULL, asked_ranks(r, s.best), NULL);
    if (s.best) {
        best_plan(r, &s, &brief);
        slowdown(r, s.best, &brief);
        others(r, &s, &brief);
        user_plan(r, &brief);
        fr_brief_parts(&brief, s.best);
        changes(r, &brief);
        nearby(r, &brief);
        sure(r, s.best, &brief);
        fr_brief_caveats(&brief, s.best);
    } else {
        nothing(r, &brief);
        nearby(r, &brief);
        user_plan(r, &brief);
        fr_brief_blank(&brief);
    }
    fr_brief_inputs(&brief, job, s.best);
    searched(r, &brief);
    held(r, &brief);
    next(r, s.best, again, larger, &brief);
    fr_brief_print(&brief, columns, text);
}
