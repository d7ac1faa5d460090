/* Laws of what FSDP keeps whole, over meshes with and without experts, stages, groups and recomputation: parameters that
 * stay gathered save a gather of each micro-batch, gradients that are added up whole all scatters but one; either takes
 * memory and no time.  With N = copies, f = (N-1)/N a rank sends f m (2W + G), f m (W + G), f (2 m W + G). */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/outcome/iteration.h"
#include "models/workload/optimizer.h"
#include "sim/run.h"
#include "tests/job.h"

static const struct setting {
    const char *model, *sets[12];
    int samples; /* of a replica: micro-batches */
} settings[] = {
    {"llama-3-8b", {"dp=8", "global_batch=32"}, 4},
    {"llama-3-8b", {"dp=8", "global_batch=8", "recompute=full"}, 1},
    {"llama-3-8b", {"dp=4", "cp=2", "tp=2", "sequence_parallel=true", "global_batch=32"}, 8},
    {"llama-3-8b", {"dp=4", "pp=2", "global_batch=32"}, 8},
    {"llama-3-8b", {"dp=4", "pp=2", "schedule=zero-bubble", "global_batch=32"}, 8},
    {"llama-3-8b", {"dp=16", "zero_ranks=8", "global_batch=32"}, 2},
    {"mixtral-8x7b", {"model.layers=4", "dp=8", "ep=4", "global_batch=32"}, 4}};
enum { SETTINGS = sizeof settings / sizeof *settings };

static void load(int k, const char *zero, const char *more, struct fr_job *job) {
    const char *sets[16] = {"cluster.device.memory=100 TB", "attention=flash", "micro_batch=1",
                            zero};
    int n = 4;
    for (int i = 0; settings[k].sets[i]; i++) sets[n++] = settings[k].sets[i];
    sets[n] = more;
    fr_test_job("dgx-h100", settings[k].model, sets, job);
}

static struct fr_outcome price(int k, const char *zero, const char *more) {
    struct fr_job job;
    struct fr_outcome out;
    load(k, zero, more, &job);
    fr_cost(&job, &job.plan, &out);
    FR_TRUE(out.reasons == 0, "%s %s %s", settings[k].model, zero, more ? more : "");
    fr_job_free(&job);
    return out;
}

/* A rank's bytes over dp are linear in gathers and scatters of a micro-batch; the first stages are alike. */
static void fewer_exchanges(void **state) {
    (void)state;
    for (int k = 0; k < SETTINGS; k++) {
        struct fr_outcome three = price(k, "zero=3", NULL),
                          whole = price(k, "zero=3", "reshard_after_forward=false"),
                          once = price(k, "zero=3", "gradient_sync=iteration"),
                          two = price(k, "zero=2", NULL),
                          two_once = price(k, "zero=2", "gradient_sync=iteration");
        double m = settings[k].samples, sent_B = three.sent_B[FR_SENT_DP],
               gather_B = (sent_B - whole.sent_B[FR_SENT_DP]) / m,
               scatter_B = sent_B / m - 2 * gather_B;
        FR_TRUE(gather_B > 0 && scatter_B > 0, "%d: %g and %g B", k, gather_B, scatter_B);
        if (settings[k].sets[1] && strncmp(settings[k].sets[1], "pp=", 3) != 0) {
            FR_NEAR(once.sent_B[FR_SENT_DP], 2 * m * gather_B + scatter_B, 1e-9);
            FR_NEAR(two_once.sent_B[FR_SENT_DP] - gather_B, scatter_B, 1e-6);
            FR_NEAR(two.sent_B[FR_SENT_DP] - two_once.sent_B[FR_SENT_DP],
                    (m - 1) * scatter_B + 1e-9, m > 1 ? 1e-6 : 1);
        }
        FR_TRUE(whole.time_s <= three.time_s * (1 + 1e-12) &&
                    once.time_s <= three.time_s * (1 + 1e-12) &&
                    two_once.time_s <= two.time_s * (1 + 1e-12),
                "%d: %g s, whole %g, once %g", k, three.time_s, whole.time_s, once.time_s);
        FR_TRUE(whole.memory_peak_B > three.memory_peak_B &&
                    once.memory_B[FR_MEMORY_GRADIENTS] >
                        1.9 * three.memory_B[FR_MEMORY_GRADIENTS] &&
                    two_once.memory_peak_B > two.memory_peak_B,
                "%d: %g B, whole %g, once %g", k, three.memory_peak_B, whole.memory_peak_B,
                once.memory_peak_B);
    }
}

