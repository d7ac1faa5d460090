#include "answer/page/opening.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/page/plans.h"
#include "answer/page/table.h"
#include "answer/page/words.h"
#include "models/outcome/fits/fits.h"

/* ---- numbers as sentences have them ------------------------------------------------------------ */

struct shown {
    char text[FR_PAGE_NUMBER];
};

static struct shown quantity(const struct fr_json *object, const char *key, fr_quantity kind) {
    struct shown s = {"-"};
    double value = fr_json_number_at(object, key);
    if (isfinite(value)) fr_quantity_format(value, kind, s.text, sizeof s.text);
    return s;
}
static struct shown seconds(const struct fr_json *object, const char *key) {
    return quantity(object, key, FR_QUANTITY_TIME);
}

/* Three digits are enough in a sentence: 20.7 days. */
static double rounded(double value) {
    char text[32];
    snprintf(text, sizeof text, "%.3g", value);
    return strtod(text, NULL);
}
static struct shown count(double value) {
    struct shown s = {"-"};
    if (isfinite(value)) fr_page_number(fabs(value) < 100 ? rounded(value) : value, -1, s.text);
    return s;
}
static struct shown number(const struct fr_json *object, const char *key) {
    return count(fr_json_number_at(object, key));
}
static struct shown percent(const struct fr_json *object, const char *key) {
    struct shown s = {"-"};
    double value = fr_json_number_at(object, key);
    if (isfinite(value)) snprintf(s.text, sizeof s.text, "%.3g %%", 100 * value);
    return s;
}

static const char *or_that(const char *word, const char *otherwise) {
    return *word ? word : otherwise;
}

/* ---- plans ------------------------------------------------------------------------------------- */

static const char *provenance(const struct fr_json *outcome, const char *key,
                              const char *otherwise) {
    struct fr_json from = fr_json_member(outcome, "provenance");
    return or_that(fr_json_text_at(&from, key), otherwise);
}

static void ask_search(const struct fr_json *root, struct fr_text *out) {
    struct fr_json best = fr_json_member(root, "best");
    const char *objective = fr_json_text_at(root, "objective");
    bool fastest = !*objective || strstr(objective, "time");
    fr_text_addf(out, "Which plan trains %s %s on %s ranks of %s?",
                 provenance(&best, "model", "this model"),
                 fastest ? "fastest" : "with least energy", number(&best, "ranks").text,
                 provenance(&best, "cluster", "this cluster"));
}

static void ask_plan(const struct fr_json *root, struct fr_text *out) {
    struct fr_json outcome = fr_page_plan_of(root);
    fr_text_addf(out, "What does training %s take on %s ranks of %s with this plan?",
                 provenance(&outcome, "model", "this model"), number(&outcome, "ranks").text,
                 provenance(&outcome, "cluster", "this cluster"));
}

/* Batch, sequence, number format and software: what the answer holds for. */
static void put_setting(const struct fr_json *root, struct fr_text *html) {
    struct fr_json outcome = fr_page_plan_of(root), plan = fr_json_member(&outcome, "plan"),
                   model = fr_json_member(root, "model");
    double batch = fr_json_number_at(&plan, "global_batch"),
           sequence = nearbyint(fr_json_number_at(&outcome, "tokens_per_s") /
                                fr_json_number_at(&outcome, "samples_per_s"));
    if (!(batch > 0)) return;
    fr_html_addf(html, "{p.note %s", count(batch).text);
    if (sequence > 0)
        fr_html_addf(html, " sequences of %s tokens a step", count(sequence).text);
    else
        fr_html_addf(html, " samples a step");
    if (*fr_json_text_at(&model, "dtype"))
        fr_html_addf(html, ", %s", fr_json_text_at(&model, "dtype"));
    fr_html_addf(html, ", software %s (%s).{/p}\n", provenance(&outcome, "runtime", "-"),
                 provenance(&outcome, "runtime_date", "-"));
}

static void keep_first(const struct fr_json *outcome, const char *name, void *context) {
    char *first = context;
    (void)outcome;
    if (!*first) snprintf(first, FR_PAGE_NAME, "%s", name);
}

