#include "answer/page/opening.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/page/opening_plan.h"
#include "answer/page/phrase.h"
#include "answer/page/plans.h"
#include "answer/page/table.h"
#include "answer/page/words.h"
#include "models/outcome/fits/fits.h"

enum { SENTENCES_MAX = 4 }; /* of pairs in an opening */

/* ---- several plans ----------------------------------------------------------------------------- */

/* The one with the least of a number. */
struct least {
    const char *key;
    double value;
    char name[FR_PAGE_NAME], currency[16];
};

static void find_least(const struct fr_json *list, const char *inner, const char *name,
                       struct least *least) {
    least->value = INFINITY;
    *least->name = '\0';
    for (int64_t i = 0; i < fr_json_array_length(list); i++) {
        struct fr_json row = fr_json_element(list, i), object = fr_json_member(&row, inner);
        double value = fr_json_number_at(&object, least->key);
        if (!(value < least->value)) continue;
        least->value = value;
        snprintf(least->name, sizeof least->name, "%s", fr_json_text_at(&row, name));
        snprintf(least->currency, sizeof least->currency, "%s",
                 fr_json_text_at(&object, "currency"));
    }
}

static void ask_clusters(const struct fr_json *root, struct fr_text *out) {
    struct fr_json rows = fr_json_member(root, "rows"), first = fr_json_element(&rows, 0);
    fr_text_addf(out, "Which cluster trains %s best?",
                 fr_phrase_or(fr_json_text_at(&first, "model"), "this model"));
}

static void answer_clusters(const struct fr_json *root, struct fr_text *html) {
    struct fr_json rows = fr_json_member(root, "rows");
    struct least fast = {.key = "iteration_time_s"}, cheap = {.key = "price"},
                 clean = {.key = "carbon_kg"}, energy = {.key = "iteration_energy_J"};
    struct fr_phrase time = {""}, joules = {""};
    find_least(&rows, "outcome", "cluster", &fast);
    find_least(&rows, "outcome", "cluster", &energy);
    find_least(&rows, "training", "cluster", &cheap);
    find_least(&rows, "training", "cluster", &clean);
    if (isinf(fast.value)) {
        fr_html_addf(html, "{div.answer {p {b No plan can run} on any of them.}}\n");
        return;
    }
    fr_quantity_format(fast.value, FR_QUANTITY_TIME, time.text, sizeof time.text);
    fr_html_addf(html, "{div.answer\n{p Fastest: {b %s}, %s a step.}\n", fast.name, time.text);
    if (isfinite(cheap.value))
        fr_html_addf(html, "{p Cheapest: {b %s}, %s %s for the training.}\n", cheap.name,
                     fr_phrase_count(cheap.value).text, cheap.currency);
    if (isfinite(clean.value))
        fr_html_addf(html, "{p Least CO2: {b %s}, %s t.}\n", clean.name,
                     fr_phrase_count(clean.value / 1000).text);
    else if (isfinite(energy.value))
        fr_html_addf(html, "{p Least energy: {b %s}, %s a step.}\n", energy.name,
                     fr_quantity_format(energy.value, FR_QUANTITY_ENERGY, joules.text,
                                        sizeof joules.text));
    fr_html_addf(html, "{/div}\n");
}

static void ask_plans(const struct fr_json *root, struct fr_text *out) {
    struct fr_json list = fr_json_member(root, "plans");
    fr_text_addf(out, "Which of these %" PRId64 " plans is faster?",
                 fr_json_array_length(&list));
}

static void answer_plans(const struct fr_json *root, struct fr_text *html) {
    struct fr_json list = fr_json_member(root, "plans");
    const char *best = fr_json_text_at(root, "best");
    fr_html_addf(html, "{div.answer\n");
    for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
        struct fr_json row = fr_json_element(&list, i),
                       outcome = fr_json_member(&row, "outcome");
        if (strcmp(best, fr_json_text_at(&row, "name")) != 0) continue;
        fr_html_addf(html, "{p {b %s} is the fastest: %s a step, %s to %s with 90 %%.}\n{p",
                     best, fr_phrase_seconds(&outcome, "iteration_time_s").text,
                     fr_phrase_seconds(&outcome, "iteration_time_low_s").text,
                     fr_phrase_seconds(&outcome, "iteration_time_high_s").text);
        fr_opening_fits(&outcome, html);
        fr_html_addf(html, ".{/p}\n{p It is the fastest of these with %s.}\n",
                     fr_phrase_percent(&row, "probability_best").text);
    }
    if (!*best) fr_html_addf(html, "{p {b None of them can run.}}\n");
    fr_html_addf(html, "{/div}\n");
}

