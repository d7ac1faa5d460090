/* Rates by working set: between the measured sets by hand, without them as ever; and a step through
 * them is priced alike by every way of pricing. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/plan/compression.h"
#include "models/price/codec_price.h"
#include "models/price/footprint.h"
#include "models/work/method.h"
#include "tests/job.h"

#define SETS                                                                                   \
    "cluster.device.working_sets={\"size\": [\"1 MB\", \"4 MB\", \"64 MB\"], "                 \
    "\"stream\": [\"80 GB/s\", \"20 GB/s\", \"10 GB/s\"], "                                    \
    "\"update\": [\"60 GB/s\", \"30 GB/s\", \"15 GB/s\"], "                                    \
    "\"operands\": [\"1 PB/s\", \"40 GB/s\", \"8 GB/s\"]}"
#define MEMORY "cluster.device.memory_bandwidth=10 GB/s"

static void rates_between_sets(void **state) {
    (void)state;
    const char *const sets[] = {MEMORY, SETS, NULL};
    struct fr_job job;
    const struct fr_working_sets none = {.n = 0};
    for (int kind = 0; kind < FR_TRAFFIC_COUNT; kind++) /* what is beside products is in them */
        FR_NEAR(fr_working_sets_share(&none, (fr_traffic)kind, 1e6),
                kind < FR_TRAFFIC_OPERANDS ? 1 : 0, 0);
    fr_test_job("frontier", "ffn-4096", sets, &job);
    const struct fr_device *d = &job.cluster.device;
    FR_NEAR(fr_device_traffic_s(d, FR_TRAFFIC_STREAM, 8e6, 5e5), 8e6 / 80e9, 1e-12);
    FR_NEAR(fr_device_traffic_s(d, FR_TRAFFIC_STREAM, 8e6, 4e6), 8e6 / 20e9, 1e-12);
    FR_NEAR(fr_device_traffic_s(d, FR_TRAFFIC_UPDATE, 8e6, 1e12), 8e6 / 15e9, 1e-12);
    /* Half way in logarithms between 4 and 64 MB the time per byte is the mean of both. */
    FR_NEAR(fr_device_traffic_s(d, FR_TRAFFIC_STREAM, 1, 16e6), (1 / 20e9 + 1 / 10e9) / 2,
            1e-12);
    for (double set_B = 1e5; set_B < 1e9; set_B *= 1.1)
        assert_true(fr_device_traffic_s(d, FR_TRAFFIC_STREAM, 1, 1.1 * set_B) >=
                    fr_device_traffic_s(d, FR_TRAFFIC_STREAM, 1, set_B));
    fr_job_free(&job);
}

static void operands_cost_what_the_larger_set_adds(void **state) {
    (void)state;
    const char *const sets[] = {MEMORY, SETS, NULL};
    struct fr_job job;
    bool outside = false;
    fr_test_job("frontier", "ffn-4096", sets, &job);
    const struct fr_device *d = &job.cluster.device;
    const struct fr_gemm_shape small = {256, 32, 256, 1, 0}, large = {8192, 8192, 8192, 1, 0};
    double alone_s = fr_gemm_time_s(d, FR_FP32, &small, &outside);
    double operands_B = (256 * 256 + 2 * 256 * 32) * 4.0;
    FR_NEAR(
        fr_device_product_s(d, FR_FP32, &small, operands_B, (struct fr_gemm_use){0}, &outside),
        alone_s, 1e-15);
    FR_NEAR(fr_device_product_s(d, FR_FP32, &small, 64e6, (struct fr_gemm_use){0}, &outside),
            alone_s + operands_B / 8e9 - operands_B / 1e15, 1e-12);
    /* A working set alone beyond all sets pays nothing more. */
    FR_NEAR(fr_device_product_s(d, FR_FP32, &large, 1e12, (struct fr_gemm_use){.adds = true},
                                &outside),
            fr_gemm_time_s(d, FR_FP32, &large, &outside), 1e-15);
    fr_job_free(&job);
}

