/* The one price: every kind of operation by hand, what is booked, and what a list of them comes to. */
#include "models/price/operation.h"

#include <math.h>

#include "models/outcome/cost.h"
#include "models/price/layers.h"
#include "models/work/method.h"
#include "tests/job.h"
#include "tests/work.h"

/* 100 Tflop/s and 1 TB/s without more to say; a ring of eight at 2 us and 50 GB/s. */
static const char *const machine[] = {
    "cluster.device.gemm.fp32={\"peak\": \"100 TFLOP/s\", \"half_dim\": 0}",
    "cluster.device.memory_bandwidth=1 TB/s",
    "cluster.levels=[{\"name\": \"node\", \"ranks\": 8, \"latency\": \"2 us\", \"bandwidth\": "
    "\"50 GB/s\"}]",
    "cluster.collectives={\"all_reduce\": {\"form\": \"algorithm\", \"name\": \"ring\"}, "
    "\"all_gather\": {\"form\": \"algorithm\", \"name\": \"ring\"}}",
    "tp=8",
    NULL};

struct bench {
    struct fr_job job;
    struct fr_rank_map rank_map;
    struct fr_pricing price;
    double sent_B[FR_SENT_COUNT];
    uint32_t extrapolated;
};

static void open_bench(struct bench *b) {
    fr_test_job("frontier", "ffn-16384", machine, &b->job);
    struct fr_device *d = &b->job.cluster.device;
    d->attention = (struct fr_attention_rates){
        .plain = 0.25, .flash = 0.5, .backward = 0.8, .half_keys = 300};
    d->interference = 0.1;
    d->launch_s = 3e-6;
    assert_int_equal(fr_rank_map_make(&b->job, &b->job.plan, &b->rank_map, NULL), FR_OK);
    b->price = fr_pricing_make(&b->job, &b->job.plan, &b->rank_map, 5);
    b->price.sent_B = b->sent_B;
    b->price.extrapolated = &b->extrapolated;
    memset(b->sent_B, 0, sizeof b->sent_B);
    b->extrapolated = 0;
}

static void close_bench(struct bench *b) {
    fr_rank_map_free(&b->rank_map);
    fr_job_free(&b->job);
}

#define SHAPE(a, b, c) .shape = {a, b, c, 1, 0}

static void every_kind_by_hand(void **state) {
    (void)state;
    static const struct {
        struct fr_operation o;
        double want_s;
    } rows[] = {
        {{.kind = FR_WORK_PRODUCT, .times = 3, SHAPE(640, 320, 160)},
         3 * 2 * 640 * 320 * 160. / 100e12},
        /* A quarter of the peak, unless the operands' way takes longer: 64 x 64 of width 1. */
        {{.kind = FR_WORK_SCORES, .times = 2, SHAPE(512, 512, 512)},
         2 * 2 * 512 * 512 * 512. / 25e12},
        {{.kind = FR_WORK_SCORES, .times = 2, SHAPE(64, 64, 1)},
         2 * (64 * 64 + 64 + 64) * 4. / 1e12},
        {{.kind = FR_WORK_SCORES, .times = 2, SHAPE(64, 32, 1)},
         2 * (64 * 32 + 64 + 32) * 4. / 1e12},
        {{.kind = FR_WORK_ATTENTION, .times = 2, .size = 1e9}, 2 * 1e9 / 50e12},
        {{.kind = FR_WORK_ATTENTION, .pass = FR_PASS_INPUT, .times = 2, .size = 1e9},
         2 * 1e9 / 40e12},
        {{.kind = FR_WORK_ATTENTION, .pass = FR_PASS_AGAIN, .times = 2, .size = 1e9},
         2 * 1e9 / 50e12},
        /* A kernel that meets as many keys as half_keys: half of the rate. */
        {{.kind = FR_WORK_ATTENTION, .times = 2, .size = 1e9, .keys = 300},
         2 * 2 * 1e9 / 50e12},
        {{.kind = FR_WORK_TRAFFIC, .times = 2, .moved = {1e6, 2e5, 3e5, 1e6, 0}}, 2 * 1e6 / 1e12},
        {{.kind = FR_WORK_KERNELS, .times = 7}, 7 * 3e-6},
        {{.kind = FR_WORK_COLLECTIVE, .op = FR_OP_ALL_REDUCE, .times = 2, .size = 8e6},
         2 * 14 * (2e-6 + 1e6 / 50e9)},
        {{.kind = FR_WORK_COLLECTIVE, .op = FR_OP_ALL_GATHER, .times = 1, .size = 8e6},
         7 * (2e-6 + 1e6 / 50e9)},
        {{.kind = FR_WORK_COLLECTIVE, .axis = FR_AXIS_DP, .times = 2, .size = 8e6}, 0},
        {{.kind = FR_WORK_UPDATE, .times = 1, .size = 28e6}, 28e6 / 1e12},
        {{.kind = FR_WORK_STREAM, .times = 2, .size = 5e6}, 2 * 5e6 / 1e12},
    };
    struct bench b;
    open_bench(&b);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double got_s = fr_operation_s(&b.price, &rows[i].o);
        FR_TRUE(fabs(got_s - rows[i].want_s) <= 1e-12 * rows[i].want_s,
                "row %zu: %g s, by hand %g", i, got_s, rows[i].want_s);
    }
    FR_NEAR(fr_update_s(&b.price, &b.job.workload, 1e6), 28e6 / 1e12, 1e-12);
    close_bench(&b);
}

