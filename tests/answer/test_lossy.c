/* Quality in the choice: a lossy plan is chosen where its gain is more than noise, the best exact one otherwise.  Laws of
 * growth move it as their interval says.  The first place is the only one that changes. */
#include "answer/search/choice/lossy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/page/result.h"
#include "answer/predict/explain.h"
#include "answer/search/search_brief.h"
#include "answer/text/even.h"
#include "base/alloc.h"
#include "search/break_even.h"
#include "search/crossover.h"
#include "tests/cmocka.h"
#include "trust/interval.h"

/* Iterations of gpt-2.5b by trainings of a tiny one: @p ratio times as many, give or take @p deviation. */
static void search(double ratio, double deviation, const char *bandwidth,
                   fr_objective objective, struct fr_searched *r) {
    char law[700], rate[64];
    const char *const sets[] = {"tp=8", "pp=4", "micro_batch=8",      "recompute=full",
                                rate,   law,    "model.defaults=2019"};
    static const char *const vary[] = {"compression.gradient.stages=0..4"};
    const char *all[8];
    int n = 0;
    snprintf(rate, sizeof rate, "cluster.levels.1.bandwidth=%s", bandwidth);
    snprintf(law, sizeof law,
             "model.iterations={\"source\": \"made up\", \"width\": 32, \"layers\": 4, "
             "\"global_batch\": 16, \"reference\": 230000, \"growth\": [{\"of\": \"gradient\", "
             "\"terms\": [], \"ratio\": %.17g, \"centre\": [], \"powers\": [], "
             "\"covariance\": [[%.17g]], \"deviation\": 0}], "
             "\"table\": [{\"method\": \"tensor\", \"iterations\": 120}]}",
             ratio > 0 ? ratio : 1, deviation * deviation);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (ratio > 0 || sets[i] != law) all[n++] = sets[i];
    const struct fr_job_names asked = {
        .cluster = "a100-hdr", .model = "gpt-2.5b", .sets = all, .n_sets = n};
    struct fr_error err = {.status = FR_OK};
    *r = (struct fr_searched){.options = {.objective = objective,
                                          .total = ratio > 0,
                                          .top = 5,
                                          .max_lossy = 1,
                                          .threads = 1}};
    if (fr_job_load(&asked, &r->job, &err) != FR_OK ||
        fr_searched_make("128", vary, 1, &asked, r, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    assert_true(r->result.top.count == 5 && r->result.best_exact.index >= 0);
}

static const struct fr_outcome *first(const struct fr_searched *r) {
    return &r->result.top.items[0].outcome;
}

/* The best by prediction, and all others in the order of predictions. */
static const struct fr_outcome *predicted_best(const struct fr_searched *r) {
    const struct fr_found_list *top = &r->result.top;
    const size_t from = r->within.chosen ? 1 : 0;
    for (size_t i = from; i + 1 < top->count; i++)
        FR_TRUE(r->result.ranked.items[i].value <= r->result.ranked.items[i + 1].value, "%zu",
                i);
    return r->within.chosen ? &r->within.lossy : first(r);
}

static void gain_and_noise(struct fr_searched *r, double *gain, double *deviation) {
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    fr_interval_known(&r->job.cluster, r->job.workload.dtype, known);
    assert_true(fr_lossy_against(r, known, &r->result.best_exact.outcome, predicted_best(r),
                                 gain, deviation));
    free(known);
}

/* Over links from slow to fast, the exact plan comes first exactly where the gain is noise. */
static void exact_beats_lossy_within_noise(void **state) {
    static const char *const rates[] = {"1GB/s", "4GB/s", "12GB/s", "25GB/s", "100GB/s"};
    int exact = 0, lossy = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct fr_searched r;
        double gain, deviation;
        search(0, 0, rates[i], FR_OBJECTIVE_TIME, &r);
        if (fr_outcome_is_exact(predicted_best(&r))) {
            assert_true(!r.within.chosen);
            exact++;
        } else {
            gain_and_noise(&r, &gain, &deviation);
            FR_TRUE(r.within.chosen == (gain <= deviation), "%s: %g, %g", rates[i], gain,
                    deviation);
            FR_TRUE(fr_outcome_is_exact(first(&r)) == r.within.chosen, "%s", rates[i]);
            *(r.within.chosen ? &exact : &lossy) += 1;
        }
        fr_searched_free(&r);
    }
    FR_TRUE(exact > 0 && lossy > 0, "%d exact, %d lossy", exact, lossy);
}

/* The same plans: surely little harm, unsure, surely much. */
static void the_choice_follows_the_interval(void **state) {
    static const struct {
        double ratio, deviation;
        bool lossy;
    } cases[] = {
        {1.02, 0.001, true}, {1.02, 1.0, false}, {1.6, 0.001, false}, {0.7, 1.0, false}};
    static const fr_objective objectives[] = {FR_OBJECTIVE_TIME, FR_OBJECTIVE_ENERGY,
                                              FR_OBJECTIVE_EDP};
    (void)state;
    for (size_t i = 0; i < 12; i++) {
        const size_t c = i / 3;
        struct fr_searched r;
        double gain, deviation;
        search(cases[c].ratio, cases[c].deviation, "1GB/s", objectives[i % 3], &r);
        FR_TRUE(fr_outcome_is_exact(first(&r)) == !cases[c].lossy, "case %zu", i);
        FR_NEAR(r.result.best_exact.outcome.iterations, 230000, 0);
        for (size_t k = 0; k < r.result.top.count; k++) {
            const struct fr_outcome *out = &r.result.top.items[k].outcome;
            if (fr_outcome_is_exact(out)) continue;
            /* compression is not taken to speed learning up */
            FR_NEAR(out->iterations, 230000 * fmax(1, cases[c].ratio), 1e-12);
            FR_NEAR(out->iterations_deviation, cases[c].deviation, 1e-9);
            FR_TRUE((out->wins > 0.5) == (out->break_even_iterations > fmax(1, cases[c].ratio)),
                    "case %zu: %g at %g", i, out->wins, out->break_even_iterations);
        }
        if (!fr_outcome_is_exact(predicted_best(&r))) {
            gain_and_noise(&r, &gain, &deviation);
            /* of energy times time both are off by the iterations */
            FR_TRUE(deviation >= (i % 3 == 2 ? 2 : 1) * cases[c].deviation, "%g", deviation);
        }
        fr_searched_free(&r);
    }
}

/* Other choices are asked for as the choice was made: with enough noise never a lossy plan, and the more of it,
 * the further away is the rate at which one is. */
static void other_choices_count_noise(void **state) {
    static const double noise[] = {0, 0.02, 0.05, 0.1, 10};
    enum { N = sizeof noise / sizeof *noise };
    double before = 0;
    struct fr_searched r;
    (void)state;
    search(0, 0, "100GB/s", FR_OBJECTIVE_TIME, &r);
    assert_true(fr_outcome_is_exact(first(&r)) && r.options.noise > 0);
    for (int i = 0; i < N; i++) {
        struct fr_crossover s[FR_CROSSOVERS_MAX];
        double nearest = INFINITY;
        r.options.noise = noise[i];
        int n = fr_crossovers_find(&r.job, &r.space, &r.options, &r.result, s);
        for (int k = 0; k < n; k++)
            if (!fr_outcome_is_exact(&s[k].to)) nearest = fmin(nearest, fabs(log(s[k].factor)));
        FR_TRUE(nearest >= before, "noise %g: %g, less had %g", noise[i], nearest, before);
        assert_true((i == 0) <= isfinite(nearest) && (i == N - 1) <= isinf(nearest));
        before = nearest;
        for (int which = 0; which < FR_SCENARIOS; which++) {
            struct fr_found best;
            bool found;
            assert_int_equal(
                fr_explain_best_if(&r.job, &r.space, &r.options, which, &best, &found, NULL),
                FR_OK);
            assert_true(found && (i < N - 1 || fr_outcome_is_exact(&best.outcome)));
        }
    }
    fr_searched_free(&r);
}

/* The page of a search says first what its best plan has to prove, or why it is exact; and it draws the break-evens. */
static void pages_say_what_decides(void **state) {
    static const struct {
        double ratio, deviation;
        const char *bandwidth;
    } cases[] = {{0, 0, "1GB/s"}, {1.02, 1, "1GB/s"}, {0, 0, "100GB/s"}};
    bool seen[2] = {false};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_json_document *document = NULL;
        struct fr_page page = {.gaps = 0};
        struct fr_text json = {0}, number = {0};
        char ratio[32];
        struct fr_searched r;
        search(cases[i].ratio, cases[i].deviation, cases[i].bandwidth, FR_OBJECTIVE_TIME, &r);
        assert_int_equal(fr_searched_json(&json, &r, NULL, NULL), FR_OK);
        assert_int_equal(fr_json_parse(json.data, json.length, "s", &document, NULL), FR_OK);
        struct fr_json root = fr_json_root(document);
        fr_result_sections(&page, &root);
        const char *html = fr_text_get(&page.html);
        const bool exact = fr_outcome_is_exact(first(&r));
        seen[exact] |= exact == r.within.chosen; /* or the first by prediction is exact */
        if (!exact)
            fr_text_addf(&number, "less than <b>%s</b> times",
                         fr_even_number(first(&r)->break_even_iterations, ratio, sizeof ratio));
        FR_TRUE(!!strstr(html, "It loses information.") == !exact &&
                    !!strstr(html, "It loses no information.") == r.within.chosen,
                "%.900s", html);
        FR_TRUE(exact || strstr(html, fr_text_get(&number)), "%s: %.900s", fr_text_get(&number),
                html);
        fr_page_free(&page);
        fr_json_free(document);
        fr_text_free(&json);
        fr_text_free(&number);
        fr_searched_free(&r);
    }
    assert_true(seen[0] && seen[1]);
}