static void put_plan(const struct fr_json *root, const char *kind, struct fr_text *html) {
    struct fr_json outcome = fr_page_plan_of(root);
    char name[FR_PAGE_NAME] = "";
    fr_page_each_plan(root, kind, keep_first, name);
    fr_html_addf(html, "{p {b %s} takes {b %s} a step", or_that(name, "This plan"),
                 seconds(&outcome, "iteration_time_s").text);
    if (isfinite(fr_json_number_at(&outcome, "iteration_time_low_s")))
        fr_html_addf(html, " (%s to %s with 90 %%)",
                     seconds(&outcome, "iteration_time_low_s").text,
                     seconds(&outcome, "iteration_time_high_s").text);
    if (isfinite(fr_json_number_at(&outcome, "tokens_per_s_per_device")))
        fr_html_addf(html, ", %s tokens/s a GPU, MFU %s",
                     number(&outcome, "tokens_per_s_per_device").text,
                     percent(&outcome, "mfu").text);
    fr_html_addf(html, ".{/p}\n");
}

static void put_cost(const struct fr_json *root, struct fr_text *html) {
    struct fr_json t = fr_json_member(root, "training"), outcome = fr_page_plan_of(root);
    double day_s = 86400, low_s = fr_json_number_at(&t, "time_low_s");
    char amount[32];
    if (!fr_json_is_object(&t)) {
        fr_html_addf(html,
                     "{p A step takes %s; the sliders below turn it into days, money "
                     "and CO2 of a whole training.}\n",
                     quantity(&outcome, "iteration_energy_J", FR_QUANTITY_ENERGY).text);
        return;
    }
    bool tokens = fr_json_number_at(&t, "tokens") > 0;
    fr_html_addf(html, "{p %s %s take {b %s days}",
                 fr_page_amount(fr_json_number_at(&t, tokens ? "tokens" : "samples"), amount),
                 tokens ? "tokens" : "samples", number(&t, "days").text);
    if (isfinite(low_s))
        fr_html_addf(html, " (%s to %s)", count(low_s / day_s).text,
                     count(fr_json_number_at(&t, "time_high_s") / day_s).text);
    if (isfinite(fr_json_number_at(&t, "price")))
        fr_html_addf(html, ", {b %s %s}", number(&t, "price").text,
                     fr_json_text_at(&t, "currency"));
    if (isfinite(fr_json_number_at(&t, "energy_kWh")))
        fr_html_addf(html, ", %s kWh", number(&t, "energy_kWh").text);
    if (isfinite(fr_json_number_at(&t, "carbon_kg")))
        fr_html_addf(html, " and %s t of CO2",
                     count(fr_json_number_at(&t, "carbon_kg") / 1000).text);
    fr_html_addf(html, ".{/p}\n");
}

/* "It fits with 98 %: 71 of 80 GiB", from what the document says. */
static void put_fits(const struct fr_json *outcome, struct fr_text *html) {
    struct fr_json memory = fr_json_member(outcome, "memory_B"),
                   feasible = fr_json_member(outcome, "feasible");
    const struct fr_fits f = {.memory_B = fr_json_number_at(outcome, "device_memory_B"),
                              .needed_B = fr_json_number_at(&memory, "needed"),
                              .needed_low_B = fr_json_number_at(outcome, "memory_needed_low_B"),
                              .needed_high_B =
                                  fr_json_number_at(outcome, "memory_needed_high_B"),
                              .probability = fr_json_number_at(outcome, "fits")};
    char line[FR_FITS_LINE];
    if (isfinite(f.needed_B) && isfinite(f.probability))
        fr_html_addf(html, "It {b %s}", fr_fits_line(&f, line));
    else
        fr_html_addf(html, "Its memory is %s",
                     fr_json_present(&feasible) ? "not compared with a device's" : "not known");
}

/* Print the largest part of the step. */
static void put_largest(const struct fr_json *outcome, struct fr_text *html) {
    struct fr_json parts = fr_json_member(outcome, "breakdown_s");
    const char *largest = "";
    double most = 0, whole = fr_json_number_at(outcome, "iteration_time_s");
    for (const char *key = fr_json_key_after(&parts, NULL); key;
         key = fr_json_key_after(&parts, key))
        if (fr_json_number_at(&parts, key) > most)
            most = fr_json_number_at(&parts, key), largest = key;
    if (!(most > 0) || !(whole > 0)) return;
    fr_html_addf(html, "; %.0f %% of the step is ", 100 * most / whole);
    fr_page_put_words(largest, html);
}

