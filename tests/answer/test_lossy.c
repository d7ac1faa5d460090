/* Quality in the choice: a lossy plan is chosen where its gain is more than noise, the best exact one otherwise.  Laws of
 * growth move it as their interval says.  The first place is the only one that changes. */
#include "answer/search/choice/lossy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "search/break_even.h"
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
    static const fr_objective objectives[] = {FR_OBJECTIVE_TIME, FR_OBJECTIVE_ENERGY};
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        const size_t c = i / 2;
        struct fr_searched r;
        double gain, deviation;
        search(cases[c].ratio, cases[c].deviation, "1GB/s", objectives[i % 2], &r);
        FR_TRUE(fr_outcome_is_exact(first(&r)) == !cases[c].lossy, "case %zu", i);
        FR_NEAR(r.result.best_exact.outcome.iterations, 230000, 0);
        for (size_t k = 0; k < r.result.top.count; k++) {
            const struct fr_outcome *out = &r.result.top.items[k].outcome;
            if (fr_outcome_is_exact(out)) continue;
            /* compression is not taken to speed learning up */
            FR_NEAR(out->iterations, 230000 * fmax(1, cases[c].ratio), 1e-12);
            FR_NEAR(out->iterations_deviation, cases[c].deviation, 1e-9);
            if (i % 2 == 0) /* odds are of times */
                FR_TRUE((out->wins > 0.5) ==
                            (out->break_even_iterations > fmax(1, cases[c].ratio)),
                        "case %zu: %g at %g", i, out->wins, out->break_even_iterations);
        }
        if (!fr_outcome_is_exact(predicted_best(&r))) {
            gain_and_noise(&r, &gain, &deviation);
            FR_TRUE(deviation >= cases[c].deviation, "%g", deviation);
        }
        fr_searched_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_beats_lossy_within_noise),
                                       cmocka_unit_test(the_choice_follows_the_interval)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