/* A rank sends a pass's bytes in an iteration as often as there are micro-batches, and those of every one of n equal
 * lists; bytes of an operation that is done once, n times. */
static void what_is_sent(void **state) {
    (void)state;
    struct bench b;
    struct fr_operation o = {
        .kind = FR_WORK_COLLECTIVE, .op = FR_OP_ALL_REDUCE, .times = 2, .size = 8e6};
    open_bench(&b);
    b.price.n = 3;
    fr_operation_s(&b.price, &o);
    FR_NEAR(b.sent_B[FR_SENT_TP], 2 * 5 * 3 * 2 * 7 / 8. * 8e6, 1e-12);
    b.sent_B[FR_SENT_TP] = 0;
    o.pass = FR_PASS_ONCE;
    fr_operation_s(&b.price, &o);
    FR_NEAR(b.sent_B[FR_SENT_TP], 2 * 3 * 2 * 7 / 8. * 8e6, 1e-12);
    close_bench(&b);
}

/* Bytes of a kind at that kind's rate of their working set. */
static void kinds_of_traffic(void **state) {
    (void)state;
    const char *const sets[] = {
        machine[0], machine[2],
        "cluster.device.working_sets={\"size\": [\"1 MB\", \"1 GB\"], \"stream\": [\"9 TB/s\", "
        "\"1 TB/s\"], \"elementwise\": [\"8 TB/s\", \"4 TB/s\"], \"norm\": [\"4 TB/s\", \"2 "
        "TB/s\"], \"softmax\": [\"2 TB/s\", \"1 TB/s\"], \"update\": [\"8 TB/s\", \"1 TB/s\"], "
        "\"operands\": [\"1 PB/s\", \"2 TB/s\"]}",
        NULL};
    struct fr_job job;
    uint32_t extrapolated = 0;
    fr_test_job("frontier", "ffn-16384", sets, &job);
    const struct fr_pricing x = {
        .cluster = &job.cluster, .dtype = FR_FP32, .extrapolated = &extrapolated};
    const struct fr_operation o = {
        .kind = FR_WORK_TRAFFIC, .times = 3, .moved = {6e8, 2e8, 1e8, 1e9, 0}};
    FR_NEAR(fr_operation_s(&x, &o), 3 * (3e8 / 4e12 + 2e8 / 2e12 + 1e8 / 1e12), 1e-9);
    fr_job_free(&job);
}

/* A product comes from what lies between two touches in its pass, where that is known, else from all there is;
 * only a weight gradient adds to what is there. */
static void products_come_from_their_working_set(void **state) {
    (void)state;
    const char *const sets[] = {
        machine[0], machine[2],
        "cluster.device.working_sets={\"size\": [\"1 MB\", \"1 GB\"], \"stream\": [\"9 TB/s\", "
        "\"1 TB/s\"], \"update\": [\"8 TB/s\", \"1 TB/s\"], \"operands\": [\"1 PB/s\", \"2 "
        "TB/s\"], \"results\": [\"1 PB/s\", \"1 TB/s\"]}",
        NULL};
    struct fr_job job;
    uint32_t extrapolated = 0;
    int adding = 0;
    fr_test_job("frontier", "ffn-16384", sets, &job);
    for (int pass = FR_PASS_FORWARD; pass <= FR_PASS_AGAIN; pass++)
        for (int met = 0; met < 2; met++)
            for (int adds = 0; adds < 2; adds++) {
                struct fr_pricing x = {.cluster = &job.cluster,
                                       .dtype = FR_FP32,
                                       .extrapolated = &extrapolated,
                                       .products_B = 7e8,
                                       .weight_gradient.adds = adds};
                for (int k = 0; met && k <= FR_PASS_AGAIN; k++) x.met_B[k] = 1e8 * (k + 1);
                const struct fr_operation o = {.kind = FR_WORK_PRODUCT,
                                               .pass = (uint8_t)pass,
                                               .times = 3,
                                               SHAPE(640, 320, 160)};
                bool outside = false, weight = pass == FR_PASS_WEIGHT;
                double from_B = met ? 1e8 * (pass + 1) : 7e8;
                double want_s = 3 * fr_device_product_s(
                                        &job.cluster.device, FR_FP32, &o.shape, from_B,
                                        (struct fr_gemm_use){.adds = weight && adds}, &outside);
                FR_NEAR(fr_operation_s(&x, &o), want_s, 1e-12);
                double plain_s =
                    3 * fr_device_product_s(&job.cluster.device, FR_FP32, &o.shape, from_B,
                                            (struct fr_gemm_use){0}, &outside);
                adding += want_s > plain_s;
            }
    assert_int_equal(adding, 2);
    fr_job_free(&job);
}

