/* How a page of one plan opens, and of a search, whose answer is one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/page/opening_plan.h"
#include "answer/page/phrase.h"
#include "answer/page/plans.h"
#include "answer/page/words.h"
#include "answer/text/even.h"
#include "models/outcome/fits/fits.h"
#include "plots/html.h"

static const char *provenance(const struct fr_json *outcome, const char *key,
                              const char *otherwise) {
    struct fr_json from = fr_json_member(outcome, "provenance");
    return fr_phrase_or(fr_json_text_at(&from, key), otherwise);
}

void fr_opening_ask_search(const struct fr_json *root, struct fr_text *out) {
    struct fr_json best = fr_json_member(root, "best");
    const char *objective = fr_json_text_at(root, "objective");
    bool fastest = !*objective || strstr(objective, "time");
    fr_text_addf(
        out, "Which plan trains %s %s on %s ranks of %s?",
        provenance(&best, "model", "this model"), fastest ? "fastest" : "with least energy",
        fr_phrase_number(&best, "ranks").text, provenance(&best, "cluster", "this cluster"));
}

void fr_opening_ask_plan(const struct fr_json *root, struct fr_text *out) {
    struct fr_json outcome = fr_page_plan_of(root);
    fr_text_addf(out, "What does training %s take on %s ranks of %s with this plan?",
                 provenance(&outcome, "model", "this model"),
                 fr_phrase_number(&outcome, "ranks").text,
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
    fr_html_addf(html, "{p.note %s", fr_phrase_count(batch).text);
    if (sequence > 0)
        fr_html_addf(html, " sequences of %s tokens a step", fr_phrase_count(sequence).text);
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

void fr_opening_interval(const struct fr_json *outcome, const char *low, const char *high,
                         struct fr_text *html) {
    if (isfinite(fr_json_number_at(outcome, low)))
        fr_html_addf(html, " (%s to %s with 90 %%)", fr_phrase_seconds(outcome, low).text,
                     fr_phrase_seconds(outcome, high).text);
}

static void put_plan(const struct fr_json *root, const char *kind, struct fr_text *html) {
    struct fr_json outcome = fr_page_plan_of(root);
    char name[FR_PAGE_NAME] = "";
    fr_page_each_plan(root, kind, keep_first, name);
    fr_html_addf(html, "{p {b %s} takes {b %s} a step", fr_phrase_or(name, "This plan"),
                 fr_phrase_seconds(&outcome, "iteration_time_s").text);
    fr_opening_interval(&outcome, "iteration_time_low_s", "iteration_time_high_s", html);
    if (isfinite(fr_json_number_at(&outcome, "tokens_per_s_per_device")))
        fr_html_addf(html, ", %s tokens/s a GPU, MFU %s",
                     fr_phrase_number(&outcome, "tokens_per_s_per_device").text,
                     fr_phrase_percent(&outcome, "mfu").text);
    fr_html_addf(html, ".{/p}\n");
}

/* How many iterations a lossy plan may need, or why an exact one comes first. */
static void put_even(const struct fr_json *root, struct fr_text *html) {
    struct fr_json outcome = fr_page_plan_of(root),
                   noise = fr_json_member(root, "within_noise");
    const double even = fr_json_number_at(&outcome, "break_even_iterations");
    char number[32];
    if (even > 0)
        fr_html_addf(html,
                     "{p It loses information. It wins if it needs less than {b %s} times the "
                     "iterations of the %s.}\n",
                     fr_even_number(even, number, sizeof number),
                     fr_phrase_or(fr_json_text_at(&outcome, "break_even_against"),
                                  "same plan without loss"));
    if (fr_json_is_object(&noise))
        fr_html_addf(html,
                     "{p It loses no information. The best lossy plan needs %s less, but %s is "
                     "noise: it is better with %s.}\n",
                     fr_phrase_percent(&noise, "gain").text,
                     fr_phrase_percent(&noise, "noise").text,
                     fr_phrase_percent(&noise, "probability_wins").text);
}

