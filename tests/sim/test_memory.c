/* Memory of a pipeline's fullest rank: against a count by hand of one configuration, against
 * the activations that a simulated iteration holds, and what codecs and uneven stages change. */
#include <math.h>
#include <stdio.h>

#include "models/outcome/cost.h"
#include "models/outcome/iteration.h"
#include "sim/run.h"
#include "tests/job.h"
#include "tests/memory_beside.h"
#include "tests/pipeline_case.h"

/* gpt-2.5b: 52 layers of hidden 1920, 24 heads, sequence 1024, vocabulary 50257, fp32. */
static const double h = 1920, heads = 24, s = 1024, t = 8, b = 8;

#define BASE "tp=8", "pp=4", "dp=4", "micro_batch=8"

static struct fr_outcome price(const char *const *sets) {
    struct fr_job job;
    struct fr_outcome out;
    fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
    fr_cost(&job, &job.plan, &out);
    fr_job_free(&job);
    return out;
}

/* One rank has twelve h^2 over t, and biases of 7 h over t (QKV 3 h, MLP 4 h), two of h and two norms of 2 h on every
 * rank. */
static double layer_parameters(void) { return (12 * h * h + 7 * h) / t + 6 * h; }

/* Kept a layer for one micro-batch of fp32 values, written out: two norms' and two residuals'
 * inputs (4 T h), queries, keys, values and the attention's output (4 T h / t), the MLP's up
 * product before and after its activation (2 T 4h / t), the softmax's input and output
 * (2 a/t b s^2); masks of a byte: two dropouts (2 T h) and the softmax's (a/t b s^2). */
static double layer_activations_B(void) {
    double T = b * s, scores = heads / t * b * s * s;
    return 4 * (4 * T * h + 4 * T * h / t + 2 * T * 4 * h / t + 2 * scores) + 2 * T * h +
           scores;
}

/* In the backward pass of a layer, at its first MLP product: the gradient of what that made; its input's and the
 * residual's gradients; and its weights', which no framework has a place for. */
static double layer_gradients_B(void) { return 4 * b * s * 4 * h / t; }
static double layer_buffers_B(void) { return 4 * (2 * b * s * h + 4 * h * h / t); }

/* Stage 0 of 1F1B holds P micro-batches of 13 layers and is the fullest: the last stage has the
 * logits but one micro-batch. */
static void by_hand(void **state) {
    (void)state;
    const char *sets[] = {BASE, NULL};
    struct fr_outcome out = price(sets);
    double parameters = 13 * layer_parameters() + 51200 * h / t + 1024 * h;
    FR_NEAR(out.memory_B[FR_MEMORY_PARAMETERS], 4 * parameters, 1e-12);
    FR_NEAR(out.memory_B[FR_MEMORY_GRADIENTS], 4 * parameters, 1e-12);
    FR_NEAR(out.memory_B[FR_MEMORY_OPTIMIZER], 8 * parameters, 1e-12);
    FR_NEAR(out.memory_B[FR_MEMORY_ACTIVATIONS],
            4 * 13 * layer_activations_B() + layer_gradients_B(), 1e-12);
    FR_NEAR(out.memory_B[FR_MEMORY_BUFFERS], layer_buffers_B(), 1e-12);
    double sum_B = 0;
    for (int k = 0; k < FR_MEMORY_COUNT; k++) sum_B += out.memory_B[k];
    FR_NEAR(out.memory_peak_B, sum_B, 1e-15);
}

/* Uneven stages move the fullest rank: with few layers in front it is stage 1, which holds three
 * micro-batches and no embedding. */
static void uneven(void **state) {
    (void)state;
    const char *sets[] = {BASE, "stage_layers=[4,20,20,8]", NULL};
    struct fr_outcome out = price(sets);
    FR_NEAR(out.memory_B[FR_MEMORY_ACTIVATIONS],
            3 * 20 * layer_activations_B() + layer_gradients_B(), 1e-12);
    FR_NEAR(out.memory_B[FR_MEMORY_PARAMETERS], 4 * 20 * layer_parameters(), 1e-12);
}

/* The margin is a share of what comes and goes, decides what fits, and what it leaves is flagged;
 * nothing else of the outcome moves. */
