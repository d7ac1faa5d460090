/* Neighbours of the best plan differ in one key and cost as much as the search reports; an input moved as far as
 * stated changes the choice, and a little less far does not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/predict/neighbours.h"
#include "answer/search/search.h"
#include "models/outcome/cost.h"
#include "tests/job.h"
#include "trust/coefficient.h"

static const char *const sets[] = {"global_batch=128", "sequence_parallel=true",
                                   "attention=flash", NULL};
static const char *const vary[] = {"tp=1..8*2", "pp=1..8*2", "micro_batch=1,2",
                                   "recompute=none,selective,full", "zero=0..3"};

static void search(fr_objective objective, struct fr_searched *r, struct fr_around **around) {
    struct fr_error err = {0};
    *r = (struct fr_searched){.options = {.objective = objective, .top = 0, .max_lossy = 1}};
    fr_test_job("dgx-h100", "llama-3-70b", sets, &r->job);
    if (fr_searched_make("32", vary, 5, NULL, r, &err) != FR_OK) fail_msg("%s", err.detail);
    *around = calloc(1, sizeof **around);
    fr_around_best(&r->job, &r->space, &r->options, &r->result, *around);
}

/* Keys in which the plans differ, dp aside, and sequence_parallel, which tp 1 does not read. */
static int differences(const struct fr_plan *a, const struct fr_plan *b, int *last) {
    int n = 0;
    for (int k = 0; k < FR_PLAN_KEYS; k++)
        if (k != FR_PLAN_KEY_dp &&
            !(k == FR_PLAN_KEY_sequence_parallel && (a->tp == 1 || b->tp == 1)) &&
            !fr_plan_keys[k].type->same(&fr_plan_keys[k], a, b)) {
            *last = k;
            n++;
        }
    return n;
}

/* All of them are plans of the search: none that can be is better than the best by its objective, and its
 * value is that of the plan in the list with the same line. */
static void one_key_by(fr_objective objective) {
    struct fr_searched r;
    struct fr_around *a;
    int feasible = 0, listed = 0;
    search(objective, &r, &a);
    const struct fr_outcome *best = &r.result.top.items[0].outcome;
    FR_TRUE(a->n_neighbours > 8, "%d", a->n_neighbours);
    for (int i = 0; i < a->n_neighbours; i++) {
        const struct fr_neighbour *one = &a->neighbour[i];
        char own[FR_PLAN_LINE], theirs[FR_PLAN_LINE];
        int key = -1;
        FR_TRUE(differences(&one->plan, &best->plan, &key) == 1 && key == one->key,
                "%d: key %d, %d", i, key, one->key);
        FR_TRUE(fr_plan_ranks(&one->plan) == 32, "%d: %ld ranks", i,
                (long)fr_plan_ranks(&one->plan));
        if (one->outcome.reasons) continue;
        feasible++;
        double own_by = fr_objective_value(objective, r.result.by, &one->outcome),
               best_by = fr_objective_value(objective, r.result.by, best);
        FR_NEAR(one->slower, own_by / best_by - 1, 1e-12);
        FR_TRUE(one->slower >= 0, "%s %s is better than the best: %g", fr_plan_keys[key].name,
                one->value, one->slower);
        fr_plan_line(&one->outcome.plan, 0, own, sizeof own);
        for (size_t k = 0; k < r.result.top.count; k++) {
            const struct fr_outcome *out = &r.result.top.items[k].outcome;
            if (strcmp(fr_plan_line(&out->plan, 0, theirs, sizeof theirs), own) != 0) continue;
            listed++;
            FR_TRUE(out->time_s == one->outcome.time_s, "%s: %g, %g", own, out->time_s,
                    one->outcome.time_s);
        }
    }
    FR_TRUE(feasible >= 4 && listed >= 3, "%d feasible, %d of them in the list", feasible,
            listed);
    free(a);
    fr_searched_free(&r);
}

static void one_key(void **state) {
    (void)state;
    one_key_by(FR_OBJECTIVE_TIME);
    one_key_by(FR_OBJECTIVE_ENERGY);
}

/* A key that does nothing in the best plan is back as it was said where the neighbour reads it. */
static void idle_keys_come_back(void **state) {
    static const char *const keys[] = {
        "global_batch=64", "tp=4", "pp=4", "dp=1", "compression.backward.rank=2", NULL};
    static const char *const scopes[] = {"compression.backward.scope=none,all"};
    struct fr_searched r = {.options = {.top = 0, .max_lossy = 1, .per_iteration = true}};
    struct fr_around *a = calloc(1, sizeof *a);
    struct fr_error err = {0};
    int seen = 0;
    (void)state;
    fr_test_job("a100-hdr", "gpt-2.5b", keys, &r.job);
    if (fr_searched_make("16", scopes, 1, NULL, &r, &err) != FR_OK) fail_msg("%s", err.detail);
    const struct fr_outcome *none = NULL;
    for (size_t i = 0; i < r.result.top.count; i++)
        if (!fr_plan_compresses(&r.result.top.items[i].outcome.plan))
            none = &r.result.top.items[i].outcome;
    assert_non_null(none);
    int n = fr_neighbours(&r.job, &r.space, &r.options, r.result.by, none, a->neighbour);
    for (int i = 0; i < n; i++) {
        FR_TRUE(a->neighbour[i].plan.compression.backward_rank == 2, "rank %ld",
                (long)a->neighbour[i].plan.compression.backward_rank);
        seen++;
    }
    assert_true(seen > 0);
    free(a);
    fr_searched_free(&r);
}

