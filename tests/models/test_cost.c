/* The closed form against identities of the papers, and against laws any plan keeps. */
#include "models/outcome/cost.h"
#include "tests/job.h"

static struct fr_outcome price(const char *cluster, const char *model,
                               const char *const *sets) {
    struct fr_job job;
    struct fr_outcome out;
    fr_test_job(cluster, model, sets, &job);
    fr_cost(&job, &job.plan, &out);
    out.plan.layer_tp = NULL;
    fr_job_free(&job);
    return out;
}

#define PRICE(cluster, model, ...)                                                             \
    price(cluster, model, (const char *const[]){__VA_ARGS__, NULL})

/* n^2/p + k n p + n per layer, summed over ranks; REFERENCE's seven values. */
static void parameters(void **state) {
    (void)state;
    static const struct {
        const char *tp, *ghost;
        double p, k, rounded_M;
    } rows[] = {{"tp=8", "ghost=16", 8, 16, 71},   {"tp=16", "ghost=6", 16, 6, 37},
                {"tp=32", "ghost=4", 32, 4, 21},   {"tp=64", "ghost=2", 64, 2, 13},
                {"tp=128", "ghost=2", 128, 2, 13}, {"tp=256", "ghost=4", 256, 4, 36}};
    double n = 16384;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_outcome out =
            PRICE("frontier", "ffn-16384", "method=phantom", rows[i].tp, rows[i].ghost);
        FR_NEAR(out.parameters, 2 * (n * n / rows[i].p + rows[i].k * n * rows[i].p + n), 1e-15);
        FR_NEAR(round(out.parameters / 1e6), rows[i].rounded_M, 0);
        FR_NEAR(out.parameters_rank_max * rows[i].p, out.parameters, 1e-15);
        struct fr_outcome tensor = PRICE("frontier", "ffn-16384", rows[i].tp);
        FR_NEAR(tensor.parameters, 2 * (n * n + n), 0);
        assert_true(out.memory_peak_B < tensor.memory_peak_B);
    }
}

static void parts_add_up_and_energy_follows(void **state) {
    (void)state;
    struct fr_outcome out =
        PRICE("frontier", "ffn-16384", "method=phantom", "tp=32", "ghost=4");
    double sum_s = 0, sum_B = 0;
    for (int i = 0; i < FR_PART_COUNT; i++) sum_s += out.part_s[i];
    for (int i = 0; i < FR_MEMORY_COUNT; i++) sum_B += out.memory_B[i];
    FR_NEAR(out.time_s, sum_s, 1e-15);
    FR_NEAR(out.memory_peak_B, sum_B, 1e-15);
    double busy_s =
        out.part_s[FR_PART_COMPUTE] + out.part_s[FR_PART_LAUNCH] + out.part_s[FR_PART_FIXED];
    FR_NEAR(out.energy_J, 32 * (560 * busy_s + 90 * out.part_s[FR_PART_TP_COMM]), 1e-12);
    FR_NEAR(out.total_energy_J, 267 * out.energy_J, 1e-15);
    FR_NEAR(out.total_time_s, 267 * out.time_s, 1e-15);
}

/* Launches: 6 kernels an operator, p + 1 operators a layer. */
static void launch_grows_with_ranks(void **state) {
    (void)state;
    struct fr_outcome out = PRICE("frontier", "ffn-16384", "method=phantom", "tp=256",
                                  "ghost=4", "cluster.device.launch=1us");
    FR_NEAR(out.part_s[FR_PART_LAUNCH], 6 * 257 * 2 * 1e-6, 1e-12);
}

/* Eq. 4 of the 1.5D paper at its ends: pure model is Eq. 2, pure data is Eq. 3.  Eight ranks divide
 * every layer's channels. */
static void grid_ends(void **state) {
    (void)state;
    double alpha = 2e-6, beta = 4 / 6e9, w = 60965224, d = 659272, b = 2048;
    struct fr_outcome data = PRICE("cori-knl", "alexnet", "method=grid", "dp=64");
    struct fr_outcome model = PRICE("cori-knl", "alexnet", "method=grid", "tp=8");
    FR_NEAR(data.part_s[FR_PART_DP_COMM], 2 * (8 * alpha * 6 + 63.0 / 64 * beta * w), 1e-12);
    assert_true(data.part_s[FR_PART_TP_COMM] == 0);
    FR_NEAR(model.part_s[FR_PART_TP_COMM], 3 * (8 * alpha * 3 + b * 7.0 / 8 * beta * d), 1e-12);
    assert_true(model.part_s[FR_PART_DP_COMM] == 0);
    /* Bytes a rank sends: the bandwidth term without beta. */
    FR_NEAR(data.sent_B[FR_SENT_DP], 2 * 63.0 / 64 * 4 * w, 1e-12);
    FR_NEAR(model.sent_B[FR_SENT_TP], 3 * b * 7.0 / 8 * 4 * d, 1e-12);
}