/* How sure, and what would change it. */
static void put_sure(const struct fr_json *root, struct fr_text *html) {
    struct fr_json outcome = fr_page_plan_of(root), odds = fr_json_member(root, "answers"),
                   first = fr_json_element(&odds, 0),
                   crossovers = fr_json_member(root, "switches"),
                   crossover = fr_json_element(&crossovers, 0),
                   explain = fr_json_member(root, "explain"),
                   what_if = fr_json_member(&explain, "what_if_s");
    fr_html_addf(html, "{p");
    put_fits(&outcome, html);
    if (isfinite(fr_json_number_at(&first, "probability_best")))
        fr_html_addf(html, "; it is the fastest of the answers with %s",
                     percent(&first, "probability_best").text);
    put_largest(&outcome, html);
    if (isfinite(fr_json_number_at(&crossover, "rate_B_per_s")))
        fr_html_addf(html, "; another plan is better with %s links %s %s",
                     fr_json_text_at(&crossover, "level"),
                     fr_json_number_at(&crossover, "factor") < 1 ? "under" : "over",
                     quantity(&crossover, "rate_B_per_s", FR_QUANTITY_RATE).text);
    else if (isfinite(fr_json_number_at(&what_if, "network_x2")))
        fr_html_addf(html, "; a network twice as fast makes it %s",
                     seconds(&what_if, "network_x2").text);
    fr_html_addf(html, ".{/p}\n");
}

/* Why a plan cannot run, or, of a search, why most of them cannot. */
static void put_refusal(const struct fr_json *root, const struct fr_json *outcome,
                        struct fr_text *html) {
    struct fr_json reasons = fr_json_member(outcome, "reasons"),
                   reason = fr_json_element(&reasons, 0),
                   of_search = fr_json_member(root, "infeasible_reasons"),
                   most = fr_json_element(&of_search, 0);
    const char *word = fr_json_text_at(&most, "explanation");
    bool searched = fr_json_is_array(&of_search);
    if (!searched && fr_json_is_string(&reason)) fr_json_text(&reason, &word, NULL);
    fr_html_addf(html, "{p {b %s cannot run}%s%s.}\n", searched ? "The plans" : "This plan",
                 *word ? ": " : "", word);
}

static void put_plans(const struct fr_json *root, const char *kind, struct fr_text *html) {
    struct fr_json outcome = fr_page_plan_of(root);
    bool feasible = true, priced = fr_json_number_at(&outcome, "iteration_time_s") > 0;
    fr_json_get_bool(&outcome, "feasible", false, &feasible, NULL);
    if (outcome.value == root->value && strcmp(kind, "search") == 0) feasible = priced = false;
    put_setting(root, html);
    fr_html_addf(html, "{div.answer\n");
    if (!feasible || !priced) put_refusal(root, &outcome, html);
    if (feasible && priced) {
        put_plan(root, kind, html);
        put_cost(root, html);
    }
    if (priced) put_sure(root, html);
    fr_html_addf(html, "{/div}\n");
}

static void put_chosen(const struct fr_json *root, struct fr_text *html) {
    struct fr_json expected = fr_json_member(root, "expected"),
                   included = fr_json_member(root, "included");
    if (isfinite(fr_json_number_at(&expected, "iteration_time_s")))
        fr_html_addf(html,
                     "{p.note Expect %s a step once it runs (%s to %s): the best of "
                     "many predictions is %s too good on average.}\n",
                     seconds(&expected, "iteration_time_s").text,
                     seconds(&expected, "low_s").text, seconds(&expected, "high_s").text,
                     percent(&expected, "selection_share").text);
    if (isfinite(fr_json_number_at(root, "trying_three_gain")))
        fr_html_addf(html,
                     "{p.note Trying the first answers and keeping the fastest gains "
                     "%s on average.}\n",
                     percent(root, "trying_three_gain").text);
    for (int64_t i = 0; i < fr_json_array_length(&included); i++) {
        struct fr_json plan = fr_json_element(&included, i);
        if (*fr_json_text_at(&plan, "says"))
            fr_html_addf(html, "{p.note Your plan %s: %s.}\n", fr_json_text_at(&plan, "name"),
                         fr_json_text_at(&plan, "says"));
    }
}