/* Limits of a search hold to the last bit, in the search and in its report of neighbours: a plan of just that memory,
 * just that share of what is lossy, may be; one of the least bit more may not. */
static void a_limit_may_be_met(void **state) {
    static const char *const keys[] = {"global_batch=64", "tp=4", "pp=4", "dp=1", NULL};
    static const char *const varied[] = {"compression.backward.scope=none,all",
                                         "micro_batch=1,2"};
    struct fr_searched all = {.options = {.max_lossy = 1, .per_iteration = true}};
    struct fr_error err = {0};
    int met = 0;
    (void)state;
    fr_test_job("a100-hdr", "gpt-2.5b", keys, &all.job);
    if (fr_searched_make("16", varied, 2, NULL, &all, &err) != FR_OK)
        fail_msg("%s", err.detail);
    assert_int_equal(all.result.top.count, 4);
    for (size_t i = 0; i < all.result.top.count; i++) {
        const struct fr_outcome *out = &all.result.top.items[i].outcome;
        for (int which = 0; which < 5; which++) {
            bool lossy = which / 2 == 1;
            double just = lossy ? fr_outcome_lossy(out) : out->memory_peak_B,
                   limit = which == 4  ? 1
                           : which % 2 ? nextafter(just, 0)
                                       : just;
            if (just == 0) continue;
            struct fr_searched r = {.options = all.options};
            struct fr_neighbour beside[FR_NEIGHBOURS_MAX];
            size_t want = 0, stated = 0;
            *(lossy ? &r.options.max_lossy : &r.options.memory_limit_B) = limit;
            fr_test_job("a100-hdr", "gpt-2.5b", keys, &r.job);
            if (fr_searched_make("16", varied, 2, NULL, &r, &err) != FR_OK)
                fail_msg("%s", err.detail);
            for (size_t k = 0; k < all.result.top.count; k++) {
                const struct fr_outcome *one = &all.result.top.items[k].outcome;
                want += (lossy ? fr_outcome_lossy(one) : one->memory_peak_B) <= limit;
            }
            FR_TRUE(r.result.top.count == want, "plan %zu: %zu found, not %zu", i,
                    r.result.top.count, want);
            for (size_t k = 0; k < all.result.top.count; k++) {
                int n = fr_neighbours(&all.job, &all.space, &r.options, r.result.by,
                                      &all.result.top.items[k].outcome, beside);
                for (int b = 0; b < n; b++) {
                    const struct fr_outcome *one = &beside[b].outcome;
                    double its = lossy ? fr_outcome_lossy(one) : one->memory_peak_B;
                    FR_TRUE(!one->reasons == (its <= limit), "%g of %g", its, limit);
                    stated += its == limit;
                }
            }
            met += stated > 0;
            fr_searched_free(&r);
        }
    }
    FR_TRUE(met > 0, "%d", met);
    fr_searched_free(&all);
}

static double best_time_s(const struct fr_job *job, const struct fr_plan *plan) {
    struct fr_outcome out;
    fr_cost(job, plan, &out);
    return out.reasons ? INFINITY : out.time_s;
}

static struct fr_job moved(const struct fr_job *job, const char *input, double factor) {
    struct fr_job there = *job;
    int c = fr_coefficient_find(input);
    if (c < 0)
        there.cluster.device.memory_B *= factor;
    else
        *fr_coefficient_at(c, &there.cluster, there.workload.dtype) *= factor;
    return there;
}

static void one_input(void **state) {
    struct fr_searched r;
    struct fr_around *a;
    (void)state;
    search(FR_OBJECTIVE_TIME, &r, &a);
    const struct fr_plan *best = &r.result.top.items[0].outcome.plan;
    FR_TRUE(a->n_turns >= 4, "%d", a->n_turns);
    for (int i = 0; i < a->n_turns; i++) {
        const struct fr_turn *turn = &a->turn[i];
        double back = pow(2, turn->factor > 1 ? -0.02 : 0.02);
        struct fr_job there = moved(&r.job, turn->input, turn->factor),
                      before = moved(&r.job, turn->input, turn->factor * back);
        FR_TRUE(turn->factor <= FR_TURN_MOST * 1.001 && turn->factor >= 0.999 / FR_TURN_MOST,
                "%s: %g", turn->input, turn->factor);
        FR_TRUE(best_time_s(&there, &turn->plan) < best_time_s(&there, best),
                "%s x %g: the other plan is not faster", turn->input, turn->factor);
        double stays_s = best_time_s(&before, best) * (1 - 1e-9);
        for (size_t k = 1; k < r.result.top.count && k <= 10; k++)
            FR_TRUE(best_time_s(&before, &r.result.top.items[k].outcome.plan) >= stays_s,
                    "%s x %g: plan %zu is faster already", turn->input, turn->factor * back, k);
        for (int k = 0; k < a->n_neighbours; k++)
            if (a->neighbour[k].slower < 1)
                FR_TRUE(best_time_s(&before, &a->neighbour[k].plan) >= stays_s,
                        "%s x %g: neighbour %d is faster already", turn->input,
                        turn->factor * back, k);
    }
    free(a);
    fr_searched_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_key), cmocka_unit_test(idle_keys_come_back),
        cmocka_unit_test(a_limit_may_be_met), cmocka_unit_test(one_input)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