/* On tiles, 2 m n k (1 + 0.5 / waves) / (0.5 peak), and what the result takes at 2 TB/s: 2 bytes a value, of a
 * weight gradient what the gradient is kept at, twice where it adds.  At 8 bits what is read is made narrow
 * first, 2 bytes read and two of one written, but not after a norm; logits stay at 16.  At 4 bits read twice, and
 * 4.5 bits written twice, after a norm too.  Beside frozen weights it is written once. */
static void results_are_written(void **state) {
    (void)state;
    static const char *const sets[] = {
        "cluster.device.gemm={\"bf16\": {\"peak\": \"500 TFLOP/s\", \"units\": 64, "
        "\"efficiency\": 0.5, \"tail\": 0.5, \"writes\": true}, \"fp8\": {\"peak\": \"1000 "
        "TFLOP/s\", \"units\": 64, \"efficiency\": 0.5, \"tail\": 0.5, \"writes\": true}, "
        "\"fp4\": "
        "{\"peak\": \"2000 TFLOP/s\", \"units\": 64, \"efficiency\": 0.5, \"tail\": 0.5, "
        "\"writes\": true}}",
        "cluster.device.memory_bandwidth=2 TB/s", "model.dtype=bf16", NULL};
    const double flop = 2 * 2048. * 1024 * 4096, wave = 1 + 0.5 * 64 / (16 * 8),
                 made_s = wave * flop / 250e12, values = 2048 * 1024;
    static const struct {
        struct fr_operation o;
        fr_dtype dtype;
        double gradient_B;
        bool adds;
        double speed, written_B, narrowed_B; /* by hand */
    } rows[] = {
        {{.pass = FR_PASS_FORWARD}, FR_BF16, 4, true, 1, 2, 0},
        {{.pass = FR_PASS_INPUT}, FR_BF16, 4, true, 1, 2, 0},
        {{.pass = FR_PASS_WEIGHT}, FR_BF16, 4, false, 1, 4, 0},
        {{.pass = FR_PASS_WEIGHT}, FR_BF16, 4, true, 1, 8, 0},
        {{.pass = FR_PASS_WEIGHT}, FR_BF16, 2, true, 1, 4, 0},
        {{.pass = FR_PASS_FORWARD}, FR_FP8, 2, true, 2, 2, 4},
        {{.pass = FR_PASS_FORWARD, .made = true}, FR_FP8, 2, true, 2, 2, 0},
        {{.pass = FR_PASS_INPUT}, FR_FP8, 2, true, 2, 2, 4},
        {{.pass = FR_PASS_FORWARD, .frozen = true}, FR_FP8, 2, true, 2, 2, 3},
        {{.pass = FR_PASS_INPUT, .frozen = true}, FR_FP4, 2, true, 4, 2, 4.5625},
        {{.pass = FR_PASS_WEIGHT}, FR_FP8, 2, true, 2, 4, 0},
        {{.pass = FR_PASS_FORWARD, .wide = true}, FR_FP8, 2, true, 1, 2, 0},
        {{.pass = FR_PASS_FORWARD}, FR_FP4, 2, true, 4, 2, 5.125},
        {{.pass = FR_PASS_FORWARD, .made = true}, FR_FP4, 2, true, 4, 2, 5.125},
        {{.pass = FR_PASS_INPUT}, FR_FP4, 2, true, 4, 2, 5.125},
        {{.pass = FR_PASS_WEIGHT}, FR_FP4, 2, true, 4, 4, 0},
        {{.pass = FR_PASS_FORWARD, .wide = true}, FR_FP4, 2, true, 1, 2, 0},
    };
    struct fr_job job;
    uint32_t extrapolated = 0;
    fr_test_job("dgx-h100", "gpt-tiny", sets, &job);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct fr_pricing x = {
            .cluster = &job.cluster,
            .dtype = rows[i].dtype,
            .extrapolated = &extrapolated,
            .weight_gradient = {.value_B = rows[i].gradient_B, .adds = rows[i].adds}};
        struct fr_operation o = rows[i].o;
        o.kind = FR_WORK_PRODUCT;
        o.times = 3;
        o.shape = (struct fr_gemm_shape){2048, 1024, 4096, 1, 0};
        double want_s = 3 * (made_s / rows[i].speed + rows[i].written_B * values / 2e12 +
                             rows[i].narrowed_B * 1024 * 4096 / 2e12);
        double got_s = fr_operation_s(&x, &o);
        FR_TRUE(fabs(got_s / want_s - 1) < 1e-12, "row %zu: %g s, by hand %g", i, got_s,
                want_s);
    }
    /* Four at once share the last wave. */
    const struct fr_gemm_shape four = {2048, 1024, 4096, 1, 4};
    bool outside = false;
    FR_NEAR(fr_gemm_time_s(&job.cluster.device, FR_BF16, &four, &outside),
            (1 + 0.5 * 64 / (4 * 16 * 8)) * flop / 250e12 + 2 * values / 2e12, 1e-12);
    fr_job_free(&job);
}

