/* Clusters side by side: each row is the search that forerun search makes there, with the price and the
 * carbon of its own cluster; a cluster where nothing fits says so and takes no other's place. */
#include <math.h>
#include <stdlib.h>

#include "answer/clusters/clusters.h"
#include "answer/clusters/clusters_text.h"
#include "answer/outcome/report.h"
#include "tests/job.h"

static const char *const vary[] = {"tp=1,2,4,8", "micro_batch=1,2"};
static const char *const sets[] = {"global_batch=64", "zero=1"};

static struct fr_training training(const char *price) {
    struct fr_training t;
    struct fr_error err = {0};
    const struct fr_training_words words = {
        .tokens = "1T", .price = price, .carbon = "0.4 kg/kWh"};
    if (fr_training_read(&words, &t, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    return t;
}

static const struct fr_searches_asked asked = {
    .ranks = "16",
    .names = {.sets = sets, .n_sets = 2},
    .vary = vary,
    .n_vary = 2,
    .options = {.top = 10, .max_lossy = 1, .per_iteration = true, .threads = 1}};

static void search(struct fr_rivals *r) {
    struct fr_error err = {0};
    if (fr_rivals_search(&asked, r, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
}

/* Against a search of that cluster alone. */
static void alone(const struct fr_rival *rival) {
    struct fr_job_names names = asked.names;
    struct fr_searched *s = calloc(1, sizeof *s);
    struct fr_error err = {0};
    names.cluster = rival->cluster;
    names.model = rival->model;
    s->options = asked.options;
    assert_int_equal(fr_job_load(&names, &s->job, &err), FR_OK);
    assert_int_equal(fr_searched_make(asked.ranks, vary, asked.n_vary, &names, s, &err), FR_OK);
    const struct fr_outcome *best = fr_rival_best(rival),
                            *own = &s->result.top.items[0].outcome;
    assert_true(best->time_s == own->time_s && best->energy_J == own->energy_J);
    assert_true(best->low_s == own->low_s && best->high_s == own->high_s);
    char ours[FR_PLAN_LINE], theirs[FR_PLAN_LINE];
    assert_string_equal(fr_report_outcome_line(best, ours, sizeof ours),
                        fr_report_outcome_line(own, theirs, sizeof theirs));
    fr_searched_free(s);
    free(s);
}

static void each_is_searched_alone(void **state) {
    struct fr_rivals r = {
        .of = {{.cluster = "dgx-h100",
                .model = "llama-3-8b",
                .training = training("2.5 USD/h")},
               {.cluster = "dgx-a100", .model = "llama-3-8b", .training = training("1 EUR/h")}},
        .n = 2};
    (void)state;
    search(&r);
    for (int i = 0; i < 2; i++) alone(&r.of[i]);
    for (int i = 0; i < 2; i++) {
        const struct fr_rival *x = &r.of[i];
        double per_s = (i ? 1 : 2.5) / 3600, device_s = 16 * x->cost.time_s;
        FR_TRUE(fabs(x->cost.price - per_s * device_s) <= 1e-9 * x->cost.price, "%g",
                x->cost.price);
        FR_TRUE(fabs(x->cost.carbon_kg - 0.4 * x->cost.energy_J / 3.6e6) <=
                    1e-9 * x->cost.carbon_kg,
                "%g", x->cost.carbon_kg);
    }
    fr_rivals_free(&r);
}

static int lines_beyond(const char *text, int columns) {
    int n = 0, length = 0;
    for (; *text; text++) {
        length = *text == '\n' ? 0 : length + 1;
        n += length == columns + 1;
    }
    return n;
}

/* gpt3-175b on 16 ranks: 2.8 TB of state.  Currencies that differ have no cheapest. */
static void what_does_not_fit_says_so(void **state) {
    struct fr_rivals r = {
        .of = {{.cluster = "dgx-h100", .model = "gpt3-175b", .training = training("2 USD/h")},
               {.cluster = "dgx-h100", .model = "llama-3-8b", .training = training("1 EUR/h")}},
        .n = 2};
    struct fr_text text = {0}, json = {0};
    (void)state;
    search(&r);
    assert_null(fr_rival_best(&r.of[0]));
    assert_non_null(fr_rival_best(&r.of[1]));
    fr_render_rivals(&text, &r);
    assert_non_null(strstr(text.data, "dgx-h100, gpt3-175b: no plan is feasible"));
    assert_non_null(strstr(text.data, "dgx-h100, llama-3-8b: "));
    assert_null(strstr(text.data, "fastest")); /* two models */
    assert_int_equal(lines_beyond(text.data, 80), 0);
    fr_rivals_json(&json, &r);
    assert_non_null(strstr(json.data, "\"outcome\": null"));
    fr_text_free(&text);
    fr_text_free(&json);
    fr_rivals_free(&r);
}

static void best_of_each_kind(void **state) {
    struct fr_rivals r = {
        .of = {{.cluster = "dgx-h100", .model = "llama-3-8b", .training = training("9 USD/h")},
               {.cluster = "dgx-a100", .model = "llama-3-8b", .training = training("1 USD/h")}},
        .n = 2};
    struct fr_text text = {0};
    (void)state;
    search(&r);
    fr_render_rivals(&text, &r);
    assert_non_null(strstr(text.data, "fastest         dgx-h100; dgx-a100 +"));
    assert_non_null(strstr(text.data, "least money     dgx-a100; dgx-h100 +"));
    assert_int_equal(lines_beyond(text.data, 80), 0);
    fr_text_free(&text);
    fr_rivals_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_searched_alone),
                                       cmocka_unit_test(what_does_not_fit_says_so),
                                       cmocka_unit_test(best_of_each_kind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