static void margin(void **state) {
    (void)state;
    const char *plain[] = {BASE, "rank_order=tp-dp-pp", "stage_layers=[4,20,20,8]", NULL};
    struct fr_outcome none = price(plain);
    assert_true(none.memory_B[FR_MEMORY_FRAGMENTATION] == 0);
    assert_int_equal(none.peak_stage, 1);
    assert_int_equal(none.peak_rank, 8 * 4); /* tp x dp ranks before its first */
    double lost_B =
        0.25 * (none.memory_B[FR_MEMORY_ACTIVATIONS] + none.memory_B[FR_MEMORY_BUFFERS]);
    double need_B = none.memory_peak_B + lost_B;
    static const struct {
        double has; /* of what is needed with the margin */
        bool fits, edge;
    } devices[] = {{0.9, false, false}, {1.01, true, true}, {1.2, true, false}};
    for (int i = 0; i < 3; i++) {
        char memory[64];
        snprintf(memory, sizeof memory, "cluster.device.memory=%.0f B",
                 devices[i].has * need_B);
        const char *sets[] = {BASE,
                              "rank_order=tp-dp-pp",
                              "stage_layers=[4,20,20,8]",
                              "cluster.device.memory_margin=0.25",
                              memory,
                              NULL};
        struct fr_job job;
        struct fr_outcome out;
        fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
        fr_cost(&job, &job.plan, &out);
        FR_NEAR(out.memory_B[FR_MEMORY_FRAGMENTATION], lost_B, 1e-12);
        FR_NEAR(out.memory_peak_B, need_B, 1e-12);
        assert_true(out.time_s == none.time_s);
        assert_int_equal(out.reasons == 0, devices[i].fits);
        assert_int_equal(fr_memory_near_edge(&job.cluster.device, &out), devices[i].edge);
        fr_job_free(&job);
    }
}

/* The codec of messages keeps this on the second stage. */
static double codec_B(const char *const *sets) {
    struct fr_job job;
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
    assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
    double with_B = fr_memory_beside_B(&p, 1);
    p.stage[0].message_codec_B = 0;
    with_B -= fr_memory_beside_B(&p, 1);
    fr_pipeline_free(&p);
    fr_job_free(&job);
    return with_B;
}

/* PowerSGD keeps both factors, and with error feedback what it lost: for a message once, for
 * gradients of each matrix of the stage's layers.  Without lazy errors the residual goes. */
static void codecs(void **state) {
    (void)state;
    const char *plain[] = {BASE, NULL};
    const char *message[] = {BASE, "compression.backward.scope=epilogue", NULL};
    const char *careless[] = {BASE, "compression.backward.scope=epilogue",
                              "compression.backward.lazy_error=false", NULL};
    const char *gradient[] = {BASE, "compression.gradient.stages=1", NULL};
    double m = b * s / t, plain_B = price(plain).memory_B[FR_MEMORY_BUFFERS];
    double factors_B = 4 * 16 * (m + h), lost_B = 4 * m * h;
    /* The fullest stage is the first, which sends no gradients down. */
    FR_NEAR(price(message).memory_B[FR_MEMORY_BUFFERS], plain_B, 1e-12);
    FR_NEAR(codec_B(message), factors_B + lost_B, 1e-9);
    FR_NEAR(codec_B(careless), factors_B, 1e-9);
    const double shapes[4][2] = {{3 * h / t, h}, {h, h / t}, {4 * h / t, h}, {h, 4 * h / t}};
    double stored_B = 0;
    for (int k = 0; k < 4; k++)
        stored_B += 4 * (128 * (shapes[k][0] + shapes[k][1]) + shapes[k][0] * shapes[k][1]);
    FR_NEAR(price(gradient).memory_B[FR_MEMORY_BUFFERS] - plain_B, 13 * stored_B, 1e-9);
}

/* Most activations alive at once at @p rank, from the times of a simulated iteration: born when
 * a forward pass begins, gone when the pass that reads them last ends. */
static int64_t alive(const struct fr_timeline *timeline, int32_t rank, fr_task_kind frees) {
    int64_t most = 0;
    for (int64_t k = 0; k < timeline->count; k++) {
        const struct fr_span *at = &timeline->spans[k];
        int64_t now = 0;
        if (at->rank != rank || at->kind != FR_TASK_FORWARD) continue;
        for (int64_t j = 0; j < timeline->count; j++) {
            const struct fr_span *x = &timeline->spans[j];
            if (x->rank != rank) continue;
            now += x->kind == FR_TASK_FORWARD && x->start_s <= at->start_s;
            now -= x->kind == frees && x->end_s <= at->start_s * (1 + 1e-12);
        }
        if (now > most) most = now;
    }
    return most;
}