/* Each of eight experts at once waits for its own 2048 x 4096 weights, at 2 TB/s and two bytes, or one; not where a
 * gradient of them is made, nor alone, nor without memory on the way. */
static void groups_wait_for_their_own_weights(void **state) {
    (void)state;
    static const char *const sets[] = {
        "cluster.device.gemm={\"bf16\": {\"peak\": \"500 TFLOP/s\", \"units\": 64, \"tail\": "
        "0, "
        "\"writes\": true}, \"fp8\": {\"peak\": \"1000 TFLOP/s\", \"units\": 64, \"tail\": 0, "
        "\"writes\": true}, \"fp16\": {\"peak\": \"500 TFLOP/s\", \"units\": 64, \"tail\": 0}}",
        "cluster.device.memory_bandwidth=2 TB/s", "model.dtype=bf16",
        "cluster.device.generation=none", NULL}; /* what no runtime knows */
    const struct {
        fr_dtype dtype;
        fr_pass_kind pass;
        double at_once, value_B; /* of weights, by hand */
    } rows[] = {{FR_BF16, FR_PASS_FORWARD, 8, 2}, {FR_BF16, FR_PASS_INPUT, 8, 2},
                {FR_BF16, FR_PASS_AGAIN, 8, 2},   {FR_BF16, FR_PASS_WEIGHT, 8, 0},
                {FR_BF16, FR_PASS_FORWARD, 1, 0}, {FR_FP8, FR_PASS_FORWARD, 8, 1},
                {FR_FP16, FR_PASS_FORWARD, 8, 0}};
    struct fr_job job;
    uint32_t extrapolated = 0;
    fr_test_job("dgx-h100", "gpt-tiny", sets, &job);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct fr_pricing x = {
            .cluster = &job.cluster, .dtype = rows[i].dtype, .extrapolated = &extrapolated};
        struct fr_operation o = {.kind = FR_WORK_PRODUCT,
                                 .pass = (uint8_t)rows[i].pass,
                                 .times = 3,
                                 .shape = {2048, 128, 4096, 1, rows[i].at_once}};
        double together_s = fr_operation_s(&x, &o);
        o.shape.at_once = 0;
        double alone_s = fr_operation_s(&x, &o),
               want_s = 3 * rows[i].value_B * 2048 * 4096 / 2e12;
        FR_TRUE(fabs(together_s - alone_s - want_s) < 1e-12 * together_s,
                "row %zu: %g s more, by hand %g", i, together_s - alone_s, want_s);
    }
    fr_job_free(&job);
}

/* A list with something in every pass, twice a pass of its stage and in three equal layers; times in
 * microseconds: kernels of 3, a fused attention of 50 Tflop/s, an all-reduce of 308. */