static void ask_runtimes(const struct fr_json *root, struct fr_text *out) {
    struct fr_json list = fr_json_member(root, "comparisons"),
                   first = fr_json_element(&list, 0);
    fr_text_addf(out, "Which software trains %s fastest on %s?",
                 fr_phrase_or(fr_json_text_at(&first, "model"), "this model"),
                 fr_phrase_or(fr_json_text_at(&first, "cluster"), "this cluster"));
}

static void answer_runtimes(const struct fr_json *root, struct fr_text *html) {
    struct fr_json list = fr_json_member(root, "comparisons");
    fr_html_addf(html, "{div.answer\n");
    for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
        struct fr_json one = fr_json_element(&list, i), rows = fr_json_member(&one, "rows");
        struct least fast = {.key = "iteration_time_s"};
        struct fr_phrase time = {""};
        find_least(&rows, "outcome", "runtime", &fast);
        if (isfinite(fast.value))
            fr_html_addf(
                html, "{p {b %s} is the fastest for %s on %s: %s a step.}\n", fast.name,
                fr_json_text_at(&one, "model"), fr_json_text_at(&one, "cluster"),
                fr_quantity_format(fast.value, FR_QUANTITY_TIME, time.text, sizeof time.text));
    }
    fr_html_addf(html, "{/div}\n");
}

/* ---- predictions beside measurements ----------------------------------------------------------- */

static void ask_score(const struct fr_json *root, struct fr_text *out) {
    fr_text_addf(out, "How close are predictions to measured runs on %s?",
                 fr_phrase_or(fr_json_text_at(root, "cluster"), "the clusters of these runs"));
}

static void answer_score(const struct fr_json *root, struct fr_text *html) {
    struct fr_json rows = fr_json_member(root, "rows");
    double order = fr_json_number_at(root, "rank_correlation");
    if (isnan(order)) order = fr_json_number_at(root, "kendall_tau");
    fr_html_addf(html,
                 "{div.answer\n{p Over %s runs the median error is {b %s}; nine "
                 "in ten runs are within %s.}\n",
                 fr_phrase_count((double)fr_json_array_length(&rows)).text,
                 fr_phrase_percent(root, "median_error").text,
                 fr_phrase_percent(root, "p90_error").text);
    fr_html_addf(html, "{p The 90 %% intervals hold %s of the measured times.}\n",
                 fr_phrase_percent(root, "coverage").text);
    fr_html_addf(html,
                 "{p Predicted and measured order agree with a rank correlation "
                 "of %s; choosing by prediction costs at most %s.}\n{/div}\n",
                 fr_phrase_count(order).text, fr_phrase_percent(root, "regret_worst").text);
}

static void ask_reproduce(const struct fr_json *root, struct fr_text *out) {
    fr_text_addf(out, "How close are our numbers to those of %s?",
                 fr_phrase_or(fr_json_text_at(root, "title"), "the papers"));
}

/* As the text counts: what this model does not explain is apart, and points of curves are not judged. */
static void answer_reproduce(const struct fr_json *root, struct fr_text *html) {
    struct fr_json rows = fr_json_member(root, "rows");
    int64_t holds = 0, judged = 0, apart = 0;
    for (int64_t i = 0; i < fr_json_array_length(&rows); i++) {
        struct fr_json row = fr_json_element(&rows, i);
        bool yes = false;
        if (fr_json_get_bool(&row, "holds", true, &yes, NULL) != FR_OK) continue;
        if (strcmp(fr_json_text_at(&row, "role"), "not_explained") == 0)
            apart++;
        else
            judged++, holds += yes;
    }
    fr_html_addf(
        html,
        "{div.answer {p %d of %d judged rows hold, and %d more are not explained by this "
        "model; each stands below with the published value beside ours.}}\n",
        (int)holds, (int)judged, (int)apart);
}

/* ---- trainings ---------------------------------------------------------------------------------- */

static void ask_quality(const struct fr_json *root, struct fr_text *out) {
    struct fr_json rows = fr_json_member(root, "rows");
    fr_text_addf(out, "What does each of %" PRId64 " ways to train %s cost in loss?",
                 fr_json_array_length(&rows),
                 fr_phrase_or(fr_json_text_at(root, "model"), "this model"));
}