/* Activations of a moment that has @p buffers_B besides, if that is the fullest. */
static void more(double stored_B, double buffers_B, double *most_B, double *with_B) {
    if (stored_B + buffers_B <= *most_B + *with_B) return;
    *most_B = stored_B;
    *with_B = buffers_B;
}

static void held_in_a_simulation(void **state) {
    (void)state;
    static const char *const plans[][2] = {{"schedule=gpipe", "chunks=1"},
                                           {"schedule=1f1b", "chunks=1"},
                                           {"schedule=1f1b-double", "chunks=1"},
                                           {"schedule=zero-bubble", "chunks=1"},
                                           {"schedule=interleaved", "chunks=2"}};
    for (int k = 0; k < 5; k++) {
        const char *sets[] = {
            "tp=8",      "pp=4",      "dp=4", "micro_batch=8", "stage_layers=[13,13,13,13]",
            plans[k][0], plans[k][1], NULL};
        struct fr_job job;
        struct fr_simulation sim;
        struct fr_simulate_options options = {.timeline = true};
        double most_B = 0, with_B = 0;
        fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
        assert_int_equal(fr_simulate(&job, &job.plan, &options, &sim, NULL), FR_OK);
        fr_task_kind frees = k == 3 ? FR_TASK_WEIGHT : FR_TASK_BACKWARD;
        for (int32_t i = 0; i < 4; i++) {
            double held = (double)alive(&sim.timeline, i, frees) / (double)job.plan.chunks,
                   layers_B = held * 13 * layer_activations_B(),
                   ends = 4 * b * s * (2 * h + 51200 / t), of = job.plan.chunks > 1 ? 1 : held,
                   head_B = 4 * (b * s * h + 51200 * h / t);
            more(layers_B + (i == 3 ? (of - 1) * ends : 0) + layer_gradients_B(),
                 layer_buffers_B(), &most_B, &with_B);
            if (i == 3) more(layers_B + of * ends, head_B, &most_B, &with_B);
        }
        /* The fullest rank is the one with most in all; activations decide it here. */
        FR_NEAR(sim.outcome.memory_B[FR_MEMORY_ACTIVATIONS], most_B, 1e-12);
        fr_simulation_free(&sim);
        fr_job_free(&job);
    }
}

/* A codec is kept for each virtual stage whose message leaves the stage, counted one by one: gradients to the
 * virtual stage before, activations to the one after, where a chunk's neighbour is not on the same stage. */
static void a_codec_for_each_message(void **state) {
    (void)state;
    for (const struct fr_schedule *const *row = fr_schedules; *row; row++)
        for (int P = 2; P <= 5; P++)
            for (int chunks = 1; chunks <= 4; chunks++) {
                struct pipeline_case c;
                const struct fr_schedule_args a = {P, 4 * P, chunks, NULL};
                if (*row == &fr_schedule_custom || (*row)->refuses(&a)) continue;
                case_uniform(&c, *row, P, 4 * P, chunks, false, 1, 2, 0);
                for (int i = 0; i < P; i++)
                    c.stage[i].message_codec_B = 1e6, c.stage[i].forward_codec_B = 1;
                for (int i = 0; i < P; i++) {
                    double want_B = 0;
                    for (int chunk = 0; chunk < chunks; chunk++) {
                        int64_t at = fr_schedule_virtual(*row, P, i, chunk);
                        if (at > 0 && fr_schedule_stage(*row, P, at - 1) != i) want_B += 1e6;
                        if (at + 1 < P * chunks && fr_schedule_stage(*row, P, at + 1) != i)
                            want_B += 1;
                    }
                    FR_NEAR(fr_memory_beside_B(&c.p, i), want_B, 0);
                }
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand),
                                       cmocka_unit_test(uneven),
                                       cmocka_unit_test(margin),
                                       cmocka_unit_test(codecs),
                                       cmocka_unit_test(held_in_a_simulation),
                                       cmocka_unit_test(a_codec_for_each_message)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