/* Written bytes cost by their own rates; a weight gradient that adds to what is there reads it too. */
static void results_cost_less_until_they_are_added_to(void **state) {
    (void)state;
    static const char with[] =
        "cluster.device.working_sets={\"size\": [\"1 MB\", \"64 MB\"], "
        "\"stream\": [\"20 GB/s\", \"10 GB/s\"], \"update\": [\"20 GB/s\", \"10 GB/s\"], "
        "\"operands\": [\"1 PB/s\", \"8 GB/s\"], \"results\": [\"1 PB/s\", \"40 GB/s\"]}";
    const char *const sets[] = {MEMORY, with, NULL};
    struct fr_job job;
    bool outside = false;
    fr_test_job("frontier", "ffn-4096", sets, &job);
    const struct fr_device *d = &job.cluster.device;
    const struct fr_gemm_shape gradient = {256, 128, 32, 1, 0};
    double alone_s = fr_gemm_time_s(d, FR_FP32, &gradient, &outside),
           read_B = 4.0 * 32 * (256 + 128), written_B = 4.0 * 256 * 128;
    double once_s = fr_device_product_s(d, FR_FP32, &gradient, 64e6, (struct fr_gemm_use){0},
                                        &outside),
           added_s = fr_device_product_s(d, FR_FP32, &gradient, 64e6,
                                         (struct fr_gemm_use){.adds = true}, &outside);
    FR_NEAR(once_s - alone_s, read_B * (1 / 8e9 - 1 / 1e15) + written_B * (1 / 40e9 - 1 / 1e15),
            1e-9);
    FR_NEAR(added_s - once_s, written_B * (1 / 8e9 - 1 / 1e15), 1e-9);
    fr_job_free(&job);
}

/* Kinds that are not stated are streams; norms and softmaxes that are slow lengthen a step by what
 * they move of it, and only such steps. */
static void kinds_of_traffic(void **state) {
    (void)state;
    static const char slow[] =
        "cluster.device.working_sets={\"size\": [\"1 MB\", \"64 MB\"], "
        "\"stream\": [\"10 GB/s\", \"10 GB/s\"], \"norm\": [\"2 GB/s\", \"2 GB/s\"], "
        "\"softmax\": [\"5 GB/s\", \"5 GB/s\"], \"update\": [\"10 GB/s\", \"10 GB/s\"], "
        "\"operands\": [\"1 PB/s\", \"1 PB/s\"]}";
    static const struct fr_elementwise work = {100e9, 20e9, 30e9, 4e6, 0};
    const char *const sets[] = {MEMORY, slow, NULL};
    struct fr_job job;
    fr_test_job("frontier", "ffn-4096", sets, &job);
    FR_NEAR(fr_cluster_elementwise_s(&job.cluster, FR_FP32, work),
            50e9 / 10e9 + 20e9 / 2e9 + 30e9 / 5e9, 1e-12);
    fr_job_free(&job);
    static const char *const models[] = {"gpt-2.5b", "ffn-4096"};
    for (int k = 0; k < 2; k++) {
        const char *with[] = {MEMORY, k ? "tp=2" : "pp=4", "attention=plain", slow, NULL};
        struct fr_outcome out[2];
        double slower_s = 0;
        for (int i = 0; i < 2; i++) {
            with[3] = i ? slow : NULL;
            fr_test_job(k ? "frontier" : "a100-hdr", models[k], with, &job);
            fr_cost(&job, &job.plan, &out[i]);
            /* Forward, backward; four stages of 13 layers work at once on all but the bubble. */
            const struct fr_transformer *t = &job.workload.transformer;
            double tokens = (double)t->sequence, h = (double)t->hidden, a = (double)t->heads,
                   value_B = fr_dtype_saved_B(job.workload.dtype);
            double norm_B = 2 * FR_NORM_PASSES * tokens * h * value_B,
                   softmax_B = FR_SOFTMAX_PASSES * a * tokens * tokens * value_B;
            slower_s = 3 * (double)t->layers * (norm_B / 2e9 + softmax_B / 5e9) -
                       3 * (double)t->layers * (norm_B + softmax_B) / 10e9;
            slower_s *= (double)fr_job_batch(&job, &job.plan) / 4;
            fr_job_free(&job);
        }
        double more_s = out[1].part_s[FR_PART_COMPUTE] - out[0].part_s[FR_PART_COMPUTE];
        FR_NEAR(more_s + 1, k ? 1 : slower_s + 1, 1e-9);
    }
}