static void answer_search(const struct fr_json *root, struct fr_text *html) {
    put_plans(root, "search", html);
    put_chosen(root, html);
}
/* fr_page_each_plan finds the plan of every kind that has one alike. */
static void answer_plan(const struct fr_json *root, struct fr_text *html) {
    put_plans(root, "outcome", html);
}

/* ---- several plans ----------------------------------------------------------------------------- */

/* The one with the least of a number. */
struct least {
    const char *key;
    double value;
    char name[FR_PAGE_NAME];
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
    }
}

static void ask_clusters(const struct fr_json *root, struct fr_text *out) {
    struct fr_json rows = fr_json_member(root, "rows"), first = fr_json_element(&rows, 0);
    fr_text_addf(out, "Which cluster trains %s best?",
                 or_that(fr_json_text_at(&first, "model"), "this model"));
}

static void answer_clusters(const struct fr_json *root, struct fr_text *html) {
    struct fr_json rows = fr_json_member(root, "rows");
    struct least fast = {.key = "iteration_time_s"}, cheap = {.key = "price"},
                 clean = {.key = "carbon_kg"}, energy = {.key = "iteration_energy_J"};
    struct shown time = {""}, joules = {""};
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
        fr_html_addf(html, "{p Cheapest: {b %s}, %s for the training.}\n", cheap.name,
                     count(cheap.value).text);
    if (isfinite(clean.value))
        fr_html_addf(html, "{p Least CO2: {b %s}, %s t.}\n", clean.name,
                     count(clean.value / 1000).text);
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
                     best, seconds(&outcome, "iteration_time_s").text,
                     seconds(&outcome, "iteration_time_low_s").text,
                     seconds(&outcome, "iteration_time_high_s").text);
        put_fits(&outcome, html);
        fr_html_addf(html, ".{/p}\n{p It is the fastest of these with %s.}\n",
                     percent(&row, "probability_best").text);
    }
    if (!*best) fr_html_addf(html, "{p {b None of them can run.}}\n");
    fr_html_addf(html, "{/div}\n");
}

static void ask_runtimes(const struct fr_json *root, struct fr_text *out) {
    struct fr_json list = fr_json_member(root, "comparisons"),
                   first = fr_json_element(&list, 0);
    fr_text_addf(out, "Which software trains %s fastest on %s?",
                 or_that(fr_json_text_at(&first, "model"), "this model"),
                 or_that(fr_json_text_at(&first, "cluster"), "this cluster"));
}

static void answer_runtimes(const struct fr_json *root, struct fr_text *html) {
    struct fr_json list = fr_json_member(root, "comparisons");
    fr_html_addf(html, "{div.answer\n");
    for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
        struct fr_json one = fr_json_element(&list, i), rows = fr_json_member(&one, "rows");
        struct least fast = {.key = "iteration_time_s"};
        struct shown time = {""};
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
                 or_that(fr_json_text_at(root, "cluster"), "the clusters of these runs"));
}

static void answer_score(const struct fr_json *root, struct fr_text *html) {
    struct fr_json rows = fr_json_member(root, "rows");
    double order = fr_json_number_at(root, "rank_correlation");
    if (isnan(order)) order = fr_json_number_at(root, "kendall_tau");
    fr_html_addf(html,
                 "{div.answer\n{p Over %s runs the median error is {b %s}; nine "
                 "in ten runs are within %s.}\n",
                 count((double)fr_json_array_length(&rows)).text,
                 percent(root, "median_error").text, percent(root, "p90_error").text);
    fr_html_addf(html, "{p The 90 %% intervals hold %s of the measured times.}\n",
                 percent(root, "coverage").text);
    fr_html_addf(html,
                 "{p Predicted and measured order agree with a rank correlation "
                 "of %s; choosing by prediction costs at most %s.}\n{/div}\n",
                 count(order).text, percent(root, "regret_worst").text);
}