static void a_list_by_hand(void **state) {
    (void)state;
    struct bench b;
    struct fr_rank_work w;
    struct fr_priced sum = {0};
    double us = 1e-6, reduce_s = 14 * (2e-6 + 1e6 / 50e9);
    open_bench(&b);
    fr_work_begin(&w);
    fr_work_add(&w, FR_WORK_KERNELS, FR_PASS_FORWARD, 1);
    struct fr_operation *fused = fr_work_add(&w, FR_WORK_ATTENTION, FR_PASS_FORWARD, 1);
    fused->size = 2.5e9; /* 100 us with as many keys */
    fused->keys = 300;
    fr_work_add_product(&w, &(struct fr_product){.m = 1000, /* 20, 20 and 20 us; again 20 */
                                                 .n = 1000,
                                                 .k = 1000,
                                                 .times = 1,
                                                 .again = 1,
                                                 .common = true,
                                                 .regathers = 1,
                                                 .regather_B = 8e6}); /* 154 beside 20 */
    fr_work_add(&w, FR_WORK_KERNELS, FR_PASS_WEIGHT, 2);
    fr_work_add_collective(&w, FR_PASS_FORWARD, FR_AXIS_TP, FR_OP_ALL_REDUCE, 8e6, 1);
    fr_work_add_collective(&w, FR_PASS_INPUT, FR_AXIS_TP, FR_OP_ALL_REDUCE, 8e6, 2)->stalls =
        true;
    b.price.group[FR_AXIS_CP] = b.price.group[FR_AXIS_EP] = b.price.group[FR_AXIS_DP] =
        &b.rank_map.axis[FR_MESH_TP];
    fr_work_add_collective(&w, FR_PASS_FORWARD, FR_AXIS_CP, FR_OP_ALL_REDUCE, 8e6, 1)->beside =
        FR_BESIDE_ATTENTION;
    fr_work_add_collective(&w, FR_PASS_FORWARD, FR_AXIS_EP, FR_OP_ALL_REDUCE, 8e6, 1)->beside =
        FR_BESIDE_PASS;
    fr_work_add_collective(&w, FR_PASS_INPUT, FR_AXIS_EP, FR_OP_ALL_REDUCE, 8e6, 1);
    fr_work_add_collective(&w, FR_PASS_ONCE, FR_AXIS_DP, FR_OP_ALL_REDUCE, 8e6, 1);
    b.price.passes = 2;
    b.price.n = 3;
    fr_work_price(&b.price, &w, 0, w.n_ops, &sum);
    const struct fr_passes p = fr_priced_passes(&b.job.cluster.device, &sum);
    FR_NEAR(p.forward.compute_s, 2 * (100 + 20) * us, 1e-12);
    FR_NEAR(p.forward.launch_s, 2 * 3 * us, 1e-12);
    FR_NEAR(p.forward.tp_s, 2 * reduce_s, 1e-12);
    double first =
        7.0 / 8; /* of the kernels of a ring of eight: the last one's keys are there */
    FR_NEAR(p.forward.cp_s, 2 * (reduce_s - first * 100 * us + 0.1 * first * 100 * us), 1e-12);
    FR_NEAR(p.forward.ep_s, 2 * (reduce_s - 120 * us + 0.1 * 120 * us), 1e-12);
    FR_NEAR(p.backward.compute_s, 2 * 60 * us, 1e-12);
    FR_NEAR(p.backward.launch_s, 2 * 6 * us, 1e-12);
    FR_NEAR(p.backward.tp_s, 2 * (2 * reduce_s + reduce_s / 2 - 20 * us + 0.1 * 20 * us),
            1e-12);
    FR_NEAR(p.backward.ep_s, 2 * reduce_s, 1e-12);
    FR_NEAR(p.weight.compute_s, 2 * 20 * us, 1e-12);
    FR_NEAR(p.weight.launch_s, 2 * 6 * us, 1e-12);
    FR_NEAR(sum.time_s[FR_PASS_INPUT][FR_SPENT_TP_STALLED], 2 * 2 * reduce_s, 1e-12);
    FR_NEAR(sum.common_s, 2 * 60 * us, 1e-12); /* recomputed all ranks' */
    FR_NEAR(sum.time_s[FR_PASS_ONCE][FR_SPENT_REDUCED], 3 * reduce_s, 1e-12);
    FR_NEAR(sum.reduced_B[0], 3 * 8e6, 1e-12);
    FR_NEAR(sum.kernels[FR_PASS_WEIGHT], 4, 1e-12);
    close_bench(&b);
}

/* Input gradients read weights transposed, weight gradients what came in: each list's products at the times of those.
 * A table that says nothing of it has one for all. */
