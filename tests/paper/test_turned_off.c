/* Parts of an iteration by turning them off: nothing off is the simulation, more off is never longer, and the
 * embedding alone takes what Eqs. 15 and 16 of Song et al. 2023 say. */
#include "models/outcome/cost.h"
#include "sim/run.h"
#include "studies/optimus/turned_off.h"
#include "tests/job.h"

enum { OFFS = 6 };

#define PLAN                                                                                   \
    "tp=8", "pp=4", "dp=4", "micro_batch=1", "global_batch=32", "model.layers=8", "p2p=duplex"
static const char *const plans[][10] = {
    {PLAN},
    {PLAN, "compression.backward.scope=epilogue"},
    {PLAN, "compression.embedding=fused"},
    {PLAN, "compression.gradient.stages=2"},
    {PLAN, "compression.gradient.stages=4", "compression.backward.scope=all"}};
enum { PLANS = sizeof plans / sizeof *plans };

static void nothing_off_is_the_simulation(void **state) {
    (void)state;
    for (int i = 0; i < PLANS; i++) {
        struct fr_job job;
        struct fr_simulation sim;
        fr_test_job("a100-hdr", "gpt-2.5b", plans[i], &job);
        assert_int_equal(fr_simulate(&job, &job.plan, NULL, &sim, NULL), FR_OK);
        assert_int_equal(sim.outcome.reasons, 0);
        FR_NEAR(fr_optimus_without_s(&job, &job.plan, 0), sim.outcome.time_s, 1e-12);
        fr_simulation_free(&sim);
        fr_job_free(&job);
    }
}

static void more_off_is_never_longer(void **state) {
    (void)state;
    for (int i = 0; i < PLANS; i++) {
        struct fr_job job;
        double time_s[1 << OFFS];
        fr_test_job("a100-hdr", "gpt-2.5b", plans[i], &job);
        for (int off = 0; off < 1 << OFFS; off++) {
            time_s[off] = fr_optimus_without_s(&job, &job.plan, off);
            for (int k = 0; k < OFFS; k++)
                if (off >> k & 1)
                    FR_TRUE(time_s[off] <= time_s[off & ~(1 << k)] * (1 + 1e-12),
                            "plan %d: %d off takes longer than without %d", i, off, 1 << k);
        }
        FR_TRUE(time_s[FR_OFF_COMMUNICATION] < 0.99 * time_s[0], "plan %d: %g of %g", i,
                time_s[FR_OFF_COMMUNICATION], time_s[0]);
        fr_job_free(&job);
    }
}

/* Its time where all else is turned off [s]. */
static double embedding_s(const char *how) {
    const char *const sets[] = {PLAN, how, "cluster.levels.1.latency=0 s", NULL};
    const int others = (1 << OFFS) - 1 - FR_OFF_EMBEDDING;
    struct fr_job job;
    fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
    double alone_s = fr_optimus_without_s(&job, &job.plan, others) -
                     fr_optimus_without_s(&job, &job.plan, others | FR_OFF_EMBEDDING);
    fr_job_free(&job);
    return alone_s;
}

static void embedding_falls_as_its_volume(void **state) {
    (void)state;
    const double replicas = 4, separate = (3 * replicas - 2) / replicas,
                 fused = (2 * replicas - 1) / replicas;
    double separate_s = embedding_s("compression.embedding=separate"),
           fused_s = embedding_s("compression.embedding=fused");
    assert_true(separate_s > 0);
    FR_NEAR(fused_s / separate_s, fused / separate, 1e-3);
}

/* Asynchronous messages of one rank share a line: a program without a network has nothing to say of them. */
static void messages_that_share_a_line(void **state) {
    static const char *const sets[] = {PLAN, NULL};
    struct fr_job job;
    (void)state;
    fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
    job.plan.duplex = false;
    assert_true(isnan(fr_optimus_without_s(&job, &job.plan, 0)));
    fr_job_free(&job);
}

static void words(void **state) {
    (void)state;
    assert_int_equal(fr_optimus_off("messages"), FR_OFF_FORWARD | FR_OFF_BACKWARD);
    assert_int_equal(fr_optimus_off("communication"), FR_OFF_COMMUNICATION);
    assert_int_equal(fr_optimus_off("nothing"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_off_is_the_simulation),
                                       cmocka_unit_test(more_off_is_never_longer),
                                       cmocka_unit_test(embedding_falls_as_its_volume),
                                       cmocka_unit_test(messages_that_share_a_line),
                                       cmocka_unit_test(words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