static void engines_agree(void **state) {
    static const char *const more[] = {"reshard_after_forward=false",
                                       "gradient_sync=iteration"};
    (void)state;
    for (int k = 0; k < SETTINGS; k++)
        for (int w = 0; w < 2; w++) {
            struct fr_simulate_options options = {.network = NULL};
            struct fr_simulation s;
            struct fr_job job;
            double closed_s = price(k, "zero=3", more[w]).time_s;
            load(k, "zero=3", more[w], &job);
            for (int i = 0; fr_networks[i]; i++)
                if (strcmp(fr_networks[i]->name, "isolated") == 0)
                    options.network = fr_networks[i];
            assert_int_equal(fr_simulate(&job, &job.plan, &options, &s, NULL), FR_OK);
            FR_NEAR(s.outcome.time_s, closed_s, 1e-9);
            fr_simulation_free(&s);
            fr_job_free(&job);
        }
}

/* Weight by weight holds no more than layer by layer, and takes as long. */
static void gathers_of_weights(void **state) {
    (void)state;
    for (int k = 0; k < SETTINGS; k++) {
        struct fr_outcome layers = price(k, "zero=3", "cluster.device.gathers=0"),
                          weights = price(k, "zero=3", "cluster.device.gathers=1");
        FR_NEAR(weights.time_s, layers.time_s, 1e-12);
        FR_TRUE(weights.memory_peak_B < layers.memory_peak_B, "%d: %g B, weights %g", k,
                layers.memory_peak_B, weights.memory_peak_B);
    }
    struct fr_outcome layers = price(0, "zero=3", "cluster.device.gathers=0"),
                      weights = price(0, "zero=3", "cluster.device.gathers=1");
    /* Two layers and their gradients; two weights of h f and a gradient of one. */
    double h = 4096, f = 14336,
           each_B[] = {2, layers.memory_B[FR_MEMORY_GRADIENTS] >
                                  1.5 * layers.memory_B[FR_MEMORY_PARAMETERS]
                              ? 4
                              : 2};
    FR_TRUE(layers.memory_peak_B - weights.memory_peak_B >
                1.5 * (each_B[0] + each_B[1]) * 3 * h * f - (2 * each_B[0] + each_B[1]) * h * f,
            "%g of %g B", weights.memory_peak_B, layers.memory_peak_B);
}

/* Moments at 8 bits: 2 + 8/256 B in place of 8, and the step moves as much less. */
static void moments_of_8_bits(void **state) {
    struct fr_job whole, narrow;
    (void)state;
    load(0, "zero=1", "model.optimizer_state=12 B", &whole);
    load(0, "zero=1", "model.optimizer_state=8-bit", &narrow);
    FR_NEAR(narrow.workload.optimizer_state_B, 6 + 8 / 256.0, 1e-12);
    assert_true(fr_optimizer_is_8_bit(&narrow.workload) &&
                !fr_optimizer_is_8_bit(&whole.workload));
    FR_NEAR(fr_workload_update_B(&whole.workload) - fr_workload_update_B(&narrow.workload),
            2 * (6 - 8 / 256.0), 1e-12);
    fr_job_free(&whole);
    fr_job_free(&narrow);
    struct fr_outcome a = price(0, "zero=1", "model.optimizer_state=12 B"),
                      b = price(0, "zero=1", "model.optimizer_state=8-bit");
    FR_NEAR(b.memory_B[FR_MEMORY_OPTIMIZER] / a.memory_B[FR_MEMORY_OPTIMIZER],
            (6 + 8 / 256.0) / 12, 1e-12);
    FR_TRUE(b.time_s < a.time_s, "%g s of %g", b.time_s, a.time_s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_exchanges), cmocka_unit_test(engines_agree),
        cmocka_unit_test(gathers_of_weights), cmocka_unit_test(moments_of_8_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