/* All at the rate of memory, and operands that cost nothing: as without working sets. */
static void equal_rates_change_nothing(void **state) {
    (void)state;
    static const char *const models[] = {"ffn-4096", "alexnet", "gpt-2.5b"};
    static const char *const plans[][3] = {{"method=phantom", "tp=8", "ghost=16"},
                                           {"method=grid", "tp=4", "dp=4"},
                                           {"tp=2", "pp=4", "micro_batch=1"}};
    static const char equal[] =
        "cluster.device.working_sets={\"size\": [\"1 MB\", \"64 MB\"], \"stream\": [\"10 "
        "GB/s\", "
        "\"10 GB/s\"], \"update\": [\"10 GB/s\", \"10 GB/s\"], \"operands\": [\"1 PB/s\", \"1 "
        "PB/s\"]}";
    for (int k = 0; k < 3; k++) {
        const char *with[] = {MEMORY, plans[k][0], plans[k][1], plans[k][2], equal, NULL};
        struct fr_job job;
        struct fr_outcome out[2];
        for (int i = 0; i < 2; i++) {
            with[4] = i ? equal : NULL;
            fr_test_job(k == 2 ? "a100-hdr" : "frontier", models[k], with, &job);
            fr_cost(&job, &job.plan, &out[i]);
            assert_int_equal(out[i].reasons & ~FR_BECAUSE(FR_REASON_MEMORY), 0);
            fr_job_free(&job);
        }
        FR_NEAR(out[1].time_s, out[0].time_s, 1e-12);
    }
}

/* The same layers with every part of their state in cache are faster, and never slower. */
static void small_steps_gain(void **state) {
    (void)state;
    static const char *const widths[] = {"model.width=256", "model.width=65536"};
    double gain[2];
    for (int k = 0; k < 2; k++) {
        const char *with[] = {MEMORY, "method=tensor", "tp=2", widths[k], SETS, NULL};
        struct fr_job job;
        struct fr_outcome out[2];
        for (int i = 0; i < 2; i++) {
            with[4] = i ? SETS : NULL;
            fr_test_job("frontier", "ffn-4096", with, &job);
            fr_cost(&job, &job.plan, &out[i]);
            fr_job_free(&job);
        }
        gain[k] = out[0].part_s[FR_PART_COMPUTE] - out[1].part_s[FR_PART_COMPUTE];
    }
    assert_true(gain[0] > 0);
}

/* A matrix just made is coded out of cache, and one from a larger set pays for its operands, once a
 * product, and its passes at that set's rate. */
static void codecs_read_from_the_working_set(void **state) {
    (void)state;
    const char *const sets[] = {MEMORY, SETS, NULL};
    struct fr_job job;
    uint32_t outside = 0;
    fr_test_job("frontier", "ffn-4096", sets, &job);
    struct fr_pricing price = {
        .cluster = &job.cluster, .dtype = FR_FP32, .extrapolated = &outside};
    const struct fr_codec_work work = {
        .gemm = {{.shape = {.m = 256, .n = 8, .k = 256, .batch = 1}, .count = 1}},
        .n_gemms = 1,
        .moved_B = 4e5};
    double made_s = fr_codec_s(&price, &work);
    price.products_B = 64e6;
    double there_s = fr_codec_s(&price, &work);
    double operands_B = (256 * 256 + 2 * 256 * 8) * 4.0;
    FR_NEAR(there_s - made_s, operands_B / 8e9 - operands_B / 1e15 + 4e5 / 10e9 - 4e5 / 80e9,
            1e-9);
    fr_job_free(&job);
}

/* A sort's passes go at their own rate, each over what it reads and writes; where nobody measured that, all that a
 * codec moves is one stream, to the bit. */
static void a_sort_has_its_own_rate(void **state) {
    (void)state;
    const char *const plain[] = {MEMORY, SETS, NULL},
                      *const sorts[] = {MEMORY, SETS,
                                        "cluster.device.working_sets.select=[\"8 GB/s\", \"4 "
                                        "GB/s\", \"2 GB/s\"]",
                                        NULL};
    const struct fr_codec_args a = {.m = 500, .n = 500, .rank = 8, .value_B = 4, .parts = 1};
    struct fr_codec_work work = {0}, streamed;
    fr_compression_topk.encode(&a, &work);
    streamed = work;
    streamed.passes = streamed.passed_B = 0;
    double pass_B = 4e6, sent_B = 1000 * 8 * 8.0;
    FR_NEAR(work.moved_B, 4 * pass_B + 2 * sent_B, 1e-15);
    for (int k = 0; k < 2; k++) {
        struct fr_job job;
        uint32_t outside = 0;
        fr_test_job("frontier", "ffn-4096", k ? sorts : plain, &job);
        const struct fr_pricing price = {.cluster = &job.cluster,
                                         .dtype = FR_FP32,
                                         .products_B = 64e6,
                                         .extrapolated = &outside};
        double time_s = fr_codec_s(&price, &work), streamed_s = fr_codec_s(&price, &streamed);
        if (k)
            FR_NEAR(time_s - streamed_s, 4 * pass_B * (1 / 4e9 - 1 / 10e9), 1e-9);
        else
            assert_true(time_s == streamed_s);
        fr_job_free(&job);
    }
}

