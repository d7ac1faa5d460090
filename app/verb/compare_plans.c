/* Plans of one's own side by side: time, energy, memory, how far behind, and how sure that is. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/brief/words.h"
#include "answer/outcome/report.h"
#include "answer/search/user_plan.h"
#include "answer/text/even.h"
#include "answer/text/render.h"
#include "app/load.h"
#include "app/page/page.h"
#include "app/text/next.h"
#include "app/verb.h"
#include "base/alloc.h"
#include "base/text/readable.h"
#include "base/text/wrap.h"
#include "models/outcome/fits/fits.h"
#include "models/plan/common.h"
#include "trust/odds.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_MODEL,
    FR_OPTION_SET,
    FR_OPTION_IDLE,
    {"ranks", "N", "ranks of plans that do not name their replicas (default: dp is 1)", 'n'},
    FR_OPTION_ALL,
    FR_OPTION_JSON,
    FR_OPTION_HELP,
    FR_OPTION_END};

struct comparison {
    struct fr_job job;
    struct fr_user_plan plan[FR_USER_PLANS_MAX];
    struct fr_odds odds[FR_USER_PLANS_MAX]; /* of those that can be */
    int n, best;                            /* best -1: none can be */
    bool known;                             /* odds could be made */
};

static bool can_be(const struct fr_user_plan *plan) {
    return plan->outcome.reasons == 0 && isfinite(plan->outcome.time_s);
}

/* The fastest for as many samples. */
static void find_best(struct comparison *c) {
    c->best = -1;
    for (int i = 0; i < c->n; i++)
        if (can_be(&c->plan[i]) &&
            (c->best < 0 ||
             fr_user_plan_slower(&c->job, &c->plan[i].outcome, &c->plan[c->best].outcome) < 0))
            c->best = i;
    for (int i = 0; i < c->n && c->best >= 0; i++) {
        const struct fr_outcome *best = &c->plan[c->best].outcome, *own = &c->plan[i].outcome;
        if (!isfinite(own->time_s)) continue;
        c->plan[i].slower = fr_user_plan_slower(&c->job, own, best);
        if (can_be(&c->plan[i])) c->plan[i].as_good = fr_user_plan_as_good(&c->job, own, best);
    }
}

static fr_status find_odds(struct comparison *c, struct fr_error *err) {
    const struct fr_plan *plans[FR_USER_PLANS_MAX];
    double times[FR_USER_PLANS_MAX];
    struct fr_odds odds[FR_USER_PLANS_MAX] = {{0}};
    int n = 0;
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    if (!known) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int i = 0; i < c->n; i++)
        if (can_be(&c->plan[i])) {
            plans[n] = &c->plan[i].outcome.plan;
            times[n] = 1 / (double)fr_job_batch(&c->job, plans[n]);
            n++;
        }
    fr_interval_known(&c->job.cluster, c->job.workload.dtype, known);
    c->known =
        n > 0 && fr_odds_make(known, &c->job.workload, plans, times, n, odds, NULL) == FR_OK;
    free(known);
    n = 0;
    for (int i = 0; i < c->n && c->known; i++)
        if (can_be(&c->plan[i])) {
            c->odds[i] = odds[n++];
            c->plan[i].outcome.expected_s = c->odds[i].predicted_s;
            c->plan[i].outcome.low_s = c->odds[i].low_s;
            c->plan[i].outcome.high_s = c->odds[i].high_s;
        }
    return FR_OK;
}

enum { PLAN = 7 }; /* its column */

/* ---- text -------------------------------------------------------------------------------------- */

