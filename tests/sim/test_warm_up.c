/* Iterations before anything goes compressed count with what they take. */
#include "models/outcome/cost.h"
#include "sim/run.h"
#include "tests/job.h"

/* The first W of N iterations go whole: total = W plain + (N - W) coded, W at most N; by both engines. */
static void warm_up(void **state) {
    static const char *const warm[] = {"compression.warm_up=0", "compression.warm_up=30",
                                       "compression.warm_up=500"};
    static const double W[] = {0, 30, 230};
    (void)state;
    for (int k = 0; k < 3; k++) {
        const char *plain_sets[] = {"model.iterations=230", "tp=2", "dp=4", "pp=2", NULL},
                   *sets[] = {"model.iterations=230",
                              "tp=2",
                              "dp=4",
                              "pp=2",
                              "compression.gradient.stages=2",
                              "compression.backward.scope=all",
                              warm[k],
                              NULL};
        struct fr_job plain, job;
        struct fr_outcome before, out;
        struct fr_simulation event;
        fr_test_job("a100-hdr", "gpt-2.5b", plain_sets, &plain);
        fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
        fr_cost(&plain, &plain.plan, &before);
        fr_cost(&job, &job.plan, &out);
        assert_true(out.lossy_gradient > 0 && out.time_s < before.time_s);
        double time_s = W[k] * before.time_s + (230 - W[k]) * out.time_s,
               energy_J = W[k] * before.energy_J + (230 - W[k]) * out.energy_J;
        FR_NEAR(out.total_time_s, time_s, 1e-12);
        FR_NEAR(out.total_energy_J, energy_J, 1e-12);
        assert_int_equal(fr_simulate(&job, &job.plan, NULL, &event, NULL), FR_OK);
        FR_NEAR(event.outcome.total_time_s, time_s, 1e-9);
        FR_NEAR(event.outcome.total_energy_J, energy_J, 1e-9);
        fr_simulation_free(&event);
        fr_job_free(&plain);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(warm_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