/* PowerSGD comes back to a matrix that it has just added to: its products' operands come from what lies between,
 * not from all that a step goes through. */
static void a_codec_stays_with_its_matrix(void **state) {
    (void)state;
    const char *const sets[] = {MEMORY, SETS, NULL};
    struct fr_codec_args a = {.m = 500, .n = 500, .rank = 8, .value_B = 4, .parts = 1};
    struct fr_job job;
    uint32_t outside = 0;
    /* Three products touch the matrix and its factors; between lie the matrix, what is lost and the factors. */
    double time_s[2], touched_B = 3 * 4 * (500 * 500 + 1000 * 8.),
                      set_B = 4 * (2 * 500 * 500 + 1000 * 8.),
                      near_s_per_B = log(set_B / 1e6) / log(4) / 40e9;
    fr_test_job("frontier", "ffn-4096", sets, &job);
    for (int k = 0; k < 2; k++) {
        struct fr_codec_work work = {0};
        a.residual = true;
        fr_compression_powersgd.encode(&a, &work);
        if (k) work.set_B = 0;
        const struct fr_pricing price = {.cluster = &job.cluster,
                                         .dtype = FR_FP32,
                                         .products_B = 64e6,
                                         .extrapolated = &outside};
        time_s[k] = fr_codec_s(&price, &work);
    }
    FR_NEAR(time_s[1] - time_s[0], touched_B * (1 / 8e9 - near_s_per_B), 1e-4);
    fr_job_free(&job);
}

/* A share of noise lengthens what is computed by that share, and nothing else. */
static void noise_lengthens_compute(void **state) {
    (void)state;
    const char *with[] = {"method=phantom", "tp=8", "ghost=16", "cluster.device.noise=0.25",
                          NULL};
    struct fr_job job;
    struct fr_outcome out[2];
    for (int i = 0; i < 2; i++) {
        with[3] = i ? "cluster.device.noise=0.25" : NULL;
        fr_test_job("frontier", "ffn-4096", with, &job);
        fr_cost(&job, &job.plan, &out[i]);
        fr_job_free(&job);
    }
    for (int part = 0; part < FR_PART_COUNT; part++)
        FR_NEAR(out[1].part_s[part] + 1,
                out[0].part_s[part] * (part == FR_PART_COMPUTE ? 1.25 : 1) + 1, 1e-12);
}