/* Numbers, and below them whose plan it is. */
static void text_row(struct fr_text *text, const struct comparison *c, int i,
                     fr_plan_key_set without) {
    const struct fr_user_plan *m = &c->plan[i];
    const struct fr_outcome *out = &m->outcome;
    char line[FR_PLAN_LINE], time[40], low[40], high[40], memory[40];
    struct fr_text words = {0};
    fr_text_addf(text, "%6" PRId64 " %10s", out->ranks,
                 fr_render_quantity(out->time_s, FR_QUANTITY_TIME, time, sizeof time));
    if (can_be(m) && c->known)
        fr_text_addf(text, " %10s %10s %+8.2f %% %7.1f %% %7.1f %%",
                     fr_quantity_format(out->low_s, FR_QUANTITY_TIME, low, sizeof low),
                     fr_quantity_format(out->high_s, FR_QUANTITY_TIME, high, sizeof high),
                     100 * m->slower, 100 * c->odds[i].best, 100 * m->as_good);
    else
        fr_text_addf(text, " %10s %10s %10s %9s %9s", "-", "-", "-", "-", "-");
    fr_text_addf(
        text, " %9s\n%*s",
        fr_render_quantity(out->memory_peak_B, FR_QUANTITY_SIZE, memory, sizeof memory), PLAN,
        "");
    fr_text_addf(&words, "%s: %s", m->name,
                 fr_report_outcome_row(out, without, line, sizeof line));
    fr_wrap_cell(text, PLAN, fr_text_get(&words));
    fr_text_free(&words);
    fr_even_say(out, &words);
    if (words.length) {
        fr_text_addf(text, "%*s", PLAN, "");
        fr_wrap_cell(text, PLAN, fr_text_get(&words));
    }
    fr_text_free(&words);
    const struct fr_fits fits = fr_fits_of(&c->job, out);
    char reserved[40], shown[40], fit[FR_FITS_LINE];
    if (isnan(fits.needed_B)) return;
    fr_text_addf(
        &words, "%s; reserved %s, shown %s", fr_fits_line(&fits, fit),
        fr_render_quantity(fits.reserved_B, FR_QUANTITY_SIZE, reserved, sizeof reserved),
        fr_render_quantity(fits.shown_B, FR_QUANTITY_SIZE, shown, sizeof shown));
    fr_text_addf(text, "%*s", PLAN, "");
    fr_wrap_cell(text, PLAN, fr_text_get(&words));
    fr_text_free(&words);
}

static void text_reasons(struct fr_text *text, const struct comparison *c) {
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < FR_REASON_COUNT; k++) {
            if (!(c->plan[i].outcome.reasons & FR_BECAUSE(k))) continue;
            struct fr_text words = {0};
            fr_text_addf(&words, "%s cannot be: ", c->plan[i].name);
            fr_report_reason(&c->job, &c->plan[i].outcome, k, &words);
            fr_text_addf(text, "\n");
            fr_wrap_cell(text, 0, fr_text_get(&words));
            fr_text_free(&words);
        }
}

static void text_differences(struct fr_text *text, const struct comparison *c) {
    char differs[FR_PLAN_LINE];
    for (int i = 0; i < c->n && c->best >= 0; i++) {
        if (i == c->best) continue;
        fr_user_plan_differs(&c->job, &c->plan[i].plan, &c->plan[c->best].plan, differs,
                             sizeof differs);
        fr_text_addf(text, "  %s: ", c->plan[i].name);
        fr_wrap_list(text, *differs ? differs : "the same plan",
                     4 + fr_letters(c->plan[i].name, strlen(c->plan[i].name)), 4, FR_COLUMNS);
        fr_end_line(text);
    }
}

static void print_text(struct fr_text *text, const struct comparison *c) {
    struct fr_plan_common common = {0};
    char line[FR_PLAN_LINE];
    for (int i = 0; i < c->n; i++) fr_plan_common_add(&common, &c->plan[i].outcome.plan);
    fr_plan_key_set without = fr_plan_common_keys(&common);
    fr_render_inputs(text, &c->job, NULL, FR_COLUMNS);
    if (*fr_plan_common_line(&common, line, sizeof line))
        fr_wrap_head(text, "all below", line, FR_COLUMNS);
    fr_text_addf(text, "\n%6s %10s %21s %10s %9s %9s %9s\n", "ranks", "iteration",
                 "90 % interval", "behind", "best", "as good", "memory");
    for (int i = 0; i < c->n; i++) text_row(text, c, i, without);
    fr_wrap(text,
            "behind: for as many samples; best: probability to be the fastest of these; as "
            "good: to be no slower than the first",
            0, 0, FR_COLUMNS);
    fr_end_line(text);
    text_reasons(text, c);
    if (c->best >= 0)
        fr_text_addf(text, "\nwhat differs from %s, its values in brackets\n",
                     c->plan[c->best].name);
    text_differences(text, c);
}