static void gradients_turn_their_operands(void **state) {
#define ONE(time)                                                                              \
    "{\"m\": [64], \"n\": [64], \"k\": [64], \"unit\": \"us\", \"time\": [" #time "]}"
    static const char *const tables[] = {
        "cluster.device.gemm.fp32={\"table\": " ONE(1) "}",
        "cluster.device.gemm.fp32={\"table\": " ONE(1) ", \"transposed\": {\"a\": " ONE(
            2) ", \"b\": " ONE(3) "}}"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *const sets[] = {tables[k], machine[1], machine[2], NULL};
        const double want_s[FR_PASS_KINDS] = {[FR_PASS_FORWARD] = 1e-6,
                                              [FR_PASS_INPUT] = k ? 2e-6 : 1e-6,
                                              [FR_PASS_WEIGHT] = k ? 3e-6 : 1e-6,
                                              [FR_PASS_AGAIN] = 1e-6};
        struct fr_job job;
        struct fr_rank_work work;
        uint32_t extrapolated = 0;
        fr_test_job("frontier", "ffn-4096", sets, &job);
        const struct fr_pricing x = {
            .cluster = &job.cluster, .dtype = FR_FP32, .extrapolated = &extrapolated};
        fr_work_begin(&work);
        fr_work_add_product(&work,
                            &(struct fr_product){
                                .m = 64, .n = 64, .k = 64, .batch = 1, .times = 2, .again = 1});
        fr_work_add_operator(&work, 64, 64, 64, 1, 2);
        assert_int_equal(work.n_ops, 7);
        for (int o = 0; o < work.n_ops; o++)
            FR_NEAR(fr_operation_s(&x, &work.op[o]), 2 * want_s[work.op[o].pass], 1e-12);
        fr_job_free(&job);
    }
#undef ONE
}

/* One layer of a data-parallel grid, 32 samples in two micro-batches of 4 on a rank of four: every term
 * of an iteration. */
static void an_iteration_by_hand(void **state) {
    (void)state;
    const char *const sets[] = {machine[0],
                                machine[1],
                                machine[2],
                                machine[3],
                                "cluster.device.launch=3 us",
                                "cluster.device.fixed=1 ms",
                                "method=grid",
                                "tp=2",
                                "dp=4",
                                "global_batch=32",
                                "micro_batch=4",
                                "model.layers=1",
                                NULL};
    struct fr_job job;
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    double n = 4096, b = 4, rows = n / 2, parameters = rows * (n + 1);
    fr_test_job("frontier", "ffn-4096", sets, &job);
    assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
    const struct fr_stage *s = &p.stage[0];
    double product_s = 2 * rows * n * b / 100e12, out_B = b * rows * 4;
    FR_NEAR(s->forward.compute_s, product_s + 2 * out_B / 1e12, 1e-12);
    FR_NEAR(s->backward.compute_s, 2 * product_s + 3 * out_B / 1e12, 1e-12);
    FR_NEAR(s->weight.compute_s, product_s, 1e-12);
    FR_NEAR(s->forward.launch_s, 2 * 3e-6, 1e-12);
    FR_NEAR(s->backward.launch_s, 4 * 3e-6, 1e-12);
    FR_NEAR(s->weight.launch_s, 3e-6, 1e-12);
    FR_NEAR(s->forward.tp_s, 2e-6 + b * n * 4 / 2 / 50e9, 1e-12);
    FR_NEAR(s->backward.tp_s, 2 * (2e-6 + b * n * 4 / 2 / 50e9), 1e-12);
    FR_NEAR(s->gradient_B, parameters * 4, 1e-12);
    FR_NEAR(s->gradient_s, 6 * (2e-6 + parameters * 4 / 4 / 50e9), 1e-12);
    FR_NEAR(s->optimizer_s, parameters * 28 / 1e12, 1e-12);
    FR_NEAR(s->sent_B[FR_SENT_DP], 2 * 3 / 4. * parameters * 4, 1e-12);
    FR_NEAR(s->sent_B[FR_SENT_TP], 2 * (1 / 2. + 2 / 2.) * b * n * 4, 1e-12);
    FR_NEAR(s->activation_B, b * (n + rows) * 4, 1e-12);
    FR_NEAR(s->working_B, b * n * 4, 1e-12);
    struct fr_plan one = job.plan;
    FR_NEAR(fr_layer_time_s(&job, &one, 0),
            2 * (fr_pass_s(&s->forward, FR_WITH_ALL) + fr_pass_s(&s->backward, FR_WITH_ALL)) +
                s->gradient_s + s->optimizer_s,
            1e-12);
    fr_pipeline_free(&p);
    fr_job_free(&job);
}

/* gpt-2.5b on a host that takes a second to launch a kernel and ten around a pass: 52 layers of 12 kernels,
 * 3 of them in the heads, and 7 at the ends; twice that backward, half of it for weights, and once more what is
 * recomputed. */
