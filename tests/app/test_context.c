/* Context parallel and divided state under methods phantom and subgraph: traffic and state by hand, both
 * engines. */
#include <math.h>

#include "models/outcome/cost.h"
#include "sim/run.h"
#include "tests/job.h"
#include "tests/work.h"

static void cost(const char *const *sets, struct fr_outcome *out) {
    struct fr_job job;
    struct fr_simulation event;
    struct fr_error err = {0};
    fr_test_job("a100-hdr", "gpt-2", sets, &job);
    fr_cost(&job, &job.plan, out);
    if (out->reasons) fail_msg("%s %s: %#x", sets[0], sets[1], (unsigned)out->reasons);
    if (fr_simulate(&job, &job.plan, NULL, &event, &err) != FR_OK) fail_msg("%s", err.detail);
    FR_NEAR(event.outcome.time_s, out->time_s, 1e-9);
    FR_NEAR(event.outcome.energy_J, out->energy_J, 1e-9);
    fr_simulation_free(&event);
    fr_job_free(&job);
}

/* Two ranks of a sequence have half the tokens, flop and activations of one each; a ring sends half of the
 * keys and values of the rank's heads three times. */
static void by_hand(void **state) {
    (void)state;
    static const char *const methods[][2] = {{"method=phantom", "ghost=8"},
                                             {"method=subgraph", "branches=attention"},
                                             {"method=subgraph", "branches=layer"}};
    for (int m = 0; m < 3; m++) {
        struct fr_rank_work w[2];
        struct fr_outcome out[2];
        for (int cp = 1; cp <= 2; cp++) {
            char with[8];
            snprintf(with, sizeof with, "cp=%d", cp);
            const char *const sets[] = {methods[m][0],   methods[m][1],    with, "tp=2", "dp=2",
                                        "micro_batch=2", "global_batch=8", NULL};
            struct fr_job job;
            cost(sets, &out[cp - 1]);
            fr_test_job("a100-hdr", "gpt-2", sets, &job);
            test_stage(&job.workload, &job.plan, 0, &w[cp - 1]);
            fr_job_free(&job);
        }
        for (int pass = 0; pass < FR_PASS_ONCE; pass++)
            FR_NEAR(2 * test_flops(&w[1], (fr_pass_kind)pass),
                    test_flops(&w[0], (fr_pass_kind)pass), 1e-12);
        FR_NEAR(2 * w[1].activation_B, w[0].activation_B, 1e-12);
        assert_true(w[1].parameters_rank == w[0].parameters_rank);
        FR_NEAR(out[1].sent_B[FR_SENT_CP], 2 * 12 * 3 * 0.5 * 4 * (2 * 768 / 2 * 2 * 1024.),
                1e-12);
    }
}

/* Sub-graphs of 2 ways on 4 replicas: branches' state over 4 copies, common layers' over 8, of cSub over the 4 of
 * the first sub-grid; zero 1 sends f (G + W) of each, by its own f. */
static void state_of_sub_graphs(void **state) {
    (void)state;
    double h = 768, attention = 12 * (4 * h * h + 3 * h) / 2,
           common = 12 * (8 * h * h + 4 * h + h + 4 * h + h) + (50304 + 1024) * h + 2 * h;
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        const char *const sets[] = {"method=subgraph",
                                    "branches=attention",
                                    "tp=2",
                                    "dp=4",
                                    "micro_batch=2",
                                    "global_batch=8",
                                    "zero=1",
                                    subgrid ? "common=subgrid" : "common=all",
                                    NULL};
        double copies = subgrid ? 4 : 8;
        struct fr_outcome out;
        cost(sets, &out);
        FR_NEAR(out.memory_B[FR_MEMORY_OPTIMIZER], 8 * (attention / 4 + common / copies), 1e-9);
        FR_NEAR(out.sent_B[FR_SENT_DP],
                2 * 4 * (3. / 4 * attention + (copies - 1) / copies * common), 1e-9);
    }
}

static void goes_with_everything(void **state) {
    (void)state;
    static const char *const plans[][9] = {
        {"method=phantom", "ghost=8", "tp=2", "cp=2", "pp=2", "zero=3", "recompute=full"},
        {"method=phantom", "ghost=8", "tp=2", "cp=2", "context=all-to-all", "attention=flash",
         "zero=2", "zero_ranks=2", "dp=2"},
        {"method=subgraph", "tp=2", "cp=2", "dp=2", "zero=3", "micro_batch=2"},
        {"method=subgraph", "tp=2", "dp=4", "pp=2", "zero=2", "micro_batch=2",
         "recompute=selective", "zero_ranks=2"},
        {"method=subgraph", "tp=2", "dp=4", "zero=1", "micro_batch=2", "overlap=gradient",
         "branches=layer", "cp=2"},
        {"method=subgraph", "tp=4", "dp=4", "zero=2", "micro_batch=4", "common=subgrid", "cp=1",
         "zero_ranks=2"}};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        const char *sets[12] = {"global_batch=32"};
        struct fr_outcome out;
        for (int k = 0; k < 9; k++) sets[1 + k] = plans[i][k];
        cost(sets, &out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand),
                                       cmocka_unit_test(state_of_sub_graphs),
                                       cmocka_unit_test(goes_with_everything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