static void best_grid_of_512(void **state) {
    (void)state;
    struct fr_outcome grid = PRICE("cori-knl", "alexnet", "method=grid", "tp=4", "dp=128");
    FR_NEAR(grid.part_s[FR_PART_TP_COMM] + grid.part_s[FR_PART_DP_COMM], 36.306e-3, 2e-5);
    struct fr_outcome data = PRICE("cori-knl", "alexnet", "method=grid", "dp=512");
    FR_NEAR(data.part_s[FR_PART_DP_COMM], 81.416e-3, 1e-5);
}

/* A list that repeats the uniform grid is the uniform grid. */
static void layer_tp_uniform(void **state) {
    (void)state;
    struct fr_outcome a = PRICE("cori-knl", "alexnet", "method=grid", "tp=4", "dp=128");
    struct fr_outcome b = PRICE("cori-knl", "alexnet", "method=grid", "tp=4", "dp=128",
                                "layer_tp=[4,4,4,4,4,4,4,4]");
    FR_NEAR(b.time_s, a.time_s, 1e-15);
    assert_true(b.part_s[FR_PART_REDISTRIBUTION] == 0);
    struct fr_outcome c =
        PRICE("cori-knl", "alexnet", "method=grid", "dp=512", "layer_tp=[1,1,1,1,1,32,32,32]");
    /* One move, 512 -> 16 data ranks: an all-gather among 32 of 9216 * 2048 / 16 values. */
    double size_B = 9216.0 * 2048 / 16 * 4;
    FR_NEAR(c.part_s[FR_PART_REDISTRIBUTION], 5 * 2e-6 + 31.0 / 32 * size_B / 6e9, 1e-12);
    /* Eq. 4 layer by layer, the last one's 1000 outputs over 32 ranks taken as 32 x 32. */
    double conv = 0, full = 0, latency = 2e-6, rate = 4 / 6e9;
    static const double filters[] = {34944, 307456, 885120, 663936, 442624},
                        outputs[] = {4096, 4096, 1024}, inputs[] = {9217, 4097, 4097},
                        reduced[] = {4096, 4096, 1000};
    for (int i = 0; i < 5; i++) conv += 2 * (latency * 9 + 511.0 / 512 * rate * filters[i]);
    for (int i = 0; i < 3; i++)
        full += 3 * latency * 5 + 31.0 / 32 * rate * 128 * (outputs[i] + 2 * reduced[i]) +
                2 * (latency * 4 + 15.0 / 16 * rate * outputs[i] * inputs[i] / 32);
    FR_NEAR(c.part_s[FR_PART_TP_COMM] + c.part_s[FR_PART_DP_COMM], conv + full, 1e-9);
}

/* Micro-batches repeat compute, launches and model-axis traffic, not the gradient exchange. */
static void micro_batches(void **state) {
    (void)state;
    struct fr_outcome one = PRICE("cori-knl", "alexnet", "method=grid", "tp=4", "dp=8",
                                  "cluster.device.launch=1us");
    struct fr_outcome four = PRICE("cori-knl", "alexnet", "method=grid", "tp=4", "dp=8",
                                   "micro_batch=64", "cluster.device.launch=1us");
    FR_NEAR(four.part_s[FR_PART_LAUNCH], 4 * one.part_s[FR_PART_LAUNCH], 1e-12);
    FR_NEAR(four.part_s[FR_PART_DP_COMM], one.part_s[FR_PART_DP_COMM], 1e-15);
    FR_NEAR(four.sent_B[FR_SENT_TP], one.sent_B[FR_SENT_TP], 1e-12);
    assert_true(four.part_s[FR_PART_COMPUTE] >
                one.part_s[FR_PART_COMPUTE]); /* smaller products are slower */
    assert_true(four.memory_B[FR_MEMORY_ACTIVATIONS] < one.memory_B[FR_MEMORY_ACTIVATIONS]);
}

static void has_reason(const struct fr_outcome *out, int reason) {
    FR_TRUE(out->reasons & FR_BECAUSE(reason), "%s expected, got %#llx", fr_reason_names[reason],
            (unsigned long long)out->reasons);
    if (reason != FR_REASON_MEMORY) assert_true(isnan(out->time_s));
}

