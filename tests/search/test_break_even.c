/* Break-even is the ratio of iterations that a user finds by setting `iterations` by hand, found here by bisection on the
 * totals of priced plans.  The best exact plan of a search is held against a pass over all its plans. */
#include <math.h>

#include "models/plan/method.h"
#include "search/break_even.h"
#include "search/chosen.h"
#include "search/space.h"
#include "tests/job.h"
#include "tests/plan_values.h"

/* Total of @p plan as `--set iterations=N` gives it. */
static double total(const struct fr_job *job, const struct fr_plan *plan, double n,
                    fr_objective objective) {
    struct fr_plan by_hand = *plan;
    struct fr_outcome out;
    by_hand.iterations = n;
    fr_cost(job, &by_hand, &out);
    return fr_objective_value(objective, FR_RANK_TOTAL, &out);
}

static double by_hand(const struct fr_job *job, const struct fr_plan *exact,
                      const struct fr_plan *lossy, double nu, fr_objective objective) {
    const double least = total(job, exact, nu, objective);
    double low = 1e-3 * nu, high = 1e3 * nu;
    for (int i = 0; i < 80; i++) {
        double middle = sqrt(low * high);
        *(total(job, lossy, middle, objective) < least ? &low : &high) = middle;
    }
    return sqrt(low * high) / nu;
}

static struct fr_plan drawn(const struct fr_job *job, uint64_t *dice) {
    static const int64_t warm_ups[] = {0, 10, 400};
    struct fr_plan plan = job->plan;
    struct fr_plan_compression *c = &plan.compression;
    c->gradient_stages = (int64_t)fr_test_random(dice, 5);
    c->gradient_rank = (int64_t)16 << fr_test_random(dice, 4);
    c->scope = fr_test_random(dice, 2) ? FR_SCOPE_ALL : FR_SCOPE_NONE;
    c->fused_embedding = fr_test_random(dice, 2);
    c->warm_up = warm_ups[fr_test_random(dice, 3)];
    plan.micro_batch = (int64_t)4 << fr_test_random(dice, 2);
    return plan;
}

static void equals_what_hands_find(void **state) {
    const char *const sets[] = {"tp=8",          "pp=4",           "dp=4",
                                "micro_batch=8", "recompute=full", NULL};
    static const double nus[] = {300, 2000};
    struct fr_job job;
    uint64_t dice = 43;
    int warm = 0, lossy = 0;
    (void)state;
    fr_test_job("a100-hdr", "gpt-8.3b", sets, &job);
    for (int i = 0; i < fr_sample(200, 40); i++) {
        const fr_objective objective = (fr_objective)(i % 3);
        struct fr_plan plan = drawn(&job, &dice), exact = job.plan;
        struct fr_outcome out, other;
        exact.iterations = nus[i % 2];
        fr_cost(&job, &plan, &out);
        fr_cost(&job, &exact, &other);
        if (out.reasons || fr_outcome_is_exact(&out)) continue;
        lossy++;
        warm += out.plain_time_s > 0;
        const double ratio = fr_break_even(&job, objective, FR_RANK_TOTAL, &other, &out),
                     hand = by_hand(&job, &exact, &plan, exact.iterations, objective);
        FR_NEAR(ratio, hand, 1e-9);
    }
    FR_TRUE(lossy > 20 && warm > 5, "%d lossy plans, %d with a warm-up", lossy, warm);
    fr_job_free(&job);
}

/* Phantom against tensor, whatever parts of a transformer it has and whatever goes compressed beside it. */
static void ghosts_are_held_against_tensor(void **state) {
#define STAGES "tp=8", "pp=2", "dp=8", "micro_batch=4", "method=phantom", "ghost=16"
    static const struct {
        const char *model, *sets[9];
    } of[] = {
        {"ffn-16384", {"tp=8", "method=phantom", "ghost=16"}},
        {"gpt-2.5b", {STAGES, "phantom_parts=mlp"}},
        {"gpt-2.5b", {STAGES, "phantom_parts=all"}},
        {"gpt-2.5b", {STAGES, "phantom_parts=attention", "compression.backward.scope=all"}},
        {"gpt-2.5b", {STAGES, "phantom_parts=all", "compression.gradient.stages=1"}}};
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct fr_job job;
        struct fr_outcome out;
        struct fr_plan exact;
        fr_test_job("frontier", of[i].model, of[i].sets, &job);
        fr_cost(&job, &job.plan, &out);
        fr_break_even_state(&job, &out);
        assert_true(fr_exact_plan(&out, &exact));
        assert_ptr_equal(exact.method, &fr_method_tensor);
        FR_TRUE(out.break_even_from == FR_BREAK_EVEN_SAME_PLAN, "%zu has no break-even", i);
        FR_NEAR(out.break_even_iterations,
                by_hand(&job, &exact, &out.plan, 100, FR_OBJECTIVE_TIME), 1e-9);
        fr_cost(&job, &exact, &out);
        fr_break_even_state(&job, &out);
        assert_true(out.break_even_iterations == 0 && !fr_exact_plan(&out, &exact));
        fr_job_free(&job);
    }
}

/* The best that loses nothing, where the best loses something and lists are short. */
static void a_search_keeps_the_best_exact_plan(void **state) {
    const char *const sets[] = {"tp=8", "recompute=full", NULL};
    const char *const vary[] = {"pp=2,4", "micro_batch=2,4,8",
                                "compression.gradient.stages=0..4",
                                "compression.backward.scope=none,all"};
    struct fr_job job;
    struct fr_space space;
    struct fr_search_result result;
    const struct fr_search_options options = {
        .per_iteration = true, .top = 1, .max_lossy = 1, .threads = 1};
    struct fr_outcome out;
    double least = INFINITY;
    (void)state;
    fr_test_job("a100-hdr", "gpt-8.3b", sets, &job);
    assert_int_equal(fr_space_make("128", vary, 4, &job.plan, false, true, NULL, &space, NULL),
                     FR_OK);
    assert_int_equal(fr_search(&job, &space, &options, &result, NULL), FR_OK);
    for (int64_t i = 0; i < space.size; i++)
        if (fr_search_evaluate(&job, &space, &options, result.by, i, &out) && !out.reasons &&
            fr_outcome_lossy(&out) == 0)
            least = fmin(least, out.time_s);
    assert_true(result.best_exact.index >= 0);
    FR_NEAR(result.best_exact.outcome.time_s, least, 0);
    assert_true(result.top.items[0].outcome.time_s < least);
    fr_search_result_free(&result);
    fr_space_free(&space);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_what_hands_find),
                                       cmocka_unit_test(ghosts_are_held_against_tensor),
                                       cmocka_unit_test(a_search_keeps_the_best_exact_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
