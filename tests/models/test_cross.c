/* What a cross-attention adds to a layer's traffic, by hand: a norm that is read and written and a residual
 * addition that is read twice and written once, three times as much with the backward pass. */
#include "models/outcome/cost.h"
#include "tests/job.h"

/* Time of a micro-batch's passes over memory alone: products take no time, a fused kernel keeps no scores. */
static double pass_s(int cross, double *tokens_B, double *rate) {
    double compute_s[2];
    for (int m = 1; m <= 2; m++) {
        char layers[48], batch[32];
        const char *const sets[] = {
            "cluster.device.gemm={\"fp32\": {\"peak\": \"1e24 FLOP/s\", \"half_dim\": 0}}",
            "attention=flash",
            "micro_batch=2",
            layers,
            batch,
            NULL};
        struct fr_job job;
        struct fr_outcome out;
        snprintf(layers, sizeof layers, "model.cross_layers=%d", cross);
        snprintf(batch, sizeof batch, "global_batch=%d", 2 * m);
        fr_test_job("lassen", "transformer-base", sets, &job);
        fr_cost(&job, &job.plan, &out);
        assert_int_equal(out.reasons & ~FR_BECAUSE(FR_REASON_MEMORY), 0);
        compute_s[m - 1] = out.part_s[FR_PART_COMPUTE];
        *tokens_B =
            2 * (double)(job.workload.transformer.sequence * job.workload.transformer.hidden) *
            4;
        *rate = job.cluster.device.memory_rate_B_per_s;
        fr_job_free(&job);
    }
    return compute_s[1] - compute_s[0];
}

static void each_moves_its_norm_and_residual(void **state) {
    double tokens_B, rate, none_s = pass_s(0, &tokens_B, &rate);
    (void)state;
    for (int cross = 1; cross <= 12; cross += 3)
        FR_NEAR(pass_s(cross, &tokens_B, &rate) - none_s, cross * 3 * (2 + 3) * tokens_B / rate,
                1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_moves_its_norm_and_residual)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
