/* A model that lists its stages says how many there are, and each stands for itself. */
#include "models/outcome/cost.h"
#include "tests/job.h"

#define LISTED                                                                                 \
    "model.forward=[\"1 ms\", \"4 ms\", \"2 ms\"]", "model.backward=\"5 ms\"",                 \
        "model.message=\"0 B\"", "micro_batch=1"
static const char stages[] = FR_SOURCE_DIR "/tests/golden/in/stages.json";

static void the_list_says_how_many(void **state) {
    struct fr_job job;
    struct fr_outcome out;
    (void)state;
    fr_test_job("a100-hdr", stages, (const char *const[]){LISTED, "global_batch=1", NULL},
                &job);
    assert_int_equal(job.plan.pp, 3);
    fr_cost(&job, &job.plan, &out);
    assert_int_equal(out.reasons, 0);
    fr_job_free(&job);
    fr_test_job("a100-hdr", stages,
                (const char *const[]){LISTED, "global_batch=1", "pp=2", NULL}, &job);
    assert_int_equal(job.plan.pp, 2);
    fr_cost(&job, &job.plan, &out);
    FR_TRUE(out.reasons == FR_BECAUSE(FR_REASON_STAGES), "%x", (unsigned)out.reasons);
    fr_job_free(&job);
}

/* One micro-batch goes through all of them there and back: each more one costs the longest, 9 ms. */
static void each_stands_for_itself(void **state) {
    double time_s[3];
    (void)state;
    for (int m = 1; m <= 3; m++) {
        char batch[32];
        struct fr_job job;
        struct fr_outcome out;
        snprintf(batch, sizeof batch, "global_batch=%d", m);
        fr_test_job("a100-hdr", stages,
                    (const char *const[]){LISTED, batch, "schedule=gpipe", NULL}, &job);
        fr_cost(&job, &job.plan, &out);
        assert_int_equal(out.reasons, 0);
        time_s[m - 1] = out.time_s;
        fr_job_free(&job);
    }
    FR_NEAR(time_s[1] - time_s[0], 4e-3 + 5e-3, 1e-9);
    FR_NEAR(time_s[2] - time_s[1], 4e-3 + 5e-3, 1e-9);
    FR_TRUE(time_s[0] >= 7e-3 + 15e-3 && time_s[0] < 7e-3 + 15e-3 + 5e-3, "%g s", time_s[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_list_says_how_many),
                                       cmocka_unit_test(each_stands_for_itself)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