/* The first row trains without compression, or is what the others are compared with. */
static void answer_quality(const struct fr_json *root, struct fr_text *html) {
    struct fr_json rows = fr_json_member(root, "rows"), first = fr_json_element(&rows, 0),
                   pairs = fr_json_member(root, "pairs");
    fr_html_addf(html, "{div.answer\n{p {b %s} ends at a held-out loss of {b %s} (%s to %s)",
                 fr_phrase_or(fr_json_text_at(&first, "label"), "The first"),
                 fr_phrase_number(&first, "loss").text,
                 fr_phrase_number(&first, "loss_low").text,
                 fr_phrase_number(&first, "loss_high").text);
    if (isfinite(fr_json_number_at(&first, "time_to_loss_s")))
        fr_html_addf(html, ", and reaches %s in %s of predicted time",
                     fr_phrase_number(root, "target_loss").text,
                     fr_phrase_seconds(&first, "time_to_loss_s").text);
    fr_html_addf(html, ".{/p}\n");
    for (int64_t i = 0; i < fr_json_array_length(&pairs) && i < SENTENCES_MAX; i++) {
        struct fr_json pair = fr_json_element(&pairs, i);
        if (*fr_json_text_at(&pair, "sentence"))
            fr_html_addf(html, "{p %s.}\n", fr_json_text_at(&pair, "sentence"));
    }
    fr_html_addf(html, "{/div}\n");
}

static void ask_iterations(const struct fr_json *root, struct fr_text *out) {
    fr_text_addf(out, "How many iterations does each method take to a loss of %s?",
                 fr_phrase_number(root, "loss").text);
}

static void answer_iterations(const struct fr_json *root, struct fr_text *html) {
    struct fr_json rows = fr_json_member(root, "rows");
    int64_t fewest = -1;
    for (int64_t i = 0; i < fr_json_array_length(&rows); i++) {
        struct fr_json row = fr_json_element(&rows, i), best = fr_json_element(&rows, fewest);
        double n = fr_json_number_at(&row, "iterations");
        if (n > 0 && (fewest < 0 || n < fr_json_number_at(&best, "iterations"))) fewest = i;
    }
    struct fr_json best = fr_json_element(&rows, fewest);
    if (fewest < 0)
        fr_html_addf(html, "{div.answer {p {b None of them reached it.}}}\n");
    else
        fr_html_addf(html,
                     "{div.answer {p Fewest: {b %s} with %s ghost neurons, %s iterations "
                     "(%s to %s).}}\n",
                     fr_phrase_or(fr_json_text_at(&best, "method"), "one"),
                     fr_phrase_number(&best, "ghost").text,
                     fr_phrase_number(&best, "iterations").text,
                     fr_phrase_number(&best, "iterations_low").text,
                     fr_phrase_number(&best, "iterations_high").text);
}

/* ---- single numbers ---------------------------------------------------------------------------- */

static void ask_gemm(const struct fr_json *root, struct fr_text *out) {
    fr_text_addf(out, "How long does a %.0f x %.0f x %.0f product take in %s?",
                 fr_json_number_at(root, "m"), fr_json_number_at(root, "n"),
                 fr_json_number_at(root, "k"), fr_json_text_at(root, "dtype"));
}

static void answer_gemm(const struct fr_json *root, struct fr_text *html) {
    fr_html_addf(html, "{div.answer {p {b %s} (%s to %s with 90 %%), %s.}}\n",
                 fr_phrase_seconds(root, "time_s").text, fr_phrase_seconds(root, "low_s").text,
                 fr_phrase_seconds(root, "high_s").text,
                 fr_phrase_quantity(root, "rate_flop_per_s", FR_QUANTITY_WORK_RATE).text);
}

static void ask_generate(const struct fr_json *root, struct fr_text *out) {
    double batch = fr_json_number_at(root, "batch");
    fr_text_addf(out, "What do %.0f tokens after a prompt of %.0f cost",
                 fr_json_number_at(root, "tokens"), fr_json_number_at(root, "prompt"));
    if (batch > 1) fr_text_addf(out, ", %.0f samples at once", batch);
    fr_text_addf(out, "?");
}