static void footprint(void **state) {
    (void)state;
    const struct fr_job w = {.workload = {.dtype = FR_FP32,
                                          .gradient_dtype = FR_FP32,
                                          .weight_dtype = FR_FP32,
                                          .optimizer_state_B = 8}};
    const struct fr_job mixed = {.workload = {.dtype = FR_BF16,
                                              .gradient_dtype = FR_FP32,
                                              .weight_dtype = FR_BF16,
                                              .optimizer_state_B = 12}};
    struct fr_footprint f = {0}, other = {0};
    fr_footprint_add(&other, &mixed, 1e6, 7e5);
    FR_NEAR(other.weights_B, 2e6, 0);
    FR_NEAR(other.pass_B, 6e6, 0);
    FR_NEAR(other.state_B, 18e6, 0);
    FR_NEAR(other.activation_B, 7e5, 0);
    /* Frozen ones have neither gradient nor optimiser, in an update and in a pass. */
    for (int share = 0; share <= 4; share++) {
        struct fr_footprint frozen = other;
        fr_footprint_freeze(&frozen, &mixed.workload, 1e6 * share / 4);
        FR_NEAR(frozen.weights_B, 2e6, 0);
        FR_NEAR(frozen.pass_B, 2e6 + 4e6 * (4 - share) / 4, 1e-12);
        FR_NEAR(frozen.state_B, 2e6 + 16e6 * (4 - share) / 4, 1e-12);
        FR_NEAR(frozen.activation_B, 7e5, 0);
    }
    /* A set that is held nowhere is met nowhere. */
    const struct fr_footprint none = {.activation_B = 1e6};
    struct fr_pricing priced = {.products_B = 1};
    fr_footprint_price(&none, 2, &priced);
    assert_true(priced.products_B == 0 && priced.update_B == 1e6 &&
                priced.weight_gradient.adds);
    for (int pass = 0; pass < FR_PASS_KINDS; pass++) assert_true(priced.met_B[pass] == 0);
    fr_footprint_add(&f, &w, 1e6, 5e5);
    fr_footprint_add(&f, &w, 2e6, 5e5);
    FR_NEAR(f.weights_B, 12e6, 0);
    FR_NEAR(f.pass_B, 24e6, 0);
    FR_NEAR(fr_footprint_update_B(&f), 3e6 * 16 + 1e6, 1e-12);
    FR_NEAR(fr_footprint_products_B(&f, 1), 3e6 * 16 + 1e6, 1e-6);
    FR_NEAR(fr_footprint_products_B(&f, 1e9), 3e6 * 8 + 1e6, 1e-6);
    FR_NEAR(fr_footprint_products_B(&f, 2), sqrt((3e6 * 16 + 1e6) * (3e6 * 8 + 1e6)), 1e-6);
}

/* ---- how much is touched between two touches, by going through a step -------------------------- */

enum { LAYERS = 300, PARTS = 4 }; /* weights, gradients, optimiser, activations */
static const double part_B[PARTS] = {4, 5, 8, 3};

static struct {
    int64_t touched[LAYERS][PARTS], now; /* when last; 0: never */
    double sum_B;                        /* of distances asked for */
} step;

static void touch(int layer, int part) { step.touched[layer][part] = ++step.now; }

/* Other bytes that were touched since this was. */
static void ask(int layer, int part) {
    for (int l = 0; l < LAYERS; l++)
        for (int p = 0; p < PARTS; p++)
            if (step.touched[l][p] > step.touched[layer][part]) step.sum_B += part_B[p];
}

static double mean_B(void) {
    double mean = step.sum_B / LAYERS;
    step.sum_B = 0;
    return mean;
}

static double forward_B(void) {
    for (int l = 0; l < LAYERS; l++) ask(l, 0), touch(l, 0), touch(l, 3);
    return mean_B();
}

static double backward_B(double *weight_B) {
    double sums_B[2] = {0};
    for (int l = LAYERS; l-- > 0;) {
        touch(l, 3);
        for (int k = 0; k < 2; k++) { /* weight gradient, then input gradient */
            ask(l, 1 - k);
            touch(l, 1 - k);
            sums_B[k] += mean_B();
        }
    }
    *weight_B = sums_B[0];
    return sums_B[1];
}

static void distances_are_those_of_a_step(void **state) {
    (void)state;
    struct fr_footprint f = {.weights_B = 4.0 * LAYERS,
                             .pass_B = 9.0 * LAYERS,
                             .state_B = 17.0 * LAYERS,
                             .activation_B = 3.0 * LAYERS};
    double got[2][3];
    for (int again = 0; again < 2; again++) { /* the second step follows on an optimiser */
        for (int l = 0; l < LAYERS; l++) touch(l, 0), touch(l, 1), touch(l, 2);
        for (int micro = 0; micro < 2; micro++) {
            got[micro][0] = forward_B();
            got[micro][2] = backward_B(&got[micro][1]);
        }
    }
    static const int passes[] = {FR_PASS_FORWARD, FR_PASS_WEIGHT, FR_PASS_INPUT};
    for (int micro = 0; micro < 2; micro++) {
        struct fr_pricing price = {0};
        fr_footprint_price(&f, micro ? 1e12 : 1, &price);
        assert_int_equal(price.weight_gradient.adds, micro > 0);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(price.met_B[passes[k]] / got[micro][k] - 1) < 2.0 / LAYERS);
        FR_NEAR(price.met_B[FR_PASS_AGAIN], price.met_B[FR_PASS_INPUT], 1e-12);
    }
}