/* ---- one screen -------------------------------------------------------------------------------- */

static void brief_answer(struct fr_brief *brief, const struct comparison *c) {
    char name[48], best[FR_READABLE], regret[FR_READABLE];
    struct fr_text words = {0};
    if (c->best < 0) {
        fr_brief_row(brief, FR_BRIEF_MUST, "best", "none of these %d plans can run", c->n);
        return;
    }
    const struct fr_user_plan *m = &c->plan[c->best];
    fr_text_addf(&words, "%s: ", fr_brief_name(m->name, name));
    fr_brief_step(&c->job, &m->outcome, &words);
    fr_brief_words(brief, FR_BRIEF_MUST, "best", &words);
    fr_brief_plan(&m->outcome, 0, &words);
    fr_brief_words(brief, FR_BRIEF_MUST, "", &words);
    fr_brief_fits(&c->job, &m->outcome, &words);
    fr_brief_words(brief, FR_BRIEF_MUST, "", &words);
    if (c->known)
        fr_brief_row(brief, FR_BRIEF_MUST, "sure",
                     "P(best) %s of these %d plans; choosing it costs %s on average",
                     fr_readable_percent(c->odds[c->best].best, best), c->n,
                     fr_readable_percent(c->odds[c->best].regret, regret));
}

static void brief_other(struct fr_brief *brief, const struct comparison *c, int i) {
    const struct fr_user_plan *m = &c->plan[i];
    char name[48], slower[FR_READABLE], as_good[FR_READABLE], differs[FR_PLAN_LINE];
    struct fr_text words = {0};
    fr_text_addf(&words, "%s: ", fr_brief_name(m->name, name));
    for (int k = 0, n = 0; k < FR_REASON_COUNT && n == 0; k++)
        if (m->outcome.reasons & FR_BECAUSE(k)) {
            fr_text_addf(&words, "cannot run: ");
            fr_report_reason(&c->job, &m->outcome, k, &words);
            n++;
        }
    if (can_be(m)) {
        fr_text_addf(&words, "+%s, ", fr_readable_percent(m->slower, slower));
        fr_brief_step(&c->job, &m->outcome, &words);
        if (isfinite(m->as_good))
            fr_text_addf(&words, ", as good with %s", fr_readable_percent(m->as_good, as_good));
    }
    fr_brief_words(brief, FR_BRIEF_SHOULD, "other", &words);
    if (can_be(m)) fr_brief_fits(&c->job, &m->outcome, &words);
    fr_brief_words(brief, FR_BRIEF_MAY, "", &words);
    if (c->best < 0) return;
    fr_user_plan_differs(&c->job, &m->plan, &c->plan[c->best].plan, differs, sizeof differs);
    fr_brief_row(brief, FR_BRIEF_MAY, "", "differs: %s", *differs ? differs : "in nothing");
}

static void print_brief(struct fr_text *text, const struct comparison *c, const char *search) {
    struct fr_brief brief = {0};
    const struct fr_outcome *first = &c->plan[c->best < 0 ? 0 : c->best].outcome;
    fr_brief_question(&brief, &c->job, &first->plan, first->ranks, NULL);
    brief_answer(&brief, c);
    fr_brief_blank(&brief);
    for (int i = 0; i < c->n; i++)
        if (i != c->best) brief_other(&brief, c, i);
    fr_brief_blank(&brief);
    fr_brief_inputs(&brief, &c->job, first);
    if (*search) fr_brief_command(&brief, "next", search, "");
    fr_brief_row(&brief, FR_BRIEF_MUST, *search ? "" : "next", "%s--all, --json",
                 *search ? "or with " : "the same with ");
    fr_brief_print(&brief, FR_COLUMNS, text);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void print_json(struct fr_text *text, const struct comparison *c) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    char differs[FR_PLAN_LINE];
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/compare-plans/1");
    fr_calibration_put(&c->job.cluster.calibration, &w);
    fr_json_key(&w, "best");
    if (c->best >= 0)
        fr_json_put_string(&w, c->plan[c->best].name);
    else
        fr_json_put_null(&w);
    fr_json_add_array(&w, "plans");
    for (int i = 0; i < c->n; i++) {
        const struct fr_user_plan *m = &c->plan[i];
        fr_json_begin_object(&w);
        fr_json_add_string(&w, "name", m->name);
        fr_json_add_number(&w, "behind", m->slower);
        fr_json_add_number(&w, "probability_best",
                           c->known && can_be(m) ? c->odds[i].best : NAN);
        fr_json_add_number(&w, "expected_regret",
                           c->known && can_be(m) ? c->odds[i].regret : NAN);
        fr_json_add_number(&w, "probability_as_good", m->as_good);
        if (c->best >= 0)
            fr_json_add_string(&w, "differs",
                               fr_user_plan_differs(&c->job, &m->plan, &c->plan[c->best].plan,
                                                    differs, sizeof differs));
        fr_json_key(&w, "outcome");
        fr_report_json(&w, &c->job, &m->outcome);
        fr_json_end_object(&w);
    }
    fr_json_end_array(&w);
    fr_json_end_object(&w);
}