static void ask_reproduce(const struct fr_json *root, struct fr_text *out) {
    fr_text_addf(out, "How close are our numbers to those of %s?",
                 or_that(fr_json_text_at(root, "title"), "the papers"));
}

static void answer_reproduce(const struct fr_json *root, struct fr_text *html) {
    struct fr_json rows = fr_json_member(root, "rows");
    int64_t holds = 0, judged = 0;
    for (int64_t i = 0; i < fr_json_array_length(&rows); i++) {
        struct fr_json row = fr_json_element(&rows, i);
        bool yes = false;
        if (fr_json_get_bool(&row, "holds", true, &yes, NULL) != FR_OK) continue;
        judged++, holds += yes;
    }
    fr_html_addf(html,
                 "{div.answer {p %d of %d rows that are judged hold; each stands "
                 "below with the published value beside ours.}}\n",
                 (int)holds, (int)judged);
}

/* ---- single numbers ---------------------------------------------------------------------------- */

static void ask_gemm(const struct fr_json *root, struct fr_text *out) {
    fr_text_addf(out, "How long does a %.0f x %.0f x %.0f product take in %s?",
                 fr_json_number_at(root, "m"), fr_json_number_at(root, "n"),
                 fr_json_number_at(root, "k"), fr_json_text_at(root, "dtype"));
}

static void answer_gemm(const struct fr_json *root, struct fr_text *html) {
    fr_html_addf(html, "{div.answer {p {b %s} (%s to %s with 90 %%), %s.}}\n",
                 seconds(root, "time_s").text, seconds(root, "low_s").text,
                 seconds(root, "high_s").text,
                 quantity(root, "rate_flop_per_s", FR_QUANTITY_WORK_RATE).text);
}

static void ask_collective(const struct fr_json *root, struct fr_text *out) {
    fr_text_addf(out, "How long does %s take on %s ranks?",
                 or_that(fr_json_text_at(root, "op"), "this collective"),
                 number(root, "ranks").text);
}

static void answer_collective(const struct fr_json *root, struct fr_text *html) {
    struct fr_json rows = fr_json_member(root, "rows"), first = fr_json_element(&rows, 0),
                   last = fr_json_element(&rows, fr_json_array_length(&rows) - 1);
    fr_html_addf(
        html,
        "{div.answer {p From {b %s} for %s to {b %s} for %s, with a bus "
        "bandwidth of %s.}}\n",
        seconds(&first, "time_s").text, quantity(&first, "size_B", FR_QUANTITY_SIZE).text,
        seconds(&last, "time_s").text, quantity(&last, "size_B", FR_QUANTITY_SIZE).text,
        quantity(&last, "busbw_B_per_s", FR_QUANTITY_RATE).text);
}

/* ---- by kind ----------------------------------------------------------------------------------- */

static const struct {
    const char *kind;
    void (*ask)(const struct fr_json *root, struct fr_text *out);
    void (*answer)(const struct fr_json *root, struct fr_text *html);
} openings[] = {{"search", ask_search, answer_search},
                {"outcome", ask_plan, answer_plan},
                {"explain", ask_plan, answer_plan},
                {"training", ask_plan, answer_plan},
                {"simulation", ask_plan, answer_plan},
                {"clusters", ask_clusters, answer_clusters},
                {"compare-plans", ask_plans, answer_plans},
                {"compare-runtimes", ask_runtimes, answer_runtimes},
                {"score", ask_score, answer_score},
                {"validate", ask_score, answer_score},
                {"reproduce", ask_reproduce, answer_reproduce},
                {"gemm", ask_gemm, answer_gemm},
                {"collective", ask_collective, answer_collective}};
enum { OPENINGS = sizeof openings / sizeof *openings };

void fr_page_question(const struct fr_json *root, const char *kind, struct fr_text *out) {
    for (int i = 0; i < OPENINGS; i++)
        if (strcmp(openings[i].kind, kind) == 0) {
            openings[i].ask(root, out);
            return;
        }
    fr_text_addf(out, "What did forerun %s find?", or_that(kind, "report"));
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
                     count((double)fr_json_array_length(&rows)).text);
}
