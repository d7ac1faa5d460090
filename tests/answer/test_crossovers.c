/* Where the choice changes: on both sides of the reported rate, priced anew, another plan is best.  A plan that loses
 * information counts as the choice counts it, so that the noise that chose decides here too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/search/search.h"
#include "search/crossover.h"
#include "tests/cmocka.h"

/* Where it stays: its space points to its job. */
static void search(const char *cluster, const char *model, const char *ranks,
                   const char *const *vary, const char *const *sets, struct fr_searched *r) {
    *r = (struct fr_searched){.options = {.per_iteration = true, .top = 5, .max_lossy = 1}};
    struct fr_job_names names = {.cluster = cluster, .model = model, .sets = sets};
    struct fr_error err = {0};
    int n = 0;
    while (vary[n]) n++;
    while (sets && sets[names.n_sets]) names.n_sets++;
    assert_int_equal(fr_job_load(&names, &r->job, &err), FR_OK);
    if (fr_searched_make(ranks, vary, n, &names, r, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
}

static double time_at(const struct fr_searched *r, const struct fr_plan *plan, int level,
                      double factor) {
    struct fr_job job = r->job;
    struct fr_outcome out;
    job.cluster.levels.level[level].rate_B_per_s *= factor;
    if (level == job.cluster.levels.count - 1)
        for (int op = 0; op < FR_OP_COUNT; op++) job.cluster.price[op].c2_s_per_B /= factor;
    fr_cost(&job, plan, &out);
    return out.time_s * fr_choice_factor(&r->options, &out);
}

/* The best of all plans of the space at a factor, by searching again. */
static struct fr_plan best_at(const struct fr_searched *r, int level, double factor,
                              double *time_s) {
    struct fr_job job = r->job;
    struct fr_search_result result;
    job.cluster.levels.level[level].rate_B_per_s *= factor;
    assert_int_equal(fr_search(&job, &r->space, &r->options, &result, NULL), FR_OK);
    const struct fr_outcome *first = &result.top.items[0].outcome,
                            *exact = &result.best_exact.outcome;
    double first_s = first->time_s * fr_choice_factor(&r->options, first);
    bool is_exact = result.best_exact.index >= 0 && exact->time_s < first_s;
    struct fr_plan plan = is_exact ? exact->plan : first->plan;
    *time_s = is_exact ? exact->time_s : first_s;
    fr_search_result_free(&result);
    return plan;
}

static void hold(const struct fr_searched *r, bool levels_alone) {
    struct fr_crossover s[FR_CROSSOVERS_MAX];
    const struct fr_plan *best = &r->result.top.items[0].outcome.plan;
    int n = fr_crossovers_find(&r->job, &r->space, &r->options, &r->result, s), plans = 0;
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
    struct fr_searched r;
    search("a100-hdr", "gpt-2.5b", "32", vary, NULL, &r);
    hold(&r, true);
    fr_searched_free(&r);
}

/* Frontier's collectives are c1 log2 p + c2 m: c2 follows the outermost level. */
static void of_a_fitted_form(void **state) {
    static const char *const vary[] = {"method=tensor,phantom,grid", "ghost=4,16", "tp=4..64*2",
                                       NULL};
    (void)state;
    struct fr_searched r;
    search("frontier", "ffn-16384", "64", vary, NULL, &r);
    hold(&r, false);
    fr_searched_free(&r);
}

/* One plan has no rival; of varied clusters nobody can say which rate is meant, though each alone has one at which
 * the choice changes. */
static void nothing_to_choose(void **state) {
    static const char *const one[] = {"tp=8", NULL};
    static const char *const meshes[] = {"tp=1,2,4,8", "pp=2,4", NULL};
    static const char *const inputs[] = {"tp=1,2,4,8", "pp=2,4",
                                         "cluster.device.launch=1 us,2 us", NULL};
    struct fr_crossover s[FR_CROSSOVERS_MAX];
    (void)state;
    struct fr_searched r;
    search("a100-hdr", "gpt-2.5b", "32", one, NULL, &r);
    assert_int_equal(fr_crossovers_find(&r.job, &r.space, &r.options, &r.result, s), 0);
    fr_searched_free(&r);
    search("a100-hdr", "gpt-2.5b", "32", inputs, NULL, &r);
    assert_int_equal(fr_crossovers_find(&r.job, &r.space, &r.options, &r.result, s), 0);
    fr_searched_free(&r);
    search("a100-hdr", "gpt-2.5b", "32", meshes, NULL, &r);
    assert_true(fr_crossovers_find(&r.job, &r.space, &r.options, &r.result, s) > 0);
    fr_searched_free(&r);
}

/* Nobody asks for the first plan of the space: at a slow network it would be the best, and is not reported. */
static void what_no_list_holds_is_no_rival(void **state) {
    static const char *const vary[] = {"method=phantom,tensor", "tp=16,8", NULL},
                             *const sets[] = {"ghost=64", "global_batch=256", NULL};
    struct fr_crossover s[FR_CROSSOVERS_MAX];
    size_t kept = 0;
    (void)state;
    struct fr_searched r;
    search("dgx-a100", "ffn-16384", "32", vary, sets, &r);
    struct fr_search_result *of = &r.result;
    int n = fr_crossovers_find(&r.job, &r.space, &r.options, of, s), phantom = 0;
    for (int i = 0; i < n; i++) phantom += s[i].to.plan.method == &fr_method_phantom;
    assert_true(phantom > 0);
    for (size_t i = 0; i < of->top.count; i++)
        if (of->top.items[i].outcome.plan.method != &fr_method_phantom)
            of->top.items[kept++] = of->top.items[i];
    assert_int_equal(kept, 2);
    of->top.count = kept;
    of->pareto.count = 0;
    for (int m = 0; m < FR_SEARCH_METHODS; m++) of->of_method[m].index = -1;
    n = fr_crossovers_find(&r.job, &r.space, &r.options, of, s);
    for (int i = 0; i < n; i++) assert_true(s[i].to.plan.method != &fr_method_phantom);
    fr_searched_free(&r);
}

/* ---- against all plans of a small space ---------------------------------------------------------- */

enum { PLANS_MAX = 8 }; /* so many are all priced again */

/* Every plan that can be, priced at a factor of a level's rate. @return the number of the best */
static int best_of_all(const struct fr_searched *r, int level, double factor,
                       struct fr_outcome *best) {
    struct fr_job job = r->job;
    double least = INFINITY;
    int found = -1;
    job.cluster.levels.level[level].rate_B_per_s *= factor;
    for (int op = 0; op < FR_OP_COUNT && level == job.cluster.levels.count - 1; op++)
        if (strcmp(job.cluster.price[op].form->name, "log") == 0)
            job.cluster.price[op].c2_s_per_B /= factor;
    for (int64_t i = 0; i < r->space.size; i++) {
        struct fr_plan plan;
        struct fr_outcome out;
        bool fits;
        if (!fr_space_plan(&r->space, &job.workload, i, &plan, &fits) || !fits) continue;
        fr_cost(&job, &plan, &out);
        if (out.reasons) continue;
        double value = r->options.objective == FR_OBJECTIVE_ENERGY ? out.energy_J : out.time_s;
        value *= fr_choice_factor(&r->options, &out);
        if (value < least) {
            least = value;
            found = (int)i;
            *best = out;
        }
    }
    return found;
}

/* The first power of @p step from power @p from on at which the choice is another; 0: none up to 64 times. */
static int first_other(const struct fr_searched *r, int level, double step, int from,
                       bool method) {
    struct fr_outcome now, there;
    int best = best_of_all(r, level, 1, &now);
    for (int k = from; k <= 6; k++) {
        int other = best_of_all(r, level, pow(step, k), &there);
        if (method ? there.plan.method != now.plan.method : other != best) return k;
    }
    return 0;
}

/* @p s is within step @p k; short of it the choice is as it is now, beyond it @p s's. */
static void is_switch(const struct fr_searched *r, const struct fr_crossover *s, int level,
                      double step, int k, bool method) {
    struct fr_outcome now, before, beyond;
    double up = step > 1 ? 1 : -1, steps = up * log2(s->factor);
    int best = best_of_all(r, level, 1, &now),
        near = best_of_all(r, level, s->factor * exp(-6e-4 * up), &before),
        far = best_of_all(r, level, s->factor * exp(6e-4 * up), &beyond);
    FR_TRUE(s->level == level && steps > k - 1 && steps <= k, "level %d, step %d: %g", level, k,
            s->factor);
    assert_int_equal(s->method, method);
    assert_true(method ? before.plan.method == now.plan.method : near == best);
    assert_true(method ? beyond.plan.method != now.plan.method : far != best);
    FR_NEAR(beyond.time_s, s->to.time_s, 2e-3);
    assert_true(beyond.plan.method == s->to.plan.method && beyond.plan.tp == s->to.plan.tp &&
                beyond.plan.pp == s->to.plan.pp && beyond.plan.ghost == s->to.plan.ghost);
}

/* Returns for each level, down and then up, the first other plan, and the first other method where that is not it
 * already. @return how many */
static int all_are_found(const struct fr_searched *r, int *second) {
    struct fr_crossover s[FR_CROSSOVERS_MAX];
    int n = fr_crossovers_find(&r->job, &r->space, &r->options, &r->result, s), at = 0;
    assert_true(r->result.feasible <= PLANS_MAX);
    for (int level = 0; level < r->job.cluster.levels.count; level++)
        for (double step = 0.5; step <= 2; step *= 4) {
            int plan = first_other(r, level, step, 1, false),
                method = plan ? first_other(r, level, step, plan, true) : 0;
            if (!plan) continue;
            struct fr_outcome now;
            best_of_all(r, level, 1, &now);
            FR_TRUE(at < n, "level %d: %d of more", level, n);
            bool both = s[at].to.plan.method != now.plan.method;
            is_switch(r, &s[at++], level, step, plan, both);
            if (both || !method) continue;
            FR_TRUE(at < n, "level %d: %d of more", level, n);
            is_switch(r, &s[at++], level, step, method, true);
            ++*second;
        }
    assert_int_equal(at, n);
    return n;
}

static void none_is_missed(void **state) {
    static const struct {
        const char *cluster, *model, *ranks, *vary[4], *sets[4];
    } of[] = {
        {"frontier",
         "ffn-16384",
         "64",
         {"method=tensor,phantom", "ghost=4,64", "tp=16,64"},
         {0}},
        {"frontier", "ffn-16384", "16,64", {"method=tensor,phantom", "ghost=16", "tp=16"}, {0}},
        {"frontier", "ffn-4096", "16", {"method=tensor,grid", "tp=2,4,8,16"}, {0}},
        {"a100-hdr", "gpt-2.5b", "32", {"tp=1,2,4,8", "pp=2,4"}, {"global_batch=64"}},
        {"a100-hdr",
         "gpt-2.5b",
         "32",
         {"method=tensor,phantom", "tp=2,8", "pp=1,4"},
         {"global_batch=64", "ghost=16"}},
        {"dgx-a100", "gpt-2", "16", {"tp=1,2,4,8,16"}, {"global_batch=64", "attention=flash"}},
        {"dgx-a100",
         "ffn-16384",
         "64",
         {"method=tensor,phantom", "tp=2,4,8"},
         {"global_batch=64", "ghost=16"}},
        {"frontier",
         "ffn-4096",
         "16",
         {"method=tensor,phantom,grid", "tp=4,16"},
         {"global_batch=512", "ghost=16"}},
    };
    int found = 0, second = 0;
    (void)state;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        for (int way = 0; way < 4; way++) {
            const bool energy = way & 1,
                       pure = way & 2; /* whatever is best by value is chosen */
            const char *vary[5] = {0};
            for (int i = 0; i < 4; i++) vary[i] = of[k].vary[i];
            struct fr_searched r;
            search(of[k].cluster, of[k].model, of[k].ranks, vary, of[k].sets, &r);
            if (r.job.cluster.device.power.known || !energy) {
                fr_search_result_free(&r.result);
                r.options.objective = energy ? FR_OBJECTIVE_ENERGY : FR_OBJECTIVE_TIME;
                r.options.top = PLANS_MAX;
                if (pure) r.options.noise = 0;
                assert_int_equal(fr_search(&r.job, &r.space, &r.options, &r.result, NULL),
                                 FR_OK);
                found += all_are_found(&r, &second);
            }
            fr_searched_free(&r);
        }
    FR_TRUE(found > 12 && second > 1, "%d, %d of them second", found, second);
}

/* The best alone beside the list of the others, the best of each method or the front: what competes is found in any,
 * also where it is the first plan of the space; and not where it stands in none. */
static void rivals_are_of_every_list(void **state) {
    static const char *const vary[] = {"method=phantom,tensor", "tp=16", NULL},
                             *const sets[] = {"ghost=64", "global_batch=256", NULL};
    (void)state;
    for (int list = 0; list < 4; list++) {
        struct fr_crossover s[FR_CROSSOVERS_MAX];
        struct fr_searched r;
        search("dgx-a100", "ffn-16384", "32", vary, sets, &r);
        struct fr_search_result *of = &r.result;
        assert_true(of->top.count == 2 && of->top.items[0].index == 1);
        assert_true(of->pareto.count == 2 && of->top.items[1].index == 0);
        if (list != 0) of->top.count = 1;
        for (int m = 0; m < FR_SEARCH_METHODS && list != 1; m++) of->of_method[m].index = -1;
        if (list != 2) of->pareto.count = 0;
        int n = fr_crossovers_find(&r.job, &r.space, &r.options, of, s);
        FR_TRUE(list == 3 ? n == 0 : n > 0 && s[0].to.plan.method == &fr_method_phantom,
                "list %d: %d", list, n);
        of->top.count = of->pareto.count = 2;
        fr_searched_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_algorithms),
                                       cmocka_unit_test(what_no_list_holds_is_no_rival),
                                       cmocka_unit_test(rivals_are_of_every_list),
                                       cmocka_unit_test(none_is_missed),
                                       cmocka_unit_test(of_a_fitted_form),
                                       cmocka_unit_test(nothing_to_choose)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
