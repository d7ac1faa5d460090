/* A search passes over configurations that repeat other plans, and none else; a need reads the keys alone that it names. */
#include <stdlib.h>

#include "tests/drawn_spaces.h"

/* Going from one to the next, as a search does, lists what asking for each by its number does. */
static void passes_over_repetitions_alone(void **state) {
    (void)state;
    uint64_t dice = 88172645463325252u;
    int64_t listed = 0, passed = 0;
    for (int n = 0; n < fr_sample(1500, 250); n++) {
        struct fr_job job;
        struct fr_space space;
        char vary[6][512];
        fr_test_draw_space(&dice, n, vary, &job, &space);
        struct fr_space_cursor at = {.begun = false};
        /* from somewhere, as a piece of a search */
        int64_t next = (int64_t)fr_test_random(&dice, (uint64_t)space.size);
        for (int64_t i = next; i < space.size; i++) {
            struct fr_plan plan, alone;
            bool fits, alone_fits,
                stands = fr_space_plan(&space, &job.workload, i, &alone, &alone_fits);
            if (i < next) {
                FR_TRUE(!stands, "%lld passed over, of %s; %s; %s; %s; %s; %s", (long long)i,
                        vary[0], vary[1], vary[2], vary[3], vary[4], vary[5]);
                passed++;
                continue;
            }
            assert_int_equal(fr_space_plan_after(&space, &job.workload, i, &at, &plan, &fits),
                             stands);
            assert_true(at.next > i);
            next = at.next;
            if (!stands) continue;
            assert_int_equal(fits, alone_fits);
            assert_memory_equal(&plan, &alone, sizeof plan);
            listed++;
        }
        fr_space_free(&space);
        fr_job_free(&job);
    }
    FR_TRUE(listed > 1000 && passed > 10000, "%lld, %lld", (long long)listed,
            (long long)passed);
}

/* Two random plans: one that takes from the first what a need names, and all else from the second, has it as the first
 * has. */
static void check_needs(const struct fr_workload *model, const struct fr_plan plan[2]) {
    const uint64_t missing = fr_plan_missing(model, &plan[0]);
    for (int need = 0; fr_plan_need_names[need]; need++) {
        struct fr_plan other = plan[1];
        for (int i = 0; i < FR_PLAN_KEYS; i++)
            if (fr_plan_need_keys(need, model) >> i & 1)
                fr_plan_key_copy(&fr_plan_keys[i], &plan[0], &other);
        const uint64_t changed = fr_plan_missing(model, &other) ^ missing;
        FR_TRUE(!(changed >> need & 1), "\"%s\" reads a key that it does not name",
                fr_plan_need_names[need]);
    }
}

static void needs_read_what_they_name(void **state) {
    (void)state;
    uint64_t dice = 1442695040888963407u;
    for (int j = 0; j <= FR_TEST_JOBS; j++) {
        struct fr_job job = {0};
        if (j < FR_TEST_JOBS) fr_test_job(fr_test_jobs[j][0], fr_test_jobs[j][1], NULL, &job);
        for (int n = 0; n < fr_sample(5000, 1000); n++) {
            struct fr_json_document *document[2] = {0};
            struct fr_plan plan[2];
            struct fr_plan_lists lists[2];
            for (int k = 0; k < 2; k++) {
                const uint64_t keys = 3 + fr_test_random(&dice, 20);
                assert_int_equal(fr_test_plan_document(&dice, keys, &document[k]), 0);
                assert_int_equal(fr_plan_read(document[k], &plan[k], &lists[k], NULL), FR_OK);
            }
            check_needs(j < FR_TEST_JOBS ? &job.workload : NULL, plan);
            for (int k = 0; k < 2; k++) {
                fr_plan_lists_free(&lists[k]);
                fr_json_free(document[k]);
            }
        }
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(passes_over_repetitions_alone),
                                       cmocka_unit_test(needs_read_what_they_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
