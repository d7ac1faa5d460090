/* Recipes for speed are assumed where a release or its date is named, and nowhere else.  A plan knows who says how it
 * runs. */
#include "models/job/release.h"
#include "models/plan/key.h"
#include "tests/job.h"

#define BLACKWELL                                                                              \
    "model.defaults=modern", "model.dtype=fp8", "dp=8", "ep=8", "micro_batch=2", "zero=1"

static void load(const char *set, struct fr_job *job) {
    const char *const sets[] = {BLACKWELL, set, NULL};
    fr_test_job("gb300-nvl72", "qwen3-30b-a3b", sets, job);
}

static void only_named_releases_record_iterations(void **state) {
    static const struct {
        const char *set;
        fr_graphs graphs;
        bool overlaps, narrow;
        fr_recipe_source recipe;
    } want[] = {
        {NULL, FR_GRAPHS_LAYERS, false, false, FR_RECIPE_UNKNOWN},
        {"runtime=megatron-bridge-26.06", FR_GRAPHS_ITERATION, true, true,
         FR_RECIPE_OF_RELEASE},
        {"runtime.date=2026-08", FR_GRAPHS_ITERATION, true, true, FR_RECIPE_OF_RELEASE},
        {"runtime.date=2026-04", FR_GRAPHS_LAYERS, false, false, FR_RECIPE_OF_RELEASE},
        {"graphs=none", FR_GRAPHS_NONE, false, false, FR_RECIPE_STATED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct fr_job job;
        load(want[i].set, &job);
        FR_TRUE(job.plan.graphs == want[i].graphs, "%s: %s", want[i].set,
                fr_graphs_names[job.plan.graphs]);
        FR_TRUE(job.plan.overlap_experts == want[i].overlaps, "%s: %d", want[i].set,
                job.plan.overlap_experts);
        FR_TRUE(job.workload.narrow_attention == want[i].narrow, "%s", want[i].set);
        FR_TRUE(job.plan.recipe == want[i].recipe, "%s: %d", want[i].set, job.plan.recipe);
        fr_job_free(&job);
    }
}

static void dense_models_have_no_recipe(void **state) {
    static const char *const sets[] = {"model.defaults=modern", "tp=8", NULL};
    struct fr_job job;
    (void)state;
    fr_test_job("gb300-nvl72", "llama-3-8b", sets, &job);
    assert_int_equal(job.plan.recipe, FR_RECIPE_STATED);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_named_releases_record_iterations),
                                       cmocka_unit_test(dense_models_have_no_recipe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
