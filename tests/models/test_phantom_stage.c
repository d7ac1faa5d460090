/* A phantom MLP beside tensor-parallel attention: parameters and traffic by hand. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/work/phantom_stage.h"
#include "tests/job.h"
#include "tests/work.h"

static void by_hand(void **state) {
    (void)state;
    const char *const sets[] = {"method=phantom", "tp=4", "ghost=16", "micro_batch=2", NULL};
    struct fr_job job;
    struct fr_rank_work work;
    double h = 768, f = 3072, p = 4, k = 16, T = 2 * 1024;
    fr_test_job("lassen", "gpt-2", sets, &job);
    fr_phantom_stage(&job.workload, &job.plan, 0, &work);
    /* Per layer on one rank: attention over p; both matrices of the MLP phantom; biases, norms. */
    double attention = (4 * h * h + 3 * h) / p;
    double up = h * f / 16 + k * h / p + 3 * k * f / p,
           down = h * f / 16 + k * f / p + 3 * k * h / p;
    double layer = attention + up + down + f / p + 4 * h + 2 * h;
    double words = 50688; /* 50257 padded to a multiple of 512 */
    FR_NEAR(work.parameters_rank, 12 * layer + words * h / p + 1024 * h + 2 * h, 1e-12);
    /* Fewer than tensor parallelism (Eq. 8), and each matrix as Seal et al. 2025 counts it. */
    assert_true(p * (up + down) < 2 * h * f);
    FR_NEAR(p * up, h * f / p + k * h + (p - 1) * k * f, 1e-12);
    /* Forward: T h twice a layer and at both ends, p k T for both matrices; the same backward. */
    double forward_B = test_tp_B(&work, false), backward_B = test_tp_B(&work, true);
    FR_NEAR(forward_B, 4 * (12 * (2 * T * h + 2 * p * k * T) + 2 * T * h), 1e-12);
    FR_NEAR(backward_B, forward_B, 1e-12);
    fr_job_free(&job);
}

static void refuses(void **state) {
    (void)state;
    static const struct {
        const char *sets[5];
        int reason;
    } cases[] = {{{"method=phantom", "tp=4", NULL}, FR_REASON_GHOST},
                 {{"method=phantom", "tp=4", "ghost=144", NULL}, FR_REASON_GHOST_EQ8},
                 {{"method=phantom", "tp=1", "ghost=1", NULL}, FR_REASON_GHOST_EQ8},
                 {{"method=phantom", "tp=8", "ghost=4", NULL}, FR_REASON_HEADS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_job job;
        struct fr_outcome out;
        fr_test_job("lassen", "gpt-2", cases[i].sets, &job);
        fr_cost(&job, &job.plan, &out);
        FR_TRUE(out.reasons & FR_BECAUSE(cases[i].reason), "case %zu: %#x", i,
                (unsigned)out.reasons);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
