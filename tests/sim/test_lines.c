/* Messages in order: the closed form's lines against the engine's queues, for random pipelines on slow links over all
 * schedules.  Where the closed form has each message alone, it may be 1 % too fast. */
#include "models/outcome/cost.h"
#include "sim/run.h"
#include "tests/slow_links.h"

static void in_order_is_exact(void **state) {
    const int plans = fr_sample(20000, 700);
    uint64_t dice = 0x2545f4914f6cdd1du;
    int lined = 0, alone = 0;
    double worst_alone = 0;
    (void)state;
    for (int k = 0; k < plans; k++) {
        struct fr_job job;
        char stated[SLOW_SETS * SLOW_SET];
        struct fr_outcome closed;
        struct fr_simulation event, plain;
        const struct fr_simulate_options queues = {.network = &fr_network_shared};
        slow_job(&dice, &job, stated);
        fr_cost(&job, &job.plan, &closed);
        if (closed.reasons) {
            fr_job_free(&job);
            continue;
        }
        assert_int_equal(fr_simulate(&job, &job.plan, &queues, &event, NULL), FR_OK);
        assert_int_equal(fr_simulate(&job, &job.plan, NULL, &plain, NULL), FR_OK);
        double off = fabs(closed.time_s / event.outcome.time_s - 1);
        FR_TRUE(fabs(plain.outcome.time_s / closed.time_s - 1) <= 1e-9,
                "%s: %.17g s, by default %.17g s", stated, closed.time_s, plain.outcome.time_s);
        if (closed.messages == FR_MESSAGES_IN_ORDER) {
            lined++;
            FR_TRUE(off <= 1e-9, "%s: %.17g s, by queues %.17g s", stated, closed.time_s,
                    event.outcome.time_s);
        } else {
            alone++;
            worst_alone = fmax(worst_alone, off);
        }
        fr_simulation_free(&event);
        fr_simulation_free(&plain);
        fr_job_free(&job);
    }
    FR_TRUE(worst_alone <= 0.015, "each alone, off by %g", worst_alone);
    FR_TRUE(lined > plans / 4 && alone > plans / 50, "%d, %d", lined, alone);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_order_is_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
