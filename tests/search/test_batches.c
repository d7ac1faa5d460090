/* Does a space hold plans of several batches, or with ghost neurons; and what is ranked then? */
#include <stdio.h>

#include "models/plan/iterations.h"
#include "models/plan/method.h"
#include "search/search.h"
#include "search/space.h"
#include "tests/job.h"

static bool has(const char *vary, int64_t set) {
    const struct fr_job_names names = {.cluster = "dgx-h100", .model = "llama-3-8b"};
    struct fr_plan base = fr_plan_default();
    struct fr_space space;
    struct fr_error err = {0};
    base.global_batch = set;
    if (fr_space_make("8", &vary, 1, &base, false, false, &names, &space, &err) != FR_OK)
        fail_msg("%s: %s", vary, err.detail);
    bool batches = fr_space_has_batches(&space);
    fr_space_free(&space);
    return batches;
}

/* By the plan's key or the model's, unless the plan says one that goes before. */
static void by_plan_or_model(void **state) {
    (void)state;
    assert_true(has("global_batch=64,128", 0));
    assert_false(has("global_batch=64", 0));
    assert_true(has("model.global_batch=64,128", 0));
    assert_true(has("model.global_batch=64,64,128", 0));
    assert_false(has("model.global_batch=64,128", 32));
    assert_false(has("model.global_batch=64,128", 1));
    assert_false(has("model.sequence=2048,4096", 0));
    assert_false(has("pp=1,2", 0));
}

static bool ghost_neurons(const char *const *vary, int n, const struct fr_method *method) {
    const struct fr_job_names names = {.cluster = "frontier", .model = "ffn-4096"};
    struct fr_plan base = fr_plan_default();
    struct fr_space space;
    struct fr_error err = {0};
    base.method = method;
    if (fr_space_make("8", vary, n, &base, false, false, &names, &space, &err) != FR_OK)
        fail_msg("%s: %s", vary[0], err.detail);
    bool has = fr_space_has_ghost(&space);
    fr_space_free(&space);
    return has;
}

/* Takes the keys of one that names methods if one of these has them, whatever else is varied before or behind; else
 * its own. */
static void methods_with_ghosts(void **state) {
    (void)state;
    for (int a = 0; fr_methods[a]; a++) {
        const char *const others[] = {"micro_batch=1,2", "tp=2,4"};
        assert_int_equal(ghost_neurons(others, 2, fr_methods[a]), fr_methods[a]->uses_ghost);
        for (int b = 0; fr_methods[b]; b++)
            for (int at = 0; a != b && at < 3; at++) {
                char label[80];
                const char *vary[3] = {others[0], others[1], others[1]};
                bool wanted = fr_methods[a]->uses_ghost || fr_methods[b]->uses_ghost;
                snprintf(label, sizeof label, "method=%s,%s", fr_methods[a]->name,
                         fr_methods[b]->name);
                vary[at] = label;
                if (at == 0) vary[1] = others[0];
                FR_TRUE(ghost_neurons(vary, 3, fr_methods[(a + b) % 3]) == wanted, "%s", label);
                FR_TRUE(ghost_neurons(vary + at, 1, fr_methods[b]) == wanted, "%s alone",
                        label);
            }
    }
}

static void same(const struct fr_found_list *a, const struct fr_found_list *b, size_t n) {
    for (size_t i = 0; i < n; i++) assert_int_equal(a->items[i].index, b->items[i].index);
}

/* Batches that the models say: a sample is what is ranked, and what is left unpriced could not have been listed, nor
 * stand on the front, nor lead its method. */