static void put_cost(const struct fr_json *root, struct fr_text *html) {
    struct fr_json t = fr_json_member(root, "training"), outcome = fr_page_plan_of(root);
    double day_s = 86400, low_s = fr_json_number_at(&t, "time_low_s");
    char amount[32];
    if (!fr_json_is_object(&t)) {
        fr_html_addf(
            html,
            "{p A step takes %s; the sliders below turn it into days, money "
            "and CO2 of a whole training.}\n",
            fr_phrase_quantity(&outcome, "iteration_energy_J", FR_QUANTITY_ENERGY).text);
        return;
    }
    bool tokens = fr_json_number_at(&t, "tokens") > 0;
    fr_html_addf(html, "{p %s %s take {b %s days}",
                 fr_page_amount(fr_json_number_at(&t, tokens ? "tokens" : "samples"), amount),
                 tokens ? "tokens" : "samples", fr_phrase_number(&t, "days").text);
    if (isfinite(low_s))
        fr_html_addf(html, " (%s to %s)", fr_phrase_count(low_s / day_s).text,
                     fr_phrase_count(fr_json_number_at(&t, "time_high_s") / day_s).text);
    if (isfinite(fr_json_number_at(&t, "price")))
        fr_html_addf(html, ", {b %s %s}", fr_phrase_number(&t, "price").text,
                     fr_json_text_at(&t, "currency"));
    if (isfinite(fr_json_number_at(&t, "energy_kWh")))
        fr_html_addf(html, ", %s kWh", fr_phrase_number(&t, "energy_kWh").text);
    if (isfinite(fr_json_number_at(&t, "carbon_kg")))
        fr_html_addf(html, " and %s t of CO2",
                     fr_phrase_count(fr_json_number_at(&t, "carbon_kg") / 1000).text);
    fr_html_addf(html, ".{/p}\n");
}

/* "It fits with 98 %: 71 of 80 GiB", from what the document says. */
void fr_opening_fits(const struct fr_json *outcome, struct fr_text *html) {
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
    fr_opening_fits(&outcome, html);
    if (isfinite(fr_json_number_at(&first, "probability_best")))
        fr_html_addf(html, "; it is the fastest of the answers with %s",
                     fr_phrase_percent(&first, "probability_best").text);
    put_largest(&outcome, html);
    if (isfinite(fr_json_number_at(&crossover, "rate_B_per_s")))
        fr_html_addf(html, "; another plan is better with %s links %s %s",
                     fr_json_text_at(&crossover, "level"),
                     fr_json_number_at(&crossover, "factor") < 1 ? "under" : "over",
                     fr_phrase_quantity(&crossover, "rate_B_per_s", FR_QUANTITY_RATE).text);
    else if (isfinite(fr_json_number_at(&what_if, "network_x2")))
        fr_html_addf(html, "; a network twice as fast makes it %s",
                     fr_phrase_seconds(&what_if, "network_x2").text);
    fr_html_addf(html, ".{/p}\n");
}

void fr_opening_refusal(const struct fr_json *root, const struct fr_json *outcome,
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
    if (!feasible || !priced) fr_opening_refusal(root, &outcome, html);
    if (feasible && priced) {
        put_plan(root, kind, html);
        put_even(root, html);
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
                     fr_phrase_seconds(&expected, "iteration_time_s").text,
                     fr_phrase_seconds(&expected, "low_s").text,
                     fr_phrase_seconds(&expected, "high_s").text,
                     fr_phrase_percent(&expected, "selection_share").text);
    if (isfinite(fr_json_number_at(root, "trying_three_gain")))
        fr_html_addf(html,
                     "{p.note Trying the first answers and keeping the fastest gains "
                     "%s on average.}\n",
                     fr_phrase_percent(root, "trying_three_gain").text);
    for (int64_t i = 0; i < fr_json_array_length(&included); i++) {
        struct fr_json plan = fr_json_element(&included, i);
        if (*fr_json_text_at(&plan, "says"))
            fr_html_addf(html, "{p.note Your plan %s: %s.}\n", fr_json_text_at(&plan, "name"),
                         fr_json_text_at(&plan, "says"));
    }
}

void fr_opening_answer_search(const struct fr_json *root, struct fr_text *html) {
    put_plans(root, "search", html);
    put_chosen(root, html);
}
/* fr_page_each_plan finds the plan of every kind that has one alike. */
void fr_opening_answer_plan(const struct fr_json *root, struct fr_text *html) {
    put_plans(root, "outcome", html);
}
