/* Runtimes side by side: one plan has one price, whoever asks, and the facts that a gain is made of add up to it. */
#include <math.h>
#include <stdlib.h>

#include "answer/predict/predict.h"
#include "answer/upgrade/upgrade.h"
#include "models/job/preset.h"
#include "tests/drawn_plans.h"

enum { RUNTIMES_MAX = 64 };

static const char *runtimes[RUNTIMES_MAX];
static int n_runtimes;

static int find_runtimes(void **state) {
    (void)state;
    for (const struct fr_preset *p = fr_presets; p->name; p++)
        if (strcmp(p->kind, "runtime") == 0 && n_runtimes < RUNTIMES_MAX)
            runtimes[n_runtimes++] = p->name;
    return n_runtimes < 10;
}

/* As forerun predict --runtime prices it; NaN: it is no plan. */
static double predicted_s(const struct fr_job_names *names, const char *runtime) {
    struct fr_job_names with = *names;
    struct fr_job job;
    struct fr_outcome out = {.time_s = NAN};
    struct fr_error err = {0};
    with.runtime = runtime;
    if (fr_job_load(&with, &job, &err) == FR_OK)
        assert_int_equal(fr_predict(&job, FR_ENGINE_CLOSED, &out, &err), FR_OK);
    fr_job_free(&job);
    return out.time_s;
}

/* From the first's time to the row's, without a gap, to the last bit. */
static void adds_up(const struct fr_upgrade *u, int i, const char *of) {
    const struct fr_upgrade_row *row = &u->row[i];
    double at_s = u->row[0].time_s, saved_s = 0, parts_s = 0;
    for (int k = 0; k < row->n_steps; k++) {
        const struct fr_upgrade_step *step = &row->step[k];
        FR_TRUE(step->before_s == at_s && *step->key, "%s, %s: %s begins at %.17g, not %.17g",
                of, row->runtime, step->key, step->before_s, at_s);
        at_s = step->after_s;
        saved_s += step->before_s - step->after_s;
    }
    FR_TRUE(at_s == row->time_s, "%s, %s: %.17g, not %.17g", of, row->runtime, at_s,
            row->time_s);
    FR_TRUE(fabs(saved_s - (u->row[0].time_s - row->time_s)) <= 1e-12 * u->row[0].time_s, "%s",
            of);
    for (int p = 0; p <= FR_PART_COUNT; p++)
        parts_s += fr_upgrade_part_s(u, 0, p) - fr_upgrade_part_s(u, i, p);
    FR_TRUE(fabs(parts_s - saved_s) <= 1e-9 * u->row[0].time_s, "%s: %g, %g", of, parts_s,
            saved_s);
}

