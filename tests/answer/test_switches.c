/* Where the choice changes: on both sides of the rate that is told, priced anew, another plan is best. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/search.h"
#include "search/switch.h"
#include "tests/cmocka.h"

static struct fr_searched searched(const char *cluster, const char *model, const char *ranks,
                                   const char *const *vary, const char *const *sets) {
    struct fr_searched r = {.options = {.per_iteration = true, .top = 5, .max_lossy = 1}};
    struct fr_job_names names = {.cluster = cluster, .model = model, .sets = sets};
    struct fr_error err = {0};
    int n = 0;
    while (vary[n]) n++;
    while (sets && sets[names.n_sets]) names.n_sets++;
    assert_int_equal(fr_job_load(&names, &r.job, &err), FR_OK);
    if (fr_searched_make(ranks, vary, n, &names, &r, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    return r;
}

static double time_at(const struct fr_searched *r, const struct fr_plan *plan, int level,
                      double factor) {
    struct fr_job job = r->job;
    struct fr_outcome out;
    job.cluster.levels.level[level].rate_B_per_s *= factor;
    if (level == job.cluster.levels.count - 1)
        for (int op = 0; op < FR_OP_COUNT; op++) job.cluster.price[op].c2_s_per_B /= factor;
    fr_cost(&job, plan, &out);
    return out.time_s;
}

/* The best of all plans of the space at a factor, by searching again. */
static struct fr_plan best_at(const struct fr_searched *r, int level, double factor,
                              double *time_s) {
    struct fr_job job = r->job;
    struct fr_search_result result;
    job.cluster.levels.level[level].rate_B_per_s *= factor;
    assert_int_equal(fr_search(&job, &r->space, &r->options, &result, NULL), FR_OK);
    struct fr_plan plan = result.top.items[0].outcome.plan;
    *time_s = result.top.items[0].outcome.time_s;
    fr_search_result_free(&result);
    return plan;
}

static void hold(const struct fr_searched *r, bool levels_alone) {
    struct fr_switch s[FR_SWITCHES_MAX];
    const struct fr_plan *best = &r->result.top.items[0].outcome.plan;
    int n = fr_switches_find(&r->job, &r->space, &r->options, &r->result, s), plans = 0;
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        double out = s[i].factor > 1 ? 1.002 : 1 / 1.002, other_s = 0;
        FR_NEAR(s[i].rate_B_per_s,
                s[i].factor * r->job.cluster.levels.level[s[i].level].rate_B_per_s, 1e-12);
        FR_TRUE(time_at(r, &s[i].to.plan, s[i].level, s[i].factor * out) <
                    time_at(r, best, s[i].level, s[i].factor * out),
                "switch %d: not faster beyond", i);
        assert_true(!s[i].method || s[i].to.plan.method != best->method);
        /* On this side of the first switch of its direction today's best is no slower than what follows. */
        if (i == 0 || s[i].level != s[i - 1].level ||
            (s[i].factor > 1) != (s[i - 1].factor > 1))
            FR_TRUE(time_at(r, best, s[i].level, s[i].factor / out) <=
                        time_at(r, &s[i].to.plan, s[i].level, s[i].factor / out),
                    "switch %d: slower before", i);
        if (!levels_alone || i > 0) continue;
        plans++; /* nearer to today's rate a whole search still finds the best of today */
        best_at(r, s[i].level, s[i].factor / out / out, &other_s);
        FR_NEAR(other_s, time_at(r, best, s[i].level, s[i].factor / out / out), 1e-12);
    }
    assert_true(!levels_alone || plans == 1);
}

static void of_algorithms(void **state) {
    static const char *const vary[] = {"method=tensor,phantom",
                                       "ghost=16",
                                       "tp=1..8*2",
                                       "pp=1..4*2",
                                       "compression.gradient.stages=0,1,2",
                                       NULL};
    (void)state;
    struct fr_searched r = searched("a100-hdr", "gpt-2.5b", "32", vary, NULL);
    hold(&r, true);
    fr_searched_free(&r);
}

/* Frontier's collectives are c1 log2 p + c2 m: c2 follows the outermost level. */
static void of_a_fitted_form(void **state) {
    static const char *const vary[] = {"method=tensor,phantom,grid", "ghost=4,16", "tp=4..64*2",
                                       NULL};
    (void)state;
    struct fr_searched r = searched("frontier", "ffn-16384", "64", vary, NULL);
    hold(&r, false);
    fr_searched_free(&r);
}

/* One plan has no rival; of varied clusters nobody can say which rate is meant. */
static void nothing_to_choose(void **state) {
    static const char *const one[] = {"tp=8", NULL}, *const inputs[] = {
                                                         "tp=4,8",
                                                         "cluster.device.launch=1 us,2 us",
                                                         NULL};
    struct fr_switch s[FR_SWITCHES_MAX];
    (void)state;
    struct fr_searched r = searched("a100-hdr", "gpt-2.5b", "32", one, NULL);
    assert_int_equal(fr_switches_find(&r.job, &r.space, &r.options, &r.result, s), 0);
    fr_searched_free(&r);
    r = searched("a100-hdr", "gpt-2.5b", "32", inputs, NULL);
    assert_int_equal(fr_switches_find(&r.job, &r.space, &r.options, &r.result, s), 0);
    fr_searched_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_algorithms),
                                       cmocka_unit_test(of_a_fitted_form),
                                       cmocka_unit_test(nothing_to_choose)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
