/* Branches send and pack these bytes where they split and join, through the price of a plan: by hand, from the table
 * of models/work/subgraph.h. */
#include <math.h>

#include "models/outcome/cost.h"
#include "tests/job.h"

/* transformer-base, 4 ways: 12 layers, 6 with cross-attention; 512 wide, queries and keys too; 8 samples of
 * 64 tokens a group of 4 B values, two micro-batches.  T = 512 tokens; C = 128, where ranks share. */
static const double T_B = 512 * 512 * 4., C_B = 128 * 512 * 4.;

static struct fr_outcome priced(const char *branches, const char *common, const char *exchange,
                                const char *recompute) {
    const char *const sets[] = {"method=subgraph", "tp=4",    "micro_batch=8",
                                "global_batch=16", branches,  common,
                                exchange,          recompute, NULL};
    struct fr_job job;
    struct fr_outcome out;
    fr_test_job("lassen", "transformer-base", sets, &job);
    fr_cost(&job, &job.plan, &out);
    assert_int_equal(out.reasons, 0);
    fr_job_free(&job);
    return out;
}

static const char *const recomputes[] = {"recompute=none", "recompute=selective",
                                         "recompute=full"};

/* One way forward, its mirror backward, forward once more where all is computed again. */
static void what_branches_send(void **state) {
    static const struct {
        const char *branches, *common, *exchange;
        double joints, each_B; /* of a forward pass; a rank's share of what each is of */
    } cases[] = {
        /* 18 times q, k and v sliced and the heads joined */
        {"branches=heads", "common=all", "exchange=all_to_all", 72,
         (4 - 1) / 4. * 128 * 512 * 4},
        {"branches=heads", "common=all", "exchange=all_gather", 72,
         (4 - 1) / 4. * 512 * 512 * 4},
        {"branches=heads", "common=subgrid", "exchange=all_to_all", 72,
         (4 - 1) / 4. * 512 * 512 * 4},
        /* 18 attentions split and summed; with the MLPs 30; what 6 make their keys and values of is split too; one
         * sub-grid broadcasts and reduces all */
        {"branches=attention", "common=all", "exchange=all_to_all", 42,
         (4 - 1) / 4. * 512 * 512 * 4},
        {"branches=layer", "common=all", "exchange=all_to_all", 66,
         (4 - 1) / 4. * 512 * 512 * 4},
        {"branches=attention", "common=subgrid", "exchange=all_to_all", 42, 512 * 512 * 4.},
        {"branches=layer", "common=subgrid", "exchange=all_to_all", 66, 512 * 512 * 4.},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int r = 0; r < 3; r++) {
            struct fr_outcome out =
                priced(cases[i].branches, cases[i].common, cases[i].exchange, recomputes[r]);
            double passes = r == 2 ? 3 : 2;
            FR_NEAR(out.sent_B[FR_SENT_TP], 2 * passes * cases[i].joints * cases[i].each_B,
                    1e-12);
        }
}

/* Each is packed before and unpacked after: two kernels, each reading and writing, forward; twice
 * backward. */
static void what_branches_pack(void **state) {
    struct fr_job job;
    (void)state;
    fr_test_job("lassen", "transformer-base", NULL, &job);
    double rate = job.cluster.device.memory_rate_B_per_s;
    fr_job_free(&job);
    struct fr_outcome small = priced("branches=heads", "common=all", "exchange=all_to_all",
                                     "recompute=none"),
                      large = priced("branches=heads", "common=all", "exchange=all_gather",
                                     "recompute=none");
    FR_NEAR(large.part_s[FR_PART_COMPUTE] - small.part_s[FR_PART_COMPUTE],
            2 * 3 * 72 * 4 * (T_B - C_B) / rate, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_branches_send),
                                       cmocka_unit_test(what_branches_pack)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
