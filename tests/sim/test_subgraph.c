/* Sub-graph plans in the event engine, every rank there and collectives as messages: on an idle
 * network what the closed form says, wherever the ranks sit; on shared links never less. */
#include <math.h>

#include "models/outcome/cost.h"
#include "sim/run.h"
#include "tests/job.h"

static double simulated_s(const struct fr_job *job, const struct fr_network *network) {
    struct fr_simulate_options options = {.network = network, .as_messages = true};
    struct fr_simulation s;
    struct fr_error err = {0};
    if (fr_simulate(job, &job->plan, &options, &s, &err) != FR_OK) fail_msg("%s", err.detail);
    double time_s = s.outcome.time_s;
    fr_simulation_free(&s);
    return time_s;
}

static void as_messages(void **state) {
    static const char *const common[] = {"common=all", "common=subgrid"};
    static const char *const exchange[] = {"exchange=all_to_all", "exchange=all_gather"};
    static const char *const placement[] = {"placement=linear", "placement=round-robin",
                                            "placement=by-axis:tp-dp", "placement=optimised"};
    static const char *const mesh[][2] = {{"tp=4", "dp=4"}, {"tp=2", "dp=6"}, {"tp=4", "dp=1"}};
    (void)state;
    for (int i = 0; i < 2 * 2 * 4 * 3; i++) {
        const char *const sets[] = {"method=subgraph",    common[i % 2],    exchange[i / 2 % 2],
                                    placement[i / 4 % 4], mesh[i / 16][0],  mesh[i / 16][1],
                                    "global_batch=48",    "model.repeat=1", NULL};
        struct fr_job job;
        struct fr_outcome closed;
        fr_test_job("lassen", "attention-branches", sets, &job);
        fr_cost(&job, &job.plan, &closed);
        FR_TRUE(closed.reasons == 0, "%s %s %s %s: %#x", sets[1], sets[2], sets[3], sets[4],
                (unsigned)closed.reasons);
        double alone_s = simulated_s(&job, &fr_network_isolated);
        FR_TRUE(fabs(alone_s - closed.time_s) <= 1e-9 * closed.time_s,
                "%s %s %s %s: event %.17g s, closed %.17g s", sets[1], sets[2], sets[3],
                sets[4], alone_s, closed.time_s);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
