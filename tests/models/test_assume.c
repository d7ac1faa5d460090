/* What a plan starts from where nobody says: each key where something reads it, none that was said. */
#include <stdio.h>

#include "models/job/assume.h"
#include "models/plan/key.h"
#include "tests/job.h"

static void load(const char *const *sets, struct fr_job *job) {
    fr_test_job("dgx-h100", FR_SOURCE_DIR "/tests/models/hf/llama-3-8b.json", sets, job);
}

static void each_where_it_is_read(void **state) {
    (void)state;
    static const struct {
        const char *sets[4];
        bool sequence, overlap;
        fr_dtype gradient;
        const char *said;
    } want[] = {
        {{NULL}, false, false, FR_FP32, "attention flash"},
        {{"tp=8", NULL}, true, false, FR_FP32, "sequence_parallel true, attention flash"},
        {{"dp=8", NULL}, false, true, FR_FP32, "attention flash, overlap gradient"},
        {{"dp=8", "zero=1", NULL},
         false,
         true,
         FR_BF16,
         "attention flash, overlap gradient, gradients bf16"},
        {{"dp=8", "zero=3", NULL}, false, false, FR_BF16, "attention flash, gradients bf16"},
        {{"tp=8", "dp=2", "compression.gradient.stages=1", NULL},
         true,
         false,
         FR_FP32,
         "sequence_parallel true, attention flash"},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct fr_job job;
        char line[200];
        load(want[i].sets, &job);
        assert_int_equal(job.plan.attention, FR_ATTENTION_FLASH);
        assert_int_equal(job.plan.sequence_parallel, want[i].sequence);
        assert_int_equal(job.plan.overlap, want[i].overlap);
        assert_int_equal(job.workload.gradient_dtype, want[i].gradient);
        assert_string_equal(fr_job_assumed(&job, line, sizeof line), want[i].said);
        fr_job_free(&job);
    }
}

static void what_is_said_stays(void **state) {
    (void)state;
    static const char *const said[] = {"tp=4",
                                       "dp=2",
                                       "zero=1",
                                       "attention=plain",
                                       "overlap=none",
                                       "sequence_parallel=false",
                                       "model.gradient_dtype=fp32",
                                       NULL};
    static const char *const old[] = {"tp=4", "dp=2", "zero=1", "model.defaults=2019", NULL};
    const char *const *sets[] = {said, old};
    for (int i = 0; i < 2; i++) {
        struct fr_job job;
        char line[200];
        load(sets[i], &job);
        assert_int_equal(job.plan.attention, FR_ATTENTION_PLAIN);
        assert_false(job.plan.sequence_parallel || job.plan.overlap);
        assert_int_equal(job.workload.gradient_dtype, FR_FP32);
        assert_string_equal(fr_job_assumed(&job, line, sizeof line), "");
        fr_job_free(&job);
    }
}

/* Models of layers, of the papers, and methods that divide otherwise are left as they were. */
static void others_are_left_alone(void **state) {
    (void)state;
    static const char *const grid[] = {"method=grid", "tp=4", "dp=2", NULL}, *const plain[] = {
                                                                                 "tp=4", "dp=2",
                                                                                 NULL};
    struct fr_job job;
    load(grid, &job);
    assert_int_equal(job.assumed, 0);
    fr_job_free(&job);
    fr_test_job("dgx-h100", "gpt3-175b", plain, &job);
    assert_int_equal(job.assumed, 0);
    fr_job_free(&job);
    fr_test_job("frontier", "ffn-16384", plain, &job);
    assert_int_equal(job.assumed, 0);
    fr_job_free(&job);
}

/* For a search, whose plans divide as they will: both are taken at once, but what was said; and of no other
 * model. */
static void for_plans_of_any_degrees(void **state) {
    (void)state;
    static const struct {
        const char *sets[4];
        bool sequence, overlap;
    } want[] = {{{NULL}, true, true},
                {{"sequence_parallel=false", "tp=2", NULL}, false, true},
                {{"overlap=none", "dp=2", NULL}, true, false},
                {{"zero=3", "dp=2", NULL}, true, false},
                {{"dp=2", "compression.gradient.stages=1", NULL}, true, false},
                {{"method=grid", "tp=4", "dp=2", NULL}, false, false}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct fr_job job;
        load(want[i].sets, &job);
        fr_job_assume_any(&job);
        FR_TRUE(job.plan.sequence_parallel == want[i].sequence &&
                    job.plan.overlap == want[i].overlap,
                "case %zu: %d, %d", i, job.plan.sequence_parallel, job.plan.overlap);
        fr_job_free(&job);
    }
    struct fr_job job;
    fr_test_job("dgx-h100", "gpt3-175b", NULL, &job);
    fr_job_assume_any(&job);
    assert_int_equal(job.assumed, 0);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_where_it_is_read), cmocka_unit_test(what_is_said_stays),
        cmocka_unit_test(others_are_left_alone), cmocka_unit_test(for_plans_of_any_degrees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
