/* Plans with a rank for each stage in every engine: the closed form and the event program have one price.  A search lists
 * the ranks that it chose, and each is priced as predict prices it. */
#include <math.h>
#include <stdio.h>

#include "answer/predict/predict.h"
#include "answer/search/search.h"
#include "tests/job.h"

#define PLAN "tp=8", "dp=4", "pp=4", "micro_batch=8", "recompute=full"

static void engines_agree(void **state) {
    static const char *const lists[] = {"best", "[128,64,32,16]", "[0,32,0,64]",
                                        "[16,16,16,0]"};
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char set[80];
        const char *const sets[] = {PLAN, "compression.gradient.stages=4", set, NULL};
        struct fr_job job;
        struct fr_outcome closed, event;
        snprintf(set, sizeof set, "compression.gradient.ranks=%s", lists[i]);
        fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
        assert_int_equal(fr_predict(&job, FR_ENGINE_CLOSED, &closed, NULL), FR_OK);
        assert_int_equal(fr_predict(&job, FR_ENGINE_EVENT, &event, NULL), FR_OK);
        FR_TRUE(closed.reasons == 0 && closed.plan.gradient_ranks, "%s", lists[i]);
        FR_NEAR(event.time_s, closed.time_s, 1e-9);
        FR_NEAR(event.lossy_gradient, closed.lossy_gradient, 1e-12);
        FR_NEAR(event.memory_peak_B, closed.memory_peak_B, 1e-12);
        fr_job_free(&job);
    }
}

static void a_search_lists_its_ranks(void **state) {
    static const char *const vary[] = {"compression.gradient.stages=0..4",
                                       "compression.gradient.ranks=one,best"};
    const char *const sets[] = {"model.defaults=2019", "tp=8", "pp=4", "micro_batch=8",
                                "recompute=full"};
    const struct fr_job_names names = {
        .cluster = "a100-hdr", .model = "gpt-2.5b", .sets = sets, .n_sets = 5};
    struct fr_searched r = {.options = {.top = 9, .max_lossy = 1, .threads = 1}};
    struct fr_error err = {0};
    int listed = 0;
    (void)state;
    assert_int_equal(fr_job_load(&names, &r.job, &err), FR_OK);
    if (fr_searched_make("128", vary, 2, &names, &r, &err) != FR_OK) fail_msg("%s", err.detail);
    for (size_t i = 0; i < r.result.top.count; i++) {
        const struct fr_outcome *out = &r.result.top.items[i].outcome;
        struct fr_outcome again;
        assert_true(!out->plan.gradient_ranks_best);
        listed += out->plan.gradient_ranks != NULL;
        fr_cost(&r.job, &out->plan, &again);
        FR_NEAR(again.time_s, out->time_s, 1e-12);
        FR_TRUE(out->low_s < out->time_s && out->time_s < out->high_s, "%g: %g to %g",
                out->time_s, out->low_s, out->high_s);
    }
    FR_TRUE(listed >= 3, "%d", listed);
    fr_searched_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(engines_agree),
                                       cmocka_unit_test(a_search_lists_its_ranks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