static void put_token(const struct fr_json *root, struct fr_text *html) {
    fr_html_addf(html, "{p {b %s} a token", fr_phrase_seconds(root, "token_time_s").text);
    fr_opening_interval(root, "token_time_low_s", "token_time_high_s", html);
    if (isfinite(fr_json_number_at(root, "token_energy_J")))
        fr_html_addf(html, ", %s of energy each",
                     fr_phrase_quantity(root, "token_energy_J", FR_QUANTITY_ENERGY).text);
    fr_html_addf(html, ", after %s for the first.{/p}\n",
                 fr_phrase_seconds(root, "first_token_s").text);
}

static void answer_generate(const struct fr_json *root, struct fr_text *html) {
    bool feasible = true;
    fr_json_get_bool(root, "feasible", false, &feasible, NULL);
    fr_html_addf(html, "{div.answer\n");
    if (!feasible) fr_opening_refusal(root, root, html);
    if (isfinite(fr_json_number_at(root, "token_time_s"))) put_token(root, html);
    fr_html_addf(html, "{/div}\n");
}

static void ask_collective(const struct fr_json *root, struct fr_text *out) {
    fr_text_addf(out, "How long does %s take on %s ranks?",
                 fr_phrase_or(fr_json_text_at(root, "op"), "this collective"),
                 fr_phrase_number(root, "ranks").text);
}

static void answer_collective(const struct fr_json *root, struct fr_text *html) {
    struct fr_json rows = fr_json_member(root, "rows"), first = fr_json_element(&rows, 0),
                   last = fr_json_element(&rows, fr_json_array_length(&rows) - 1);
    fr_html_addf(html,
                 "{div.answer {p From {b %s} for %s to {b %s} for %s, with a bus "
                 "bandwidth of %s.}}\n",
                 fr_phrase_seconds(&first, "time_s").text,
                 fr_phrase_quantity(&first, "size_B", FR_QUANTITY_SIZE).text,
                 fr_phrase_seconds(&last, "time_s").text,
                 fr_phrase_quantity(&last, "size_B", FR_QUANTITY_SIZE).text,
                 fr_phrase_quantity(&last, "busbw_B_per_s", FR_QUANTITY_RATE).text);
}

/* ---- by kind ----------------------------------------------------------------------------------- */

static const struct {
    const char *kind;
    void (*ask)(const struct fr_json *root, struct fr_text *out);
    void (*answer)(const struct fr_json *root, struct fr_text *html);
} openings[] = {{"search", fr_opening_ask_search, fr_opening_answer_search},
                {"outcome", fr_opening_ask_plan, fr_opening_answer_plan},
                {"explain", fr_opening_ask_plan, fr_opening_answer_plan},
                {"training", fr_opening_ask_plan, fr_opening_answer_plan},
                {"simulation", fr_opening_ask_plan, fr_opening_answer_plan},
                {"clusters", ask_clusters, answer_clusters},
                {"compare-plans", ask_plans, answer_plans},
                {"compare-runtimes", ask_runtimes, answer_runtimes},
                {"score", ask_score, answer_score},
                {"validate", ask_score, answer_score},
                {"reproduce", ask_reproduce, answer_reproduce},
                {"quality", ask_quality, answer_quality},
                {"iterations", ask_iterations, answer_iterations},
                {"gemm", ask_gemm, answer_gemm},
                {"generate", ask_generate, answer_generate},
                {"collective", ask_collective, answer_collective}};
enum { OPENINGS = sizeof openings / sizeof *openings };

void fr_page_question(const struct fr_json *root, const char *kind, struct fr_text *out) {
    for (int i = 0; i < OPENINGS; i++)
        if (strcmp(openings[i].kind, kind) == 0) {
            openings[i].ask(root, out);
            return;
        }
    fr_text_addf(out, "What did forerun %s find?", fr_phrase_or(kind, "report"));
}

void fr_page_answer(struct fr_page *page, const struct fr_json *root, const char *kind) {
    struct fr_json rows = fr_json_member(root, "rows");
    for (int i = 0; i < OPENINGS; i++)
        if (strcmp(openings[i].kind, kind) == 0) {
            openings[i].answer(root, &page->html);
            return;
        }
    if (fr_json_array_length(&rows) > 0)
        fr_html_addf(&page->html, "{div.answer {p It has %s rows, below.}}\n",
                     fr_phrase_count((double)fr_json_array_length(&rows)).text);
}