static void ranked_by_a_sample(void **state) {
    static const char *const vary[] = {"model.global_batch=16,32,64,256",
                                       "tp=1,2,4,8",
                                       "pp=1,2,4",
                                       "micro_batch=1,2,4",
                                       "zero=0,1",
                                       "recompute=none,full",
                                       "overlap=none,gradient",
                                       "schedule=1f1b,gpipe,zero-bubble"};
    const char *const sets[] = {"model.defaults=2019"};
    const struct fr_job_names names = {
        .cluster = "dgx-a100", .model = "gpt-2", .sets = sets, .n_sets = 1};
    struct fr_search_options options = {.max_lossy = 1, .per_iteration = true, .threads = 2};
    struct fr_job job;
    struct fr_space space;
    struct fr_search_result all;
    int64_t unpriced = 0;
    (void)state;
    assert_int_equal(fr_job_load(&names, &job, NULL), FR_OK);
    assert_int_equal(
        fr_space_make("16,32", vary, 8, &job.plan, false, true, &names, &space, NULL), FR_OK);
    for (int objective = 0; objective < 3; objective++) {
        options.objective = (fr_objective)objective;
        options.top = 0;
        assert_int_equal(fr_search(&job, &space, &options, &all, NULL), FR_OK);
        assert_int_equal(all.by, FR_RANK_SAMPLE);
        const struct fr_outcome *best = &all.top.items[0].outcome;
        double samples = (double)best->job->workload.global_batch;
        assert_true(samples == 256);
        if (objective == FR_OBJECTIVE_TIME)
            FR_NEAR(all.ranked.items[0].value, best->time_s / samples, 1e-12);
        for (size_t top = 1; top <= 3; top++) {
            struct fr_search_result few;
            options.top = top;
            assert_int_equal(fr_search(&job, &space, &options, &few, NULL), FR_OK);
            assert_int_equal(few.top.count, top);
            same(&few.top, &all.top, top);
            assert_int_equal(few.pareto.count, all.pareto.count);
            same(&few.pareto, &all.pareto, all.pareto.count);
            for (int m = 0; m < FR_SEARCH_METHODS; m++)
                assert_int_equal(few.of_method[m].index, all.of_method[m].index);
            unpriced += few.unpriced;
            fr_search_result_free(&few);
        }
        fr_search_result_free(&all);
    }
    FR_TRUE(unpriced > 100, "%lld", (long long)unpriced);
    fr_space_free(&space);
    fr_job_free(&job);
}

/* Plans are ranked in total where that is asked for or where somebody states how many iterations one of them takes,
 * the user or a model's table for its batch; else by an iteration's time, or a sample's where batches differ. */
static void ranked_by_what_is_known(void **state) {
    static const char *const models[] = {"ffn-4096", "ffn-16384", "llama-3-8b"};
    static const char *const varies[] = {"pp=1,2", "global_batch=64,128", "model.layers=2,4",
                                         "model.global_batch=64,128"};
    int seen[3] = {0};
    (void)state;
    for (int m = 0; m < 3; m++)
        for (int v = 0; v < 4; v++)
            for (int bits = 0; bits < 16; bits++) {
                const struct fr_job_names names = {.cluster = "frontier", .model = models[m]};
                struct fr_search_options options = {.total = bits & 1,
                                                    .per_iteration = bits & 2};
                struct fr_space space;
                struct fr_job job;
                struct fr_error err = {0};
                fr_test_job("frontier", models[m], NULL, &job);
                job.plan.forward = bits & 4;
                job.plan.iterations = bits & 8 ? 100 : 0;
                if (fr_space_make("8", &varies[v], 1, &job.plan, false, false, &names, &space,
                                  &err) != FR_OK)
                    fail_msg("%s: %s", varies[v], err.detail);
                bool batches = v % 2 == 1, known = bits & 8;
                for (int64_t i = 0; i < (v < 2 ? 1 : 2); i++) {
                    const struct fr_workload *w =
                        v < 2 ? &job.workload : &space.variants[i].workload;
                    int64_t batch =
                        job.plan.global_batch ? job.plan.global_batch : w->global_batch;
                    known =
                        known || (batches ? w->n_iterations > 0 : fr_iterations_hold(w, batch));
                }
                fr_ranking want = options.total                         ? FR_RANK_TOTAL
                                  : known && !(bits & 2) && !(bits & 4) ? FR_RANK_TOTAL
                                  : batches                             ? FR_RANK_SAMPLE
                                                                        : FR_RANK_ITERATION;
                FR_TRUE(fr_search_ranking(&job, &space, &options) == want, "%s, %s, %d",
                        models[m], varies[v], bits);
                seen[want]++;
                fr_space_free(&space);
                fr_job_free(&job);
            }
    FR_TRUE(seen[0] > 20 && seen[1] > 20 && seen[2] > 20, "%d, %d, %d", seen[0], seen[1],
            seen[2]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_plan_or_model), cmocka_unit_test(ranked_by_a_sample),
        cmocka_unit_test(methods_with_ghosts), cmocka_unit_test(ranked_by_what_is_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