/* ---- the command ------------------------------------------------------------------------------- */

/* A key of plans in --set would be lost: each plan says its own.  The batch is what all of them do. */
static fr_status check_sets(const struct fr_job *job, struct fr_error *err) {
    for (int k = 0; k < FR_PLAN_KEYS; k++) {
        const char *name = fr_plan_keys[k].name;
        if (strcmp(name, "global_batch") != 0 && fr_job_plan_says(job, name))
            return fr_fail(err, FR_ERR_USAGE, NULL,
                           "--set %s is a key of plans; write it in those that it is for",
                           name);
    }
    return FR_OK;
}

static fr_status compare(const struct fr_args *args, struct comparison *c,
                         struct fr_error *err) {
    struct fr_args without_words = *args;
    struct fr_text text = {0}, page = {0};
    long long ranks = 0;
    FR_TRY(fr_args_integer(args, "ranks", 1, FR_RANKS_MAX, &ranks, err));
    if (args->n_words < 2 || args->n_words > FR_USER_PLANS_MAX)
        return fr_fail(err, FR_ERR_USAGE, NULL, "give two to %d plan files", FR_USER_PLANS_MAX);
    without_words.n_words = 0;
    FR_TRY(fr_app_load(&without_words, true, &c->job, err));
    FR_TRY(check_sets(&c->job, err));
    for (; c->n < args->n_words; c->n++) {
        fr_status status =
            fr_user_plan_read(&c->job, args->word[c->n], ranks, &c->plan[c->n], err);
        if (status == FR_OK) continue;
        fr_user_plan_free(&c->plan[c->n]);
        return status;
    }
    fr_user_plan_name(c->plan, c->n);
    find_best(c);
    FR_TRY(find_odds(c, err));
    if (fr_app_paged(args)) print_json(&page, c);
    if (fr_args_has(args, "json"))
        print_json(&text, c);
    else if (fr_args_has(args, "all"))
        print_text(&text, c);
    else {
        struct fr_text search = {0};
        fr_next_search(args, c->plan[c->best < 0 ? 0 : c->best].outcome.ranks, &search);
        print_brief(&text, c, fr_text_get(&search));
        fr_text_free(&search);
    }
    FR_TRY(fr_app_answer(args, &text, &page, err));
    return c->best >= 0 ? FR_OK : FR_ERR_INFEASIBLE;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct comparison *c = fr_calloc(1, sizeof *c);
    if (!c) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = compare(args, c, err);
    for (int i = 0; i < c->n; i++) fr_user_plan_free(&c->plan[i]);
    fr_job_free(&c->job);
    free(c);
    return status;
}

const struct fr_verb fr_verb_compare_plans = {
    .name = "compare-plans",
    .summary = "plans of your own side by side, and how sure it is which is best",
    .usage = "A.json B.json... --cluster C --model M [--ranks N] [--set KEY=VALUE]... [--json]",
    .details =
        "A plan is a file (docs/reference/plan-keys.md) or the JSON itself. dp follows from "
        "--ranks where a "
        "plan "
        "leaves it open, the batch is the model's or that of --set where it names none. Other "
        "keys of "
        "plans are written in the plans.\n"
        "  forerun compare-plans a.json b.json --cluster dgx-h100 --model llama-3-8b --ranks "
        "64\n",
    .options = options,
    .words = FR_WORDS_FILES,
    .run = run,
};
