/* Spans of a pass that repeats work and in which ranks wait: what is split keeps its proportions, and all
 * spans together what the stage's account says. */
#include "sim/run.h"
#include "tests/job.h"

static void spans_add_up(void **state) {
    static const char *const variants[][3] = {{"common=subgrid", "recompute=full", "dp=1"},
                                              {"common=subgrid", "recompute=selective", "dp=2"},
                                              {"common=all", "recompute=full", "dp=2"},
                                              {"common=subgrid", "recompute=none", "dp=1"}};
    (void)state;
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        const char *const sets[] = {
            "method=subgraph", "tp=4",         "micro_batch=4", "global_batch=16",
            variants[v][0],    variants[v][1], variants[v][2],  NULL};
        const struct fr_simulate_options options = {.timeline = true};
        struct fr_job job;
        struct fr_simulation sim;
        double waiting_s = 0, comm_s = 0, share[2] = {-1, -1};
        int again = 0;
        fr_test_job("lassen", "gpt-2", sets, &job);
        assert_int_equal(fr_simulate(&job, &job.plan, &options, &sim, NULL), FR_OK);
        assert_int_equal(sim.outcome.reasons, 0);
        for (int64_t k = 0; k < sim.timeline.count; k++) {
            const struct fr_span *span = &sim.timeline.spans[k];
            double length_s = span->end_s - span->start_s;
            waiting_s += span->waiting_s;
            comm_s += span->communicating_s;
            assert_true(span->waiting_s >= 0 && span->communicating_s >= 0);
            FR_TRUE(span->waiting_s + span->communicating_s <= length_s * (1 + 1e-9), "span %d",
                    (int)k);
            if (span->kind == FR_TASK_RECOMPUTE) {
                again++;
                share[0] = span->waiting_s / length_s;
                share[1] = span->communicating_s / length_s;
            } else if (span->kind == FR_TASK_BACKWARD && share[0] >= 0) {
                FR_NEAR(span->waiting_s / length_s + 1, share[0] + 1, 1e-9);
                FR_NEAR(span->communicating_s / length_s + 1, share[1] + 1, 1e-9);
            }
        }
        assert_int_equal(again, v == 3 ? 0 : (v == 0 ? 4 : 2));
        FR_NEAR(waiting_s + 1, sim.stages[0].waiting_s + 1, 1e-9);
        FR_NEAR(comm_s, sim.stages[0].comm_s, 1e-9);
        assert_true((waiting_s > 0) == (v != 2));
        fr_simulation_free(&sim);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(spans_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