/* How many of their gains were not nothing. */
static int compare(const struct fr_job_names *names, const char *const *of, int n,
                   const char *word) {
    const struct fr_upgrade_asked asked = {.of.names = *names};
    struct fr_upgrade u = {.cluster = names->cluster, .model = names->model, .n = n};
    struct fr_error err = {0};
    int gains = 0;
    for (int i = 0; i < n; i++) u.row[i].runtime = of[i];
    if (fr_upgrade_make(&asked, &u, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    for (int i = 0; i < n; i++) {
        double wanted_s = predicted_s(names, of[i]);
        FR_TRUE(u.row[i].time_s == wanted_s || (isnan(wanted_s) && isnan(u.row[i].time_s)),
                "%s, %s: %.17g, not %.17g", word, of[i], u.row[i].time_s, wanted_s);
        if (i == 0 || isnan(wanted_s) || isnan(u.row[0].time_s)) continue;
        adds_up(&u, i, word);
        gains += u.row[i].n_steps > 0;
        if (strcmp(of[i], of[0]) == 0) assert_int_equal(u.row[i].n_steps, 0);
    }
    fr_upgrade_free(&u);
    return gains;
}

static void random_plans_and_runtimes(void **state) {
    const int draws = fr_sample(60, 20);
    uint64_t dice = 0x9e3779b97f4a7c15;
    int compared = 0, gains = 0;
    (void)state;
    for (int d = 0; d < draws; d++) {
        const char *sets[DRAWN_WORDS], *of[3];
        struct drawn w;
        size_t start;
        drawn_plan(&dice, &w, &start);
        const struct fr_job_names names = {.cluster = drawn_starts[start].cluster,
                                           .model = drawn_starts[start].model,
                                           .sets = sets,
                                           .n_sets = w.n};
        for (int i = 0; i < w.n; i++) sets[i] = w.word[i];
        for (int i = 0; i < 3; i++)
            of[i] = runtimes[fr_test_random(&dice, (uint64_t)n_runtimes)];
        if (isnan(predicted_s(&names, of[0]))) continue;
        if (isnan(predicted_s(&names, of[1])) || isnan(predicted_s(&names, of[2]))) continue;
        gains += compare(&names, of, 3, w.word[0]);
        compared++;
    }
    FR_TRUE(compared > draws / 3 && gains > compared / 2, "%d, %d", compared, gains);
}

/* A plan that leaves everything open, from each runtime to the next. */
static void all_runtimes_of_an_open_plan(void **state) {
    static const struct {
        const char *cluster, *model, *sets[4];
    } of[] = {{"dgx-h100", "mixtral-8x7b", {"tp=1", "dp=8", "ep=8", "global_batch=64"}},
              {"dgx-b200", "llama-3-8b", {"tp=2", "dp=4", "pp=1", "model.dtype=fp8"}}};
    (void)state;
    for (size_t m = 0; m < sizeof of / sizeof *of; m++)
        for (int i = 0; i < n_runtimes; i++) {
            const char *const pair[] = {runtimes[i], runtimes[(i + 7) % n_runtimes]};
            const struct fr_job_names names = {.cluster = of[m].cluster,
                                               .model = of[m].model,
                                               .sets = of[m].sets,
                                               .n_sets = 4};
            compare(&names, pair, 2, pair[0]);
        }
}

/* A value of --set runtime.KEY holds with each of them, and is no difference between them. */
static void facts_that_are_set_are_no_gain(void **state) {
    static const char *const sets[] = {"tp=1", "dp=8", "runtime.host_launch=9us",
                                       "runtime.attention.flash=0.5"};
    static const char *const of[] = {"nemo-24.03", "megatron-bridge-26.04"};
    const struct fr_upgrade_asked asked = {.of.names = {.sets = sets, .n_sets = 4}};
    struct fr_upgrade u = {.cluster = "dgx-h100",
                           .model = "llama-3-8b",
                           .row = {{.runtime = of[0]}, {.runtime = of[1]}},
                           .n = 2};
    struct fr_error err = {0};
    (void)state;
    assert_int_equal(fr_upgrade_make(&asked, &u, &err), FR_OK);
    for (int k = 0; k < u.row[1].n_steps; k++)
        for (int s = 2; s < 4; s++)
            FR_TRUE(strncmp(u.row[1].step[k].key, sets[s] + 8, strlen(u.row[1].step[k].key)) !=
                        0,
                    "%s", u.row[1].step[k].key);
    adds_up(&u, 1, "set");
    fr_upgrade_free(&u);
}

/* The best plan of each: as a search with that runtime finds it, and a step from plan to plan. */
static void searches_of_their_own(void **state) {
    static const char *const vary[] = {"tp=1,2,4,8", "micro_batch=1,2", "zero=0,1"},
                             *const sets[] = {"global_batch=64"},
                             *const of[] = {"papers-2019", "nemo-25.04",
                                            "megatron-bridge-26.04"};
    const struct fr_upgrade_asked asked = {
        .of = {.names = {.sets = sets, .n_sets = 1},
               .ranks = "16",
               .vary = vary,
               .n_vary = 3,
               .options = {.top = 10, .max_lossy = 1, .per_iteration = true, .threads = 1}},
        .search = true};
    struct fr_upgrade u = {.cluster = "dgx-h100", .model = "mixtral-8x7b", .n = 3};
    struct fr_error err = {0};
    (void)state;
    for (int i = 0; i < 3; i++) u.row[i].runtime = of[i];
    assert_int_equal(fr_upgrade_make(&asked, &u, &err), FR_OK);
    for (int i = 0; i < 3; i++) {
        struct fr_job_names names = asked.of.names;
        struct fr_searched *s = calloc(1, sizeof *s);
        names.cluster = u.cluster;
        names.model = u.model;
        names.runtime = of[i];
        s->options = asked.of.options;
        assert_int_equal(fr_job_load(&names, &s->job, &err), FR_OK);
        assert_int_equal(fr_searched_make("16", vary, 3, &names, s, &err), FR_OK);
        FR_TRUE(s->result.top.items[0].outcome.time_s == u.row[i].time_s, "%s", of[i]);
        if (i > 0) adds_up(&u, i, of[i]);
        fr_searched_free(s);
        free(s);
    }
    fr_upgrade_free(&u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_plans_and_runtimes),
        cmocka_unit_test(all_runtimes_of_an_open_plan),
        cmocka_unit_test(facts_that_are_set_are_no_gain),
        cmocka_unit_test(searches_of_their_own),
    };
    return cmocka_run_group_tests(tests, find_runtimes, NULL);
}