static void a_slow_host(void **state) {
    (void)state;
    static const double again[] = {0, 52 * 3, 52 * 12};
    static const fr_recompute words[] = {FR_RECOMPUTE_NONE, FR_RECOMPUTE_SELECTIVE,
                                         FR_RECOMPUTE_FULL};
    struct fr_job job;
    fr_test_job("a100-hdr", "gpt-2.5b", (const char *[]){"dp=1", NULL}, &job);
    job.cluster.device.host_launch_s = 1;
    job.cluster.device.host_pass_s = 10;
    for (int r = 0; r < 3; r++) {
        struct fr_pipeline p;
        uint32_t extrapolated = 0;
        job.plan.recompute = words[r];
        assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
        FR_NEAR(fr_pass_s(&p.stage[0].forward, FR_WITH_ALL), 631 + 10, 1e-12);
        FR_NEAR(fr_pass_s(&p.stage[0].backward, FR_WITH_ALL), 1262 + again[r] + 10, 1e-12);
        FR_NEAR(fr_pass_s(&p.stage[0].weight, FR_WITH_ALL), 315.5 + 10, 1e-12);
        fr_pipeline_free(&p);
    }
    fr_job_free(&job);
}

/* Energy where one state alone draws a watt. */
static double state_J(struct fr_job *job, double busy_W, double communicating_W, double idle_W,
                      struct fr_outcome *out) {
    struct fr_power *power = &job->cluster.device.power;
    *power = (struct fr_power){
        .known = true, .busy_W = busy_W, .communicating_W = communicating_W, .idle_W = idle_W};
    fr_cost(job, &job->plan, out);
    assert_int_equal(out->reasons & ~FR_BECAUSE(FR_REASON_MEMORY), 0);
    return out->energy_J;
}

/* All layers are common ones, and run on the first of four sub-grids: a rank in the mean computes,
 * launches and updates for a quarter of the time, and waits for the rest. */
static void common_layers_idle(void **state) {
    (void)state;
    const char *const sets[] = {"method=subgraph",
                                "tp=4",
                                "dp=2",
                                "common=subgrid",
                                "global_batch=64",
                                "cluster.device.launch=5 us",
                                "cluster.device.fixed=1 ms",
                                NULL};
    struct fr_job job;
    struct fr_outcome out;
    fr_test_job("frontier", "ffn-4096", sets, &job);
    double busy_J = state_J(&job, 1, 0, 0, &out), waiting_J = state_J(&job, 0, 1, 0, &out),
           work_s = out.part_s[FR_PART_COMPUTE] + out.part_s[FR_PART_LAUNCH];
    FR_NEAR(busy_J, 8 * (work_s / 4 + 1e-3), 1e-12);
    /* Waiting for others draws what communicating does, and no state of an iteration what rest does. */
    FR_NEAR(waiting_J, 8 * (out.time_s - work_s / 4 - 1e-3), 1e-9);
    FR_NEAR(state_J(&job, 0, 0, 1, &out), 0, 1e-12);
    job.plan.common_subgrid = false; /* then reduced over all eight */
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
    FR_NEAR(p.stage[0].common_B, 4 * out.parameters, 1e-12);
    assert_true(p.stage[0].gradient_B <= 0 && p.stage[0].idle_share <= 0);
    fr_pipeline_free(&p);
    fr_job_free(&job);
}

/* A grid for each layer: what goes between them is communicated as well. */
static void redistribution_draws_power(void **state) {
    (void)state;
    const char *const sets[] = {"method=grid", "dp=512", "layer_tp=[1,1,1,1,1,32,32,32]", NULL};
    struct fr_job job;
    struct fr_outcome out;
    fr_test_job("cori-knl", "alexnet", sets, &job);
    double comm_J = state_J(&job, 0, 1, 0, &out), moved_s = out.part_s[FR_PART_REDISTRIBUTION];
    assert_true(moved_s > 0);
    FR_NEAR(comm_J, 512 * (out.part_s[FR_PART_TP_COMM] + out.part_s[FR_PART_DP_COMM] + moved_s),
            1e-12);
    fr_job_free(&job);
}

/* Exchanged values of branches are packed and unpacked: read and written twice, two kernels each. */
static void exchanges_are_packed(void **state) {
    (void)state;
    const char *const sets[] = {"method=subgraph", "tp=4", "global_batch=32", NULL};
    struct fr_job job;
    int exchanges = 0;
    fr_test_job("lassen", "attention-branches", sets, &job);
    const struct fr_workload *w = &job.workload;
    struct fr_work_part part = {.workload = w, .shard = {.tp = 4, .dp = 1, .batch = 32}};
    for (int k = 0; k < w->n_layers; k++) {
        const struct fr_layer *l = &w->layers[k];
        struct fr_rank_work work;
        double n = 0, b = l->branches > 0 ? 32 : 8, share = l->branches > 0 ? 0.25 : 1,
               passes = l->softmax ? 3 * FR_SOFTMAX_PASSES : FR_ELEMENTWISE_PASSES;
        part.layer = l;
        job.plan.method->lower(&part, &work);
        for (int i = 0; i < work.n_ops; i++)
            n += work.op[i].kind == FR_WORK_COLLECTIVE && work.op[i].axis == FR_AXIS_TP;
        exchanges += (int)n;
        FR_NEAR(test_sum(&work, FR_WORK_TRAFFIC, FR_PASS_FORWARD) +
                    test_sum(&work, FR_WORK_TRAFFIC, FR_PASS_INPUT),
                passes * b * l->outputs * share * 4 +
                    4 * (test_tp_B(&work, false) + test_tp_B(&work, true)),
                1e-12);
        FR_NEAR(test_sum(&work, FR_WORK_KERNELS, FR_PASS_FORWARD) * 3,
                6 * l->groups * share + 2 * n, 1e-12);
    }
    assert_true(exchanges > 0);
    fr_job_free(&job);
}