/* A ratio that is not 1 is not printed as 1, and rounding keeps its side. */
static void ratios_keep_their_side(void **state) {
    static const double ratios[] = {0.99, 0.9951, 0.9996, 1.0003, 1.004, 1.0049, 1.0051, 1.42};
    (void)state;
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        const struct fr_outcome out = {.break_even_iterations = ratios[i]};
        char cell[40];
        const double printed = strtod(fr_even_cell(&out, cell, sizeof cell), NULL);
        FR_TRUE(printed != 1 && (printed > 1) == (ratios[i] > 1), "%g: %s", ratios[i], cell);
        FR_NEAR(printed, ratios[i], 5e-3);
    }
}

/* Nobody said how many iterations any plan needs: that is why none is ranked, whatever does not fit besides. */
static void unknown_iterations_are_the_reason(void **state) {
    static const char *const sets[] = {"pp=4", "tp=8", "model.defaults=2019"},
                             *const vary[] = {"micro_batch=1,8,128",
                                              "compression.gradient.stages=0,1"};
    const struct fr_job_names asked = {
        .cluster = "a100-hdr", .model = "gpt-2.5b", .sets = sets, .n_sets = 3};
    struct fr_searched r = {.options = {.total = true, .top = 5, .max_lossy = 1}};
    struct fr_error err = {.status = FR_OK};
    (void)state;
    if (fr_job_load(&asked, &r.job, &err) != FR_OK ||
        fr_searched_make("128", vary, 2, &asked, &r, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    assert_true(r.result.top.count == 0 && r.result.because[FR_REASON_MEMORY] > 0);
    assert_int_equal(fr_searched_main_reason(&r), FR_REASON_ITERATIONS);
    fr_searched_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_beats_lossy_within_noise),
                                       cmocka_unit_test(the_choice_follows_the_interval),
                                       cmocka_unit_test(other_choices_count_noise),
                                       cmocka_unit_test(pages_say_what_decides),
                                       cmocka_unit_test(ratios_keep_their_side),
                                       cmocka_unit_test(unknown_iterations_are_the_reason)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
