/* The numbers that people compare runs by, against published formulas and by hand. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/outcome/rates.h"
#include "models/workload/flop.h"
#include "tests/job.h"

static void near(double a, double b, double within) {
    FR_TRUE(fabs(a - b) <= within, "%.17g, %.17g", a, b);
}

/* With all scores, as papers count. */
static double flop_of(const char *cluster, const char *model, const char *const *sets) {
    struct fr_job job;
    fr_test_job(cluster, model, sets, &job);
    double flop =
        fr_counted_flop(&(struct fr_counted){.workload = &job.workload, .palm = true});
    fr_job_free(&job);
    return flop;
}

/* Narayanan et al., SC'21, Eq. 3: 96 B s l h^2 (1 + s/(6h) + V/(16lh)) with every layer computed twice
 * forward; its layers' forward pass is a quarter of theirs, the logits are not computed twice. */
static void as_megatron_counts(void **state) {
    static const char *const sets[] = {"model.vocabulary=51200", NULL};
    const double s = 2048, l = 96, h = 12288, V = 51200;
    double eq3 = 96 * s * l * h * h * (1 + s / (6 * h) + V / (16 * l * h));
    double again = 24 * s * l * h * h * (1 + s / (6 * h));
    (void)state;
    near(flop_of("dgx-a100", "gpt3-175b", sets) / (eq3 - again), 1, 1e-12);
}

/* PaLM's 6 N + 12 L H Q T a token, N the parameters that multiply: Llama 3 8B by hand, 32 layers of
 * 4096, 14336 and 32 heads of 128 with 8 of keys, vocabulary 128256, sequences of 8192. */
static void as_palm_counts(void **state) {
    const double N = 32 * (4096.0 * (4096 + 2 * 1024) + 4096.0 * 4096 + 3 * 4096.0 * 14336) +
                     4096.0 * 128256;
    (void)state;
    near(flop_of("dgx-h100", "llama-3-8b", NULL) /
             (8192 * (6 * N + 12.0 * 32 * 32 * 128 * 8192)),
         1, 1e-12);
}

/* A mixture counts only two of eight experts, and the router: Mixtral 8x7B, 32 layers of 4096 and 14336. */
static void a_mixture_counts_what_a_token_meets(void **state) {
    static const char *const sets[] = {"model.sequence=4096", NULL};
    const double N = 32 * (4096.0 * (4096 + 2 * 1024) + 4096.0 * 4096 + 2 * 3 * 4096.0 * 14336 +
                           4096.0 * 8) +
                     4096.0 * 32000;
    (void)state;
    near(flop_of("dgx-h100", "mixtral-8x7b", sets) /
             (4096 * (6 * N + 12.0 * 32 * 32 * 128 * 4096)),
         1, 1e-12);
}

/* Three layers of n x n; AlexNet's 724 million multiplications (Krizhevsky et al. 2012, in two groups). */
static void layers_count_their_products(void **state) {
    static const char *const sets[] = {"model.layers=3", NULL};
    (void)state;
    near(flop_of("frontier", "ffn-4096", sets), 6.0 * 3 * 4096 * 4096, 1);
    double alexnet = flop_of("cori-knl", "alexnet", NULL) / 6;
    FR_TRUE(alexnet > 0.65e9 && alexnet < 1.2e9, "%g", alexnet);
}

/* B / T, B s / T, and the share of the peak. */
static void rates_are_of_the_iteration(void **state) {
    static const char *const sets[] = {"tp=8", "global_batch=64", "model.dtype=bf16", NULL};
    struct fr_job job;
    struct fr_outcome out;
    (void)state;
    fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
    fr_cost(&job, &job.plan, &out);
    struct fr_rates r = fr_rates_of(&job, &out);
    near(r.samples_per_s * out.time_s, 64, 1e-9);
    near(r.tokens_per_s * out.time_s, 64.0 * 8192, 1e-6);
    double peak = job.cluster.device.gemm[FR_BF16].peak_flop_per_s;
    near(peak, 989e12, 1e9);
    near(r.mfu * peak * 8 * out.time_s / (64 * fr_workload_flop(&job.workload)), 1, 1e-12);
    out.time_s = NAN;
    assert_true(isnan(fr_rates_of(&job, &out).samples_per_s));
    fr_job_free(&job);
}

/* Narayanan et al.'s Eq. 3 counts every layer's second forward pass: hardware FLOP with recompute full. */
static void hardware_counts_what_is_done_again(void **state) {
    static const char *const sets[] = {"tp=8",
                                       "pp=8",
                                       "global_batch=64",
                                       "model.dtype=bf16",
                                       "recompute=full",
                                       "model.vocabulary=51200",
                                       NULL};
    const double s = 2048, l = 96, h = 12288, V = 51200;
    const double eq3 = 96 * 64 * s * l * h * h * (1 + s / (6 * h) + V / (16 * l * h));
    struct fr_job job;
    struct fr_outcome out;
    (void)state;
    fr_test_job("dgx-a100", "gpt3-175b", sets, &job);
    fr_cost(&job, &job.plan, &out);
    out.time_s = 20;
    job.palm_flop = true;
    struct fr_rates full = fr_rates_of(&job, &out);
    near(full.hardware_flop_per_s_per_device * 20 * 64 / eq3, 1, 1e-12);
    near(full.hfu / full.mfu,
         full.hardware_flop_per_s_per_device / full.model_flop_per_s_per_device, 1e-12);
    near(full.tokens_per_s_per_device, 64 * s / 20 / 64, 1e-9);
    /* Selective: scores and weighted values, 4 s^2 h a layer. */
    out.plan.recompute = FR_RECOMPUTE_SELECTIVE;
    near((fr_rates_of(&job, &out).hardware_flop_per_s_per_device -
          full.model_flop_per_s_per_device) *
             20 / (4 * s * s * h * l),
         1, 1e-9);
    /* With a policy that keeps queries, keys and values (6 s h^2): all but those and the MLP's last product
     * (8 s h^2) of 24 s h^2 + 4 s^2 h a layer; that keeps the attention's second product, too: 2 s h^2 less. */
    out.plan.recompute = FR_RECOMPUTE_SAVE_QKV;
    near((fr_rates_of(&job, &out).hardware_flop_per_s_per_device -
          full.model_flop_per_s_per_device) *
             20 / ((10 * s * h * h + 4 * s * s * h) * l),
         1, 1e-9);
    out.plan.recompute = FR_RECOMPUTE_SAVE_QKV_OUT;
    near((fr_rates_of(&job, &out).hardware_flop_per_s_per_device -
          full.model_flop_per_s_per_device) *
             20 / ((8 * s * h * h + 4 * s * s * h) * l),
         1, 1e-9);
    out.plan.recompute = FR_RECOMPUTE_NONE;
    near(fr_rates_of(&job, &out).hfu, full.mfu, 1e-15);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_megatron_counts),
                                       cmocka_unit_test(as_palm_counts),
                                       cmocka_unit_test(a_mixture_counts_what_a_token_meets),
                                       cmocka_unit_test(layers_count_their_products),
                                       cmocka_unit_test(rates_are_of_the_iteration),
                                       cmocka_unit_test(hardware_counts_what_is_done_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