/* Once an iteration the weights that products read at 8 bits are made narrow: read at 2 bytes and written by rows
 * and by columns; held at 8 bits, turned round.  Neither logits nor what has no gradient, nor at 16 bits. */
static void weights_are_made_narrow(void **state) {
    (void)state;
    struct fr_job job;
    struct fr_rank_work work;
    const double rate_B_per_s = 2e12, values = 3 * 64 * 32 + 2 * 128 * 256;
    static const char *const sets[] = {"cluster.device.memory_bandwidth=2 TB/s", NULL};
    fr_test_job("dgx-h100", "gpt-tiny", sets, &job);
    fr_work_begin(&work);
    fr_work_add_product(&work, &(struct fr_product){.m = 64, .n = 8, .k = 32, .times = 3});
    fr_work_add_product(
        &work, &(struct fr_product){.m = 128, .n = 8, .k = 256, .times = 2, .pieces = 4});
    fr_work_add_product(
        &work, &(struct fr_product){.m = 512, .n = 8, .k = 32, .times = 1, .wide = true});
    fr_work_add_product(
        &work, &(struct fr_product){.m = 512, .n = 8, .k = 64, .times = 1, .frozen = true});
    struct fr_pricing x = {.cluster = &job.cluster, .dtype = FR_FP8};
    FR_NEAR(fr_narrow_weights_s(&x, &work, 2), values * 4 / rate_B_per_s, 1e-12);
    FR_NEAR(fr_narrow_weights_s(&x, &work, 1), values * 2 / rate_B_per_s, 1e-12);
    x.dtype = FR_BF16;
    assert_true(fr_narrow_weights_s(&x, &work, 2) == 0);
    fr_job_free(&job);
}

/* A stage's optimiser goes through all state at the rate of so large a set, activations beside it. */
static void an_update_goes_through_all_state(void **state) {
    static const char *const sets[] = {
        "cluster.device.working_sets={\"size\": [\"1 MB\", \"100 GB\"], \"stream\": [\"9 "
        "TB/s\", "
        "\"1 TB/s\"], \"update\": [\"8 TB/s\", \"1 TB/s\"], \"operands\": [\"1 PB/s\", \"2 "
        "TB/s\"]}",
        "pp=2", "tp=2", "global_batch=8", NULL};
    struct fr_job job;
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    (void)state;
    fr_test_job("dgx-a100", "gpt-2.5b", sets, &job);
    assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
    for (int i = 0; i < 2; i++) {
        const struct fr_stage *s = &p.stage[i];
        double state_B =
                   s->parameters_rank * fr_workload_state_B(&job.workload, &job.cluster.device),
               moved_B = s->parameters_rank * fr_workload_update_B(&job.workload);
        FR_NEAR(s->optimizer_s,
                fr_device_traffic_s(&job.cluster.device, FR_TRAFFIC_UPDATE, moved_B,
                                    state_B + s->activation_B),
                1e-9);
        assert_true(s->optimizer_s > 1.5 * moved_B / 8e12); /* no small set's */
    }
    fr_pipeline_free(&p);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_by_hand),
                                       cmocka_unit_test(what_is_sent),
                                       cmocka_unit_test(an_update_goes_through_all_state),
                                       cmocka_unit_test(products_come_from_their_working_set),
                                       cmocka_unit_test(kinds_of_traffic),
                                       cmocka_unit_test(results_are_written),
                                       cmocka_unit_test(groups_wait_for_their_own_weights),
                                       cmocka_unit_test(a_list_by_hand),
                                       cmocka_unit_test(gradients_turn_their_operands),
                                       cmocka_unit_test(an_iteration_by_hand),
                                       cmocka_unit_test(a_slow_host),
                                       cmocka_unit_test(common_layers_idle),
                                       cmocka_unit_test(redistribution_draws_power),
                                       cmocka_unit_test(weights_are_made_narrow),
                                       cmocka_unit_test(exchanges_are_packed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
