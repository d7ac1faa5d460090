/* Each span of a timeline carries these: bytes of messages, of buckets and of all-reduces, by hand. */
#include "models/outcome/cost.h"
#include "models/outcome/iteration.h"
#include "sim/run.h"
#include "tests/job.h"

/* Four layers of 64 wide, in 32 bits: Megatron's parameters of a layer are 12 h^2 + 13 h, its embedding
 * 1000 h and s h positions. */
#define TINY                                                                                   \
    "model.layers=4", "model.hidden=64", "model.heads=4", "model.ffn=256",                     \
        "model.sequence=32", "model.vocabulary=1024", "model.dtype=fp32",                      \
        "model.gradient_dtype=fp32", "global_batch=32", "micro_batch=2"
static const double h = 64, s = 32, layer = 12 * 64 * 64 + 13 * 64;

struct totals {
    double size_B[FR_TASK_COUNT]; /* of each kind, all alike */
    double time_s[FR_TASK_COUNT]; /* of each kind, the longest */
    int count[FR_TASK_COUNT];
};

static void run(const char *const *sets, struct totals *t) {
    struct fr_job job;
    struct fr_simulation sim;
    struct fr_error err = {0};
    const struct fr_simulate_options options = {.timeline = true};
    fr_test_job("a100-hdr", "gpt-8.3b", sets, &job);
    if (fr_simulate(&job, &job.plan, &options, &sim, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    assert_int_equal(sim.outcome.reasons, 0);
    *t = (struct totals){.count = {0}};
    for (int64_t k = 0; k < sim.timeline.count; k++) {
        const struct fr_span *span = &sim.timeline.spans[k];
        t->time_s[span->kind] = fmax(t->time_s[span->kind], span->end_s - span->start_s);
        if (span->rank == sim.timeline.n_ranks - 1 && span->kind == FR_TASK_GRADIENT) continue;
        if (t->count[span->kind]++ > 0) FR_NEAR(span->size_B, t->size_B[span->kind], 1e-12);
        t->size_B[span->kind] = span->size_B;
    }
    fr_simulation_free(&sim);
    fr_job_free(&job);
}
#define RUN(t, ...) run((const char *const[]){TINY, __VA_ARGS__, NULL}, t)

/* Two samples of 32 tokens of 64 values of 4 B, half of them a rank of two; rank 4 of PowerSGD sends
 * (64 / tp + 64) 4 values.  The first stage has two layers and the embedding. */
static void messages_carry_their_bytes(void **state) {
    struct totals t;
    (void)state;
    for (int tp = 1; tp <= 2; tp++) {
        RUN(&t, "pp=2", "dp=2", tp == 2 ? "tp=2" : "tp=1",
            "compression.backward.scope=epilogue", "compression.backward.rank=4");
        FR_NEAR(t.size_B[FR_TASK_FORWARD_MESSAGE], 2 * s / tp * h * 4, 1e-12);
        FR_NEAR(t.size_B[FR_TASK_BACKWARD_MESSAGE], 2 * s / tp * h * 4, 1e-12);
        FR_NEAR(t.size_B[FR_TASK_COMPRESSED_MESSAGE], (2 * s / tp + h) * 4 * 4, 1e-12);
        /* 8 micro-batches, a span on each side; of backward ones the last waits for nobody. */
        assert_int_equal(t.count[FR_TASK_FORWARD_MESSAGE], 2 * 8);
        assert_int_equal(t.count[FR_TASK_COMPRESSED_MESSAGE], 2 * 1);
        assert_int_equal(t.count[FR_TASK_BACKWARD_MESSAGE], 2 * 7);
        assert_true(t.size_B[FR_TASK_FORWARD] == 0 && t.size_B[FR_TASK_COMPRESS] == 0);
        assert_true(t.size_B[FR_TASK_OPTIMIZER] == 0 && t.count[FR_TASK_OPTIMIZER] == 2);
    }
    RUN(&t, "pp=2", "dp=2", "p2p=duplex");
    FR_NEAR(t.size_B[FR_TASK_EXCHANGE], 2 * s * h * 4, 1e-12);
}

static void gradients_carry_their_bytes(void **state) {
    struct totals t;
    double first_B = (2 * layer + (1024 + s) * h) * 4;
    (void)state;
    RUN(&t, "pp=2", "dp=2");
    FR_NEAR(t.size_B[FR_TASK_GRADIENT], first_B, 1e-12);
    assert_int_equal(t.count[FR_TASK_GRADIENT], 1);
    RUN(&t, "pp=2", "dp=2", "overlap=gradient", "bucket=100000 B");
    double n = ceil(first_B / 100000);
    FR_NEAR(t.size_B[FR_TASK_GRADIENT], first_B / n, 1e-12);
    assert_int_equal(t.count[FR_TASK_GRADIENT], (int)n);
    /* Chunk by chunk: half as much in half as many. */
    RUN(&t, "pp=2", "dp=2", "overlap=gradient", "bucket=100000 B", "schedule=interleaved",
        "chunks=2");
    n = ceil(first_B / 2 / 100000);
    FR_NEAR(t.size_B[FR_TASK_GRADIENT], first_B / 2 / n, 1e-12);
    assert_int_equal(t.count[FR_TASK_GRADIENT], 2 * (int)n);
    /* Rank 4 of a layer's matrices of 3h x h, h x h, 4h x h, h x 4h, two layers; the rest whole. */
    RUN(&t, "pp=2", "dp=2", "compression.gradient.stages=1", "compression.gradient.rank=4");
    double coded = 4 * (4 * h + 2 * h + 5 * h + 5 * h) * 2, matrices = 12 * h * h * 2;
    FR_NEAR(t.size_B[FR_TASK_GRADIENT], first_B - 4 * matrices + 4 * coded, 1e-12);
}

/* Measured layers and logits as they are, each way its own time; half of the backward pass makes weights'
 * gradients.  Four layers on one stage; two on each of two, the last with the logits. */
static void measured_layers_take_their_times(void **state) {
#define PROFILE                                                                                \
    "cluster.device.host_pass=0 s",                                                            \
        "model.layer_profile=[{\"tp\": 1, \"micro_batch\": 2, \"forward\": \"1 ms\", "         \
        "\"backward\": \"3 ms\", \"logits_forward\": \"0.5 ms\", \"logits_backward\": \"0.7 "  \
        "ms\"}]"
    struct totals t;
    (void)state;
    RUN(&t, PROFILE, "pp=1");
    FR_NEAR(t.time_s[FR_TASK_FORWARD], 4 * 1e-3 + 0.5e-3, 1e-9);
    FR_NEAR(t.time_s[FR_TASK_BACKWARD], 4 * 3e-3 + 0.7e-3, 1e-9);
    RUN(&t, PROFILE, "pp=2", "schedule=zero-bubble");
    FR_NEAR(t.time_s[FR_TASK_FORWARD], 2 * 1e-3 + 0.5e-3, 1e-9);
    FR_NEAR(t.time_s[FR_TASK_BACKWARD], (2 * 3e-3 + 0.7e-3) / 2, 1e-9);
    FR_NEAR(t.time_s[FR_TASK_WEIGHT], (2 * 3e-3 + 0.7e-3) / 2, 1e-9);
}

/* The host's time around a pass is in each once, both ways; a kernel's gap as often as it has kernels, of
 * which the backward pass has twice as many. */
static void launches_are_in_each_pass(void **state) {
    static const char *const hosts[] = {"cluster.device.host_pass=0 s",
                                        "cluster.device.host_pass=5 ms"},
                             *const gaps[] = {"cluster.device.launch=0 s",
                                              "cluster.device.launch=1 ms"};
    struct totals t[2];
    (void)state;
    for (int k = 0; k < 2; k++)
        RUN(&t[k], "pp=2", "cluster.device.host_launch=0 s", "cluster.device.launch=0 s",
            hosts[k]);
    FR_NEAR(t[1].time_s[FR_TASK_FORWARD] - t[0].time_s[FR_TASK_FORWARD], 5e-3, 1e-9);
    FR_NEAR(t[1].time_s[FR_TASK_BACKWARD] - t[0].time_s[FR_TASK_BACKWARD], 5e-3, 1e-9);
    for (int k = 0; k < 2; k++)
        RUN(&t[k], "pp=2", "cluster.device.host_launch=0 s", "cluster.device.host_pass=0 s",
            gaps[k]);
    double forward_s = t[1].time_s[FR_TASK_FORWARD] - t[0].time_s[FR_TASK_FORWARD],
           backward_s = t[1].time_s[FR_TASK_BACKWARD] - t[0].time_s[FR_TASK_BACKWARD];
    FR_NEAR(backward_s, 2 * forward_s, 1e-9);
    /* Two layers of 9 kernels and 3 of the heads, and 5 of the loss on the last stage. */
    FR_NEAR(forward_s, 1e-3 * (2 * (9 + 3) + 5), 1e-6);
}

/* ---- any timeline ------------------------------------------------------------------------------- */

/* @return whether a may come before b: by start, then by message and rank. */
static bool in_order(const struct fr_span *a, const struct fr_span *b) {
    const double x[] = {a->start_s, a->message, a->rank},
                 y[] = {b->start_s, b->message, b->rank};
    for (int i = 0; i < 3; i++)
        if (x[i] != y[i]) return x[i] < y[i];
    return true;
}

static bool same_stream(const struct fr_span *a, const struct fr_span *b) {
    return a->rank == b->rank && a->stream == b->stream;
}

/* The first lane of its stream on which nothing before it is still under way. */
static int first_lane(const struct fr_span *spans, int64_t k) {
    for (int lane = 0;; lane++) {
        bool taken = false;
        for (int64_t i = 0; i < k; i++)
            taken = taken || (same_stream(&spans[i], &spans[k]) && spans[i].lane == lane &&
                              spans[i].end_s > spans[k].start_s * (1 + 1e-12));
        if (!taken) return lane;
    }
}

/* Each message stands twice, from the one who sends it and from the one who receives it. */
static void has_two_ends(const struct fr_timeline *t, int32_t message) {
    const struct fr_span *end[2] = {NULL, NULL};
    int n = 0;
    for (int64_t k = 0; k < t->count; k++)
        if (t->spans[k].message == message) {
            assert_true(n < 2);
            end[n++] = &t->spans[k];
        }
    assert_int_equal(n, 2);
    assert_int_equal(end[0]->stream + end[1]->stream, FR_STREAM_SEND + FR_STREAM_RECV);
    assert_int_equal(end[0]->rank, end[1]->peer);
    assert_int_equal(end[0]->peer, end[1]->rank);
    assert_int_not_equal(end[0]->rank, end[1]->rank);
    assert_true(end[0]->start_s == end[1]->start_s && end[0]->end_s == end[1]->end_s);
}

static void any_timeline_is_well_formed(void **state) {
    static const char *const cases[][4] = {
        {"pp=4", "dp=2", "overlap=gradient", "bucket=20000 B"},
        {"pp=4", "dp=2", "p2p=duplex", "schedule=1f1b"},
        {"pp=2", "dp=2", "chunks=2", "schedule=interleaved"},
        {"pp=4", "dp=4", "micro_batch=1", "schedule=gpipe"},
        {"pp=4", "dp=2", "schedule=zero-bubble", "recompute=full"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *sets[24] = {TINY};
        int n = 0, messages = 0;
        while (sets[n]) n++;
        for (int k = 0; k < 4; k++) sets[n++] = cases[i][k];
        struct fr_job job;
        struct fr_simulation sim;
        struct fr_error err = {0};
        const struct fr_simulate_options options = {.timeline = true};
        fr_test_job("a100-hdr", "gpt-8.3b", sets, &job);
        if (fr_simulate(&job, &job.plan, &options, &sim, &err) != FR_OK)
            fail_msg("%s %s: %s", cases[i][0], cases[i][3], err.detail);
        const struct fr_timeline *t = &sim.timeline;
        for (int64_t k = 0; k < t->count; k++) {
            const struct fr_span *span = &t->spans[k];
            if (k > 0 && !in_order(span - 1, span)) fail_msg("case %zu: %d", i, (int)k);
            assert_int_equal(span->lane, first_lane(t->spans, k));
            assert_true(span->communicating_s >= 0 && span->waiting_s >= 0);
            assert_true(span->communicating_s <= (span->end_s - span->start_s) * (1 + 1e-12));
            assert_true(span->end_s <= t->makespan_s * (1 + 1e-12));
            if (span->message >= messages) messages = span->message + 1;
        }
        for (int32_t m = 0; m < messages; m++) has_two_ends(t, m);
        fr_simulation_free(&sim);
        fr_job_free(&job);
    }
}

/* The time that each stage spends on its gradients is the closed form's: all at once, in buckets, coded. */
static void gradients_of_stages(void **state) {
    static const char *const more[][3] = {
        {"overlap=none"},
        {"overlap=gradient", "bucket=100 KiB"},
        {"compression.gradient.stages=1", "compression.gradient.rank=2"},
        {"zero=1"}};
    (void)state;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        const char *const sets[] = {TINY, "dp=4", "pp=2", more[i][0], more[i][1], NULL};
        struct fr_job job;
        struct fr_simulation sim;
        struct fr_pipeline p;
        uint32_t extrapolated = 0;
        fr_test_job("a100-hdr", "gpt-8.3b", sets, &job);
        assert_int_equal(fr_simulate(&job, &job.plan, NULL, &sim, NULL), FR_OK);
        assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
        assert_int_equal(sim.n_stages, p.args.stages);
        for (int32_t k = 0; k < p.args.stages; k++) {
            const struct fr_stage *stage = &p.stage[k];
            double whole_s =
                stage->buckets ? stage->buckets * stage->bucket_s : stage->gradient_s;
            FR_NEAR(sim.stages[k].gradient_s, whole_s, 1e-9);
            assert_true(whole_s > 0);
        }
        fr_pipeline_free(&p);
        fr_simulation_free(&sim);
        fr_job_free(&job);
    }
}

/* Compressing gradients is computing: a span of its own on that stream, as long as the stage's codec, right before the
 * all-reduce, which lasts what is left. */
static void gradient_codec_is_apart(void **state) {
    static const char *const sets[] = {
        TINY, "pp=2", "dp=4", "compression.gradient.stages=1", "compression.gradient.rank=2",
        NULL};
    const struct fr_simulate_options options = {.timeline = true};
    struct fr_job job;
    struct fr_simulation sim;
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    double codec_end_s = 0, critical_s = 0;
    int codecs = 0;
    (void)state;
    fr_test_job("a100-hdr", "gpt-8.3b", sets, &job);
    assert_int_equal(fr_simulate(&job, &job.plan, &options, &sim, NULL), FR_OK);
    assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
    const struct fr_stage *coded = &p.stage[0];
    assert_true(coded->gradient_codec_s > 0);
    for (int64_t k = 0; k < sim.timeline.count; k++) {
        const struct fr_span *span = &sim.timeline.spans[k];
        critical_s += fr_span_critical_s(span);
        if (span->kind == FR_TASK_GRADIENT_CODEC) {
            codecs++;
            codec_end_s = span->end_s;
            assert_int_equal(span->rank, 0);
            assert_int_equal(span->stream, FR_STREAM_COMPUTE);
            assert_true(span->size_B == 0 && span->communicating_s == 0);
            FR_NEAR(span->end_s - span->start_s, coded->gradient_codec_s, 1e-9);
        }
        if (span->kind != FR_TASK_GRADIENT || span->rank > 0) continue;
        assert_int_equal(span->stream, FR_STREAM_COLLECTIVE);
        assert_true(span->start_s == codec_end_s);
        FR_NEAR(span->end_s - span->start_s, coded->gradient_s, 1e-9);
        FR_NEAR(span->communicating_s, coded->gradient_s, 1e-9);
    }
    assert_int_equal(codecs, 1);
    FR_NEAR(critical_s, sim.timeline.makespan_s, 1e-9);
    fr_pipeline_free(&p);
    fr_simulation_free(&sim);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradient_codec_is_apart),
                                       cmocka_unit_test(gradients_of_stages),
                                       cmocka_unit_test(messages_carry_their_bytes),
                                       cmocka_unit_test(gradients_carry_their_bytes),
                                       cmocka_unit_test(measured_layers_take_their_times),
                                       cmocka_unit_test(launches_are_in_each_pass),
                                       cmocka_unit_test(any_timeline_is_well_formed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