static void bad_sets_are_refused(void **state) {
    (void)state;
    struct fr_error err = fr_test_refused("frontier", "ffn-4096",
                                          "cluster.device.working_sets={\"size\": [\"4 MB\", "
                                          "\"1 MB\"], \"stream\": [], \"update\": "
                                          "[], \"operands\": []}");
    assert_non_null(strstr(err.detail, "larger than the one before"));
    err = fr_test_refused("frontier", "ffn-4096",
                          "cluster.device.working_sets={\"size\": [\"1 MB\", \"4 MB\"], "
                          "\"stream\": [\"10 GB/s\"]}");
    assert_non_null(strstr(err.where, "stream"));
}

static double thrice(const struct fr_gemm_model *model, const struct fr_gemm_shape *shape) {
    (void)model, (void)shape;
    return log(3);
}

/* A product that takes three times as long from memory takes two times its own more at most, whatever a set between
 * the caches and memory was measured to cost: a disturbed one cost fifty times as much as memory. */
static void the_way_to_memory_is_at_most_whole(void **state) {
    static const struct fr_gemm_form form = {.name = "thrice", .log_from_memory = thrice};
    struct fr_device device = {.memory_rate_B_per_s = 1e10,
                               .gemm[FR_FP32] = {.form = &form, .memory = {.present = true}},
                               .working_sets = {.n = 3}};
    const struct fr_gemm_shape shape = {256, 32, 256, 1, 0};
    const double share[] = {0, 50, 1};
    (void)state;
    for (int i = 0; i < 3; i++) {
        device.working_sets.log_size[i] = log(1e6) + i * log(8);
        device.working_sets.share[FR_TRAFFIC_OPERANDS][i] = share[i];
        device.working_sets.share[FR_TRAFFIC_RESULTS][i] = share[i];
    }
    for (double set_B = 5e5; set_B < 1e9; set_B *= 1.5) {
        double more_s =
            fr_device_product_beyond_s(&device, FR_FP32, &shape, 1e-3, set_B, false);
        FR_TRUE(more_s <= 2e-3 * (1 + 1e-12), "%g s of a set of %g MB", more_s, set_B / 1e6);
        if (set_B > 8e6) FR_NEAR(more_s, 2e-3, 1e-12);
    }
}

/* Norms that move K times as much take K times as long, whether kinds of traffic were measured or not; nothing else
 * moves. */
static void norms_with_casts_move_more(void **state) {
    static const struct fr_elementwise work = {100e9, 20e9, 30e9, 4e6, 0},
                                       norms = {20e9, 20e9, 0, 4e6, 0},
                                       none = {50e9, 0, 30e9, 4e6, 0};
    static const char *const clusters[] = {"dgx-a100", "a40"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fr_job job;
        fr_test_job(clusters[i], "llama-3-8b", (const char *[]){"dp=4", i ? SETS : NULL, NULL},
                    &job);
        struct fr_cluster with = job.cluster;
        with.device.framework.norm_traffic = 2.8;
        double all_s = fr_cluster_elementwise_s(&job.cluster, FR_BF16, work),
               norm_s = fr_cluster_elementwise_s(&job.cluster, FR_BF16, norms);
        assert_true(norm_s > 0);
        FR_NEAR(fr_cluster_elementwise_s(&with, FR_BF16, work), all_s + 1.8 * norm_s, 1e-12);
        FR_NEAR(fr_cluster_elementwise_s(&with, FR_BF16, none),
                fr_cluster_elementwise_s(&job.cluster, FR_BF16, none), 1e-15);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_way_to_memory_is_at_most_whole),
        cmocka_unit_test(rates_between_sets),
        cmocka_unit_test(operands_cost_what_the_larger_set_adds),
        cmocka_unit_test(results_cost_less_until_they_are_added_to),
        cmocka_unit_test(kinds_of_traffic),
        cmocka_unit_test(equal_rates_change_nothing),
        cmocka_unit_test(small_steps_gain),
        cmocka_unit_test(codecs_read_from_the_working_set),
        cmocka_unit_test(a_sort_has_its_own_rate),
        cmocka_unit_test(a_codec_stays_with_its_matrix),
        cmocka_unit_test(noise_lengthens_compute),
        cmocka_unit_test(footprint),
        cmocka_unit_test(distances_are_those_of_a_step),
        cmocka_unit_test(bad_sets_are_refused),
        cmocka_unit_test(norms_with_casts_move_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