static void reasons(void **state) {
    (void)state;
    struct fr_outcome out;
    out = PRICE("frontier", "ffn-16384", "method=phantom", "tp=8"),
    has_reason(&out, FR_REASON_GHOST);
    out = PRICE("frontier", "ffn-16384", "method=phantom", "tp=8", "ghost=1792"),
    has_reason(&out, FR_REASON_GHOST_EQ8);
    out = PRICE("frontier", "ffn-16384", "method=phantom", "tp=8", "ghost=1791"),
    assert_int_equal(out.reasons, 0);
    out = PRICE("frontier", "ffn-16384", "method=phantom", "tp=1", "ghost=1"),
    has_reason(&out, FR_REASON_GHOST_EQ8);
    out = PRICE("frontier", "ffn-16384", "tp=7"), has_reason(&out, FR_REASON_WIDTH);
    out = PRICE("frontier", "ffn-16384", "dp=3"), has_reason(&out, FR_REASON_BATCH);
    out = PRICE("frontier", "ffn-16384", "pp=3"), has_reason(&out, FR_REASON_STAGES);
    out = PRICE("cori-knl", "alexnet", "method=grid", "pp=2", "layer_tp=[1,1,1,1,1,1,1,1]"),
    has_reason(&out, FR_REASON_PIPELINE);
    out = PRICE("frontier", "ffn-16384", "pp=2", "sequence_parallel=true"),
    has_reason(&out, FR_REASON_IDLE_KEY);
    out = PRICE("frontier", "ffn-16384", "pp=2", "schedule=gpipe"),
    assert_int_equal(out.reasons, 0);
    out = PRICE("frontier", "ffn-16384", "schedule=gpipe"),
    has_reason(&out, FR_REASON_IDLE_KEY);
    out = PRICE("frontier", "ffn-16384", "model.dtype=fp8"), has_reason(&out, FR_REASON_DTYPE);
    out = PRICE("frontier", "ffn-16384", "tp=131072"), has_reason(&out, FR_REASON_RANKS);
    out = PRICE("cori-knl", "alexnet", "method=tensor"), has_reason(&out, FR_REASON_LAYER);
    out = PRICE("cori-knl", "alexnet", "method=grid", "tp=128"),
    has_reason(&out, FR_REASON_TOO_WIDE);
    out = PRICE("frontier", "ffn-262144", "tp=32"), has_reason(&out, FR_REASON_MEMORY);
    out = PRICE("frontier", "ffn-262144", "tp=32", "method=phantom", "ghost=64"),
    assert_int_equal(out.reasons, 0);
}

/* Slower hardware never makes a plan faster: every coefficient of the cluster, one at a time. */
static void monotone_in_the_cluster(void **state) {
    (void)state;
    static const char *const worse[] = {"cluster.device.launch=100us",
                                        "cluster.device.fixed=1s",
                                        "cluster.device.memory_bandwidth=1GB/s",
                                        "cluster.device.gemm.fp32.peak=1TFLOP/s",
                                        "cluster.device.gemm.fp32.half_dim=1000",
                                        "cluster.collectives.all_gather.c1=1ms",
                                        "cluster.collectives.all_gather.c2=5ns/B"};
    struct fr_outcome base =
        PRICE("frontier", "ffn-16384", "method=phantom", "tp=32", "ghost=4");
    for (size_t i = 0; i < sizeof worse / sizeof *worse; i++) {
        struct fr_outcome out =
            PRICE("frontier", "ffn-16384", "method=phantom", "tp=32", "ghost=4", worse[i]);
        FR_TRUE(out.time_s > base.time_s, "%s: %g s, was %g s", worse[i], out.time_s,
                base.time_s);
    }
}

/* Everybody waits for the fullest rank: 1000 or 1001 outputs over 16 cost what 16 x 63 do, but for
 * the input gradient, of which Eq. 4 counts as many values as leave the layer. */
static void what_does_not_divide_costs_the_fullest(void **state) {
    (void)state;
    static const struct {
        const char *tp, *dp, *uneven, *even;
        double p, fewer; /* values a sample */
    } rows[] = {
        {"tp=16", "dp=2", "model.layers.7.outputs=1000", "model.layers.7.outputs=1008", 16, 8},
        {"tp=16", "dp=2", "model.layers.7.outputs=1001", "model.layers.7.outputs=1008", 16, 7}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_outcome a = PRICE("cori-knl", "alexnet", "method=grid", rows[i].tp,
                                    rows[i].dp, rows[i].uneven),
                          b = PRICE("cori-knl", "alexnet", "method=grid", rows[i].tp,
                                    rows[i].dp, rows[i].even);
        double p = rows[i].p, reduced_B = rows[i].fewer * 1024 * 4,
               less_s = 2 * (p - 1) / p * reduced_B / 6e9;
        assert_int_equal(a.reasons, 0);
        FR_NEAR(a.part_s[FR_PART_COMPUTE], b.part_s[FR_PART_COMPUTE], 1e-12);
        FR_NEAR(a.part_s[FR_PART_LAUNCH], b.part_s[FR_PART_LAUNCH], 1e-12);
        FR_NEAR(a.part_s[FR_PART_DP_COMM], b.part_s[FR_PART_DP_COMM], 1e-12);
        FR_NEAR(b.part_s[FR_PART_TP_COMM] - a.part_s[FR_PART_TP_COMM], less_s, 1e-6);
        FR_NEAR(a.memory_B[FR_MEMORY_PARAMETERS], b.memory_B[FR_MEMORY_PARAMETERS], 1e-12);
        FR_NEAR(a.sent_B[FR_SENT_DP], b.sent_B[FR_SENT_DP], 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parameters),
                                       cmocka_unit_test(parts_add_up_and_energy_follows),
                                       cmocka_unit_test(launch_grows_with_ranks),
                                       cmocka_unit_test(grid_ends),
                                       cmocka_unit_test(best_grid_of_512),
                                       cmocka_unit_test(layer_tp_uniform),
                                       cmocka_unit_test(what_does_not_divide_costs_the_fullest),
                                       cmocka_unit_test(micro_batches),
                                       cmocka_unit_test(reasons),
                                       cmocka_unit_test(monotone_in_the_cluster)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
