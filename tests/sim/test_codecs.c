/* Compression costs and saves these where it meets another axis: each number here is worked out from the shapes, on a
 * machine of round numbers; the pairs are listed in docs/reference/compositions.md. */
#include <math.h>
#include <stdio.h>

#include "models/outcome/cost.h"
#include "models/outcome/iteration.h"
#include "models/price/codec_price.h"
#include "sim/run.h"
#include "tests/document.h"
#include "tests/job.h"
#include "tests/memory_beside.h"
#include "tests/pipeline_case.h"

/* Products at 1 TFLOP/s, 2 of 16 bits and 4 of 8, memory at 1 TB/s, a kernel in 1 us; one network of
 * 1 us and 10 GB/s a rank, on which all collectives are rings. */
#define RING(op) "cluster.collectives." op "={\"form\": \"algorithm\", \"name\": \"ring\"}"
static const char *const machine[] = {
    "cluster.device.gemm={\"fp32\": {\"peak\": \"1 TFLOP/s\", \"half_dim\": 0}, \"bf16\": "
    "{\"peak\": "
    "\"2 TFLOP/s\", \"half_dim\": 0}, \"fp8\": {\"peak\": \"4 TFLOP/s\", \"half_dim\": 0}}",
    "cluster.device.memory_bandwidth=1 TB/s",
    "cluster.device.launch=1 us",
    "cluster.levels=[{\"name\": \"all\", \"ranks\": 1024, \"latency\": \"1 us\", "
    "\"bandwidth\": "
    "\"10 GB/s\"}]",
    RING("all_reduce"),
    RING("all_gather"),
    RING("reduce_scatter"),
    "model.layers=4",
    "model.hidden=64",
    "model.heads=4",
    "model.ffn=256",
    "model.sequence=32",
    "model.vocabulary=1000",
    "global_batch=32"};
enum { MACHINE = sizeof machine / sizeof *machine };
static const double peak = 1e12, moved = 1e12, launch_s = 1e-6, alpha_s = 1e-6, rate = 10e9;
static const double h = 64, f = 256, s = 32;

static void load(struct fr_job *job, const char *const *more) {
    const char *sets[32];
    int n = MACHINE;
    memcpy(sets, machine, sizeof machine);
    for (int i = 0; more[i]; i++) sets[n++] = more[i];
    sets[n] = NULL;
    fr_test_job("a100-hdr", "gpt-8.3b", sets, job);
}
#define LOAD(job, ...) load(job, (const char *const[]){__VA_ARGS__, NULL})

static struct fr_pipeline pipeline_of(const struct fr_job *job) {
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    assert_int_equal(fr_pipeline_check(job, &job->plan) & FR_BECAUSE(FR_REASON_COMPRESSION), 0);
    assert_int_equal(fr_pipeline_make(job, &job->plan, &p, &extrapolated, NULL), FR_OK);
    assert_int_equal(extrapolated, 0);
    return p;
}

static struct fr_outcome outcome_of(const struct fr_job *job) {
    struct fr_outcome out;
    fr_cost(job, &job->plan, &out);
    assert_int_equal(out.reasons, 0);
    return out;
}

/* ---- codecs, by hand ---------------------------------------------------------------------------- */

/* P = M Q and Q = M^T P, 2 m n r flop each; the columns of P made orthogonal, six kernels each, column j
 * read and written for each before it; with a residual M - P Q^T and five passes over M. */
static double powersgd_encode_s(double m, double n, double r, double v, bool residual) {
    double flop = (residual ? 3 : 2) * 2 * m * n * r, kernels = 2 + 6 * r + (residual ? 2 : 0);
    double bytes = m * r * (r + 1) * v + (residual ? 5 * m * n * v : 0);
    return flop / peak + bytes / moved + kernels * launch_s;
}
static double powersgd_decode_s(double m, double n, double r) {
    return 2 * m * n * r / peak + launch_s;
}
/* Four passes of a radix sort over values and indices, read and written, two kernels each; the k kept
 * ones read and written; a matrix cleared and `parts` times k added in their places. */
static double topk_encode_s(double m, double n, double k, double v, bool residual) {
    double bytes = 8 * m * n * (v + 4) + 2 * k * (v + 4) + (residual ? 5 * m * n * v : 0);
    return bytes / moved + (residual ? 12 : 10) * launch_s;
}
static double topk_decode_s(double m, double n, double k, double v, double parts) {
    return (m * n * v + 2 * parts * k * (v + 4)) / moved + 2 * launch_s;
}

static double ring_gather_s(double p, double n_B) {
    return (p - 1) * (alpha_s + n_B / p / rate);
}
static double ring_reduce_s(double p, double n_B) { return 2 * ring_gather_s(p, n_B); }

/* Weight matrices of a layer on one of t ranks. */
static void matrices(double t, double out[4][2]) {
    const double shape[4][2] = {{3 * h / t, h}, {h, h / t}, {f / t, h}, {h, f / t}};
    memcpy(out, shape, sizeof shape);
}

/* ---- messages ----------------------------------------------------------------------------------- */

/* Two samples of 32 tokens over cp 2 and tp 2: 16 rows of 64 values, and with sequences whole 32. */
static void messages_over_the_sequence(void **state) {
    (void)state;
    for (int cp = 1; cp <= 2; cp++)
        for (int lazy = 0; lazy < 2; lazy++) {
            struct fr_job job;
            LOAD(&job, "pp=2", "tp=2", "micro_batch=2", cp == 2 ? "cp=2" : "cp=1",
                 "compression.backward.scope=all", "compression.backward.rank=4",
                 lazy ? "compression.backward.lazy_error=true"
                      : "compression.backward.lazy_error=false");
            struct fr_pipeline p = pipeline_of(&job);
            double m = 2 * s / cp / 2;
            FR_NEAR(p.message_B, m * h * 4, 1e-12);
            FR_NEAR(p.stage[0].small_message_B, (m + h) * 4 * 4, 1e-12);
            FR_NEAR(p.stage[0].encode_s, powersgd_encode_s(m, h, 4, 4, lazy), 1e-12);
            FR_NEAR(p.stage[0].decode_s, powersgd_decode_s(m, h, 4), 1e-12);
            FR_NEAR(p.stage[0].message_codec_B, (m + h) * 4 * 4 + (lazy ? m * h * 4 : 0),
                    1e-12);
            /* Only the second stage sends gradients down, and keeps something for it. */
            FR_NEAR(fr_memory_beside_B(&p, 1) - fr_memory_beside_B(&p, 0) -
                        p.stage[1].working_B + p.stage[0].working_B,
                    p.stage[0].message_codec_B, 1e-9);
            double break_even = (p.message_B - p.stage[0].small_message_B) /
                                (p.stage[0].encode_s + p.stage[0].decode_s);
            FR_NEAR(outcome_of(&job).break_even_backward_B_per_s, break_even, 1e-12);
            fr_pipeline_free(&p);
            fr_job_free(&job);
        }
}

/* Top-k at rank 4 sends the (32 + 64) 4 = 384 largest of 32 x 64 values, 8 B each with their places; a message has
 * one sender, whatever the replicas. */
static void sparse_messages(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct fr_job job;
        LOAD(&job, "pp=2", "micro_batch=1", k ? "dp=4" : "dp=1", "compression.codec=topk",
             "compression.backward.scope=all", "compression.backward.rank=4");
        struct fr_pipeline p = pipeline_of(&job);
        FR_NEAR(p.stage[0].small_message_B, 384 * 8, 1e-12);
        FR_NEAR(p.stage[0].encode_s, topk_encode_s(s, h, 384, 4, true), 1e-12);
        FR_NEAR(p.stage[0].decode_s, topk_decode_s(s, h, 384, 4, 1), 1e-12);
        FR_NEAR(p.stage[0].message_codec_B, 384 * 8 + s * h * 4, 1e-12);
        fr_pipeline_free(&p);
        fr_job_free(&job);
    }
}

/* Between products fp8 training has 16 bits: message and codec count two bytes a value, and the codec's
 * products run at the rate of 16 bits, 2 TFLOP/s. */
static void messages_of_eight_bits(void **state) {
    struct fr_job job;
    (void)state;
    LOAD(&job, "pp=2", "micro_batch=1", "model.dtype=fp8", "compression.backward.scope=all",
         "compression.backward.rank=4", "compression.backward.lazy_error=false");
    struct fr_pipeline p = pipeline_of(&job);
    FR_NEAR(p.message_B, s * h * 2, 1e-12);
    FR_NEAR(p.stage[0].small_message_B, (s + h) * 4 * 2, 1e-12);
    FR_NEAR(p.stage[0].encode_s,
            2 * 2 * s * h * 4 / (2 * peak) + s * 4 * 5 * 2 / moved + (2 + 6 * 4) * launch_s,
            1e-12);
    FR_NEAR(p.stage[0].decode_s, 2 * s * h * 4 / (2 * peak) + launch_s, 1e-12);
    fr_pipeline_free(&p);
    fr_job_free(&job);
}

/* Rank 21 sends 96 * 21 = 2016 of the 2048 values of 32 x 64, rank 22 would send 2112: then messages go whole, at no
 * codec's cost, and nothing is lost. */
static void a_rank_too_high_for_messages(void **state) {
    struct fr_job job;
    struct fr_outcome plain, out;
    (void)state;
    LOAD(&job, "pp=2", "micro_batch=1");
    plain = outcome_of(&job);
    fr_job_free(&job);
    LOAD(&job, "pp=2", "micro_batch=1", "compression.backward.scope=all",
         "compression.backward.rank=21");
    out = outcome_of(&job);
    FR_NEAR(out.lossy_backward, 1, 1e-12);
    assert_true(out.time_s > plain.time_s); /* launches cost more than such a message saves */
    fr_job_free(&job);
    LOAD(&job, "pp=2", "micro_batch=1", "compression.backward.scope=all",
         "compression.backward.rank=22");
    out = outcome_of(&job);
    FR_NEAR(out.time_s, plain.time_s, 1e-15);
    FR_NEAR(out.energy_J, plain.energy_J, 1e-15);
    FR_NEAR(out.memory_peak_B, plain.memory_peak_B, 1e-15);
    assert_true(out.lossy_backward == 0 && out.break_even_backward_B_per_s == 0);
    fr_job_free(&job);
    /* 64 x 64 values at rank 32: as many, which is no help either. */
    LOAD(&job, "pp=2", "micro_batch=2", "compression.backward.scope=all",
         "compression.backward.rank=32");
    assert_true(outcome_of(&job).lossy_backward == 0);
    fr_job_free(&job);
}

/* The values of a matrix are the most that can be kept. */
static void no_more_than_all_values(void **state) {
    const struct fr_codec_args a = {.m = 8, .n = 4, .rank = 3, .value_B = 2, .parts = 1};
    (void)state;
    FR_NEAR(fr_compression_topk.sent_B(&a), 8 * 4 * (2 + 4), 1e-15);
    FR_NEAR(fr_compression_powersgd.sent_B(&a), (8 + 4) * 3 * 2, 1e-15);
}

/* Interleaved, P v virtual stages pass m gradients down each of the P v - 1 boundaries, those from the
 * first rank's later chunks to the last rank among them; both engines agree. */
static void messages_of_chunks(void **state) {
    (void)state;
    for (int chunks = 1; chunks <= 2; chunks++) {
        struct fr_job job;
        struct fr_program program;
        struct fr_simulation event;
        int64_t encoded = 0, decoded = 0, small = 0, at_ends[4] = {0};
        LOAD(&job, "pp=4", "model.layers=8", "micro_batch=4",
             chunks == 2 ? "schedule=interleaved" : "schedule=1f1b",
             chunks == 2 ? "chunks=2" : "chunks=1", "compression.backward.scope=all",
             "compression.backward.rank=4");
        struct fr_pipeline p = pipeline_of(&job);
        assert_int_equal(fr_program_make(&p, &program, NULL), FR_OK);
        for (int64_t t = 0; t < program.n_tasks; t++) {
            fr_task_kind kind = program.classes[program.tasks[t].class_id].kind;
            encoded += kind == FR_TASK_COMPRESS;
            decoded += kind == FR_TASK_DECOMPRESS;
            small += kind == FR_TASK_COMPRESSED_MESSAGE;
            if (kind == FR_TASK_COMPRESS) at_ends[program.tasks[t].rank]++;
        }
        assert_int_equal(small, (4 * chunks - 1) * 8);
        assert_int_equal(encoded, small);
        assert_int_equal(decoded, small);
        assert_int_equal(at_ends[0], (chunks - 1) * 8);
        struct fr_outcome closed = outcome_of(&job);
        assert_int_equal(fr_simulate(&job, &job.plan, NULL, &event, NULL), FR_OK);
        FR_NEAR(event.outcome.time_s, closed.time_s, 1e-12);
        FR_NEAR(event.outcome.energy_J, closed.energy_J, 1e-12);
        FR_NEAR(fr_memory_beside_B(&p, 0) - p.stage[0].working_B - 2 * p.message_B,
                (chunks - 1) * p.stage[0].message_codec_B, 1e-9);
        fr_simulation_free(&event);
        fr_program_free(&program);
        fr_pipeline_free(&p);
        fr_job_free(&job);
    }
}

/* ---- gradients ---------------------------------------------------------------------------------- */

/* A stage of so many layers codes this, by hand: bytes of one replica's codes, work, memory and the gradient bytes
 * they stand for. */
struct coded {
    double whole_B, sent_B, work_s, stored_B;
};

static struct coded coded_of(double layers, double t, double r, bool sparse, double replicas) {
    double shape[4][2], v = 4;
    struct coded sum = {0};
    matrices(t, shape);
    for (int k = 0; k < 4; k++) {
        double m = shape[k][0], n = shape[k][1], kept = fmin((m + n) * r, m * n);
        double parts = sparse ? replicas : 1,
               sent_B = sparse ? kept * (v + 4) : (m + n) * r * v;
        if (parts * sent_B * (sparse ? 1 : 2) >= 2 * m * n * v) continue;
        sum.whole_B += layers * m * n * v;
        sum.sent_B += layers * sent_B;
        sum.work_s +=
            layers *
            (sparse ? topk_encode_s(m, n, kept, v, true) + topk_decode_s(m, n, kept, v, parts)
                    : powersgd_encode_s(m, n, r, v, true) + powersgd_decode_s(m, n, r));
        sum.stored_B += layers * (parts * sent_B + m * n * v);
    }
    return sum;
}

/* PowerSGD's factors are all-reduced over dp cp replicas whichever of the two there are, beside what goes
 * whole. */
static void factors_over_all_replicas(void **state) {
    static const char *const meshes[][2] = {
        {"dp=4", "cp=1"}, {"dp=2", "cp=2"}, {"dp=1", "cp=4"}};
    (void)state;
    for (int k = 0; k < 3; k++) {
        struct fr_job plain, job;
        LOAD(&plain, meshes[k][0], meshes[k][1], "tp=2");
        LOAD(&job, meshes[k][0], meshes[k][1], "tp=2", "compression.gradient.stages=1",
             "compression.gradient.rank=4");
        struct fr_pipeline whole = pipeline_of(&plain), p = pipeline_of(&job);
        struct coded want = coded_of(4, 2, 4, false, 4);
        const struct fr_stage *stage = &p.stage[0];
        FR_NEAR(stage->coded_B, want.sent_B, 1e-12);
        FR_NEAR(stage->gradient_B, whole.stage[0].gradient_B - want.whole_B, 1e-12);
        FR_NEAR(stage->gradient_codec_s, want.work_s, 1e-12);
        FR_NEAR(stage->codec_B, want.stored_B, 1e-12);
        FR_NEAR(stage->gradient_s,
                ring_reduce_s(4, stage->gradient_B) + ring_reduce_s(4, want.sent_B), 1e-12);
        struct fr_outcome out = outcome_of(&job), before = outcome_of(&plain);
        FR_NEAR(out.lossy_gradient, want.whole_B / whole.stage[0].gradient_B, 1e-12);
        FR_NEAR(out.break_even_gradient_B_per_s,
                2 * 3 / 4.0 * (want.whole_B - want.sent_B) / want.work_s, 1e-12);
        FR_NEAR(before.sent_B[FR_SENT_DP] - out.sent_B[FR_SENT_DP],
                1.5 * (want.whole_B - want.sent_B), 1e-12);
        fr_pipeline_free(&whole);
        fr_pipeline_free(&p);
        fr_job_free(&plain);
        fr_job_free(&job);
    }
}

/* Top-k: every replica gathers all D parts, D k values and indices, (D - 1) / D of which it has not, and
 * adds them up; at some D whole gradients are less. */
static void sparse_parts_grow_with_replicas(void **state) {
    static const char *const replicas[] = {"dp=2", "dp=4", "dp=8", "dp=16"};
    double before_B = 0;
    (void)state;
    for (int k = 0; k < 4; k++) {
        double D = 2 << k;
        struct fr_job job;
        LOAD(&job, replicas[k], "compression.codec=topk", "compression.gradient.stages=1",
             "compression.gradient.rank=2");
        struct fr_pipeline p = pipeline_of(&job);
        struct coded want = coded_of(4, 1, 2, true, D);
        const struct fr_stage *stage = &p.stage[0];
        FR_NEAR(stage->coded_B, D * want.sent_B, 1e-12);
        FR_NEAR(stage->gradient_codec_s, want.work_s, 1e-12);
        FR_NEAR(stage->codec_B, want.stored_B, 1e-12);
        FR_NEAR(stage->gradient_s,
                ring_reduce_s(D, stage->gradient_B) + ring_gather_s(D, D * want.sent_B), 1e-12);
        struct fr_outcome out = outcome_of(&job);
        double saved_B = 2 * (D - 1) / D * want.whole_B - (D - 1) * want.sent_B;
        FR_NEAR(out.break_even_gradient_B_per_s, saved_B / want.work_s, 1e-12);
        FR_NEAR(out.sent_B[FR_SENT_DP],
                2 * (D - 1) / D * stage->gradient_B + (D - 1) * want.sent_B, 1e-12);
        if (k < 3) assert_true(stage->coded_B > 1.99 * before_B);
        before_B = stage->coded_B;
        fr_pipeline_free(&p);
        fr_job_free(&job);
    }
    /* 32 replicas' parts of a 64 x 64 matrix, 256 values each of 8 B, are more than twice the matrix. */
    struct fr_job job;
    LOAD(&job, "dp=32", "compression.codec=topk", "compression.gradient.stages=1",
         "compression.gradient.rank=64");
    struct fr_outcome out = outcome_of(&job);
    assert_true(out.lossy_gradient == 0 && out.break_even_gradient_B_per_s == 0 &&
                out.part_s[FR_PART_COMPRESSION] == 0);
    fr_job_free(&job);
}

/* Rank 40 shrinks only those of the four matrices of a layer that have 192 or 256 x 64 values: (64 + 64) 40 values
 * are more than 64 x 64. */
static void ranks_that_do_not_help(void **state) {
    struct fr_job job;
    (void)state;
    LOAD(&job, "dp=2", "compression.gradient.stages=1", "compression.gradient.rank=40");
    struct fr_pipeline p = pipeline_of(&job);
    double sizes = (192 + 64) + (256 + 64) + (64 + 256), whole = 192 * 64 + 2 * 256 * 64;
    FR_NEAR(p.stage[0].coded_B, 4 * sizes * 40 * 4, 1e-12);
    FR_NEAR(p.lossy_B, 4 * whole * 4, 1e-12);
    fr_pipeline_free(&p);
    fr_job_free(&job);
    LOAD(&job, "dp=2", "compression.gradient.stages=1", "compression.gradient.rank=64");
    struct fr_outcome out = outcome_of(&job);
    assert_true(out.lossy_gradient == 0 && out.part_s[FR_PART_COMPRESSION] == 0);
    fr_job_free(&job);
}

/* zero 1: what goes whole is scattered, the factors travel as without, and the updated parameters are
 * gathered. */
static void factors_beside_a_distributed_optimiser(void **state) {
    struct fr_job none, job;
    (void)state;
    LOAD(&none, "dp=4", "zero=1");
    LOAD(&job, "dp=4", "zero=1", "compression.gradient.stages=1",
         "compression.gradient.rank=4");
    struct fr_pipeline plain = pipeline_of(&none), p = pipeline_of(&job);
    struct coded want = coded_of(4, 1, 4, false, 4);
    const double whole_B = plain.stage[0].gradient_B;
    FR_NEAR(plain.stage[0].gradient_s, ring_gather_s(4, whole_B), 1e-12);
    FR_NEAR(p.stage[0].gradient_s,
            ring_gather_s(4, whole_B - want.whole_B) + ring_reduce_s(4, want.sent_B), 1e-12);
    FR_NEAR(p.stage[0].optimizer_s, plain.stage[0].optimizer_s, 1e-12);
    fr_pipeline_free(&plain);
    fr_pipeline_free(&p);
    fr_job_free(&none);
    fr_job_free(&job);
}

/* Buckets are for stages whose gradients go whole: a codec sees all of its stage's first. */
static void buckets_of_other_stages(void **state) {
    struct fr_job job;
    struct fr_simulation event;
    (void)state;
    LOAD(&job, "dp=4", "pp=2", "micro_batch=1", "overlap=gradient", "bucket=64KiB",
         "compression.gradient.stages=1", "compression.gradient.rank=4");
    struct fr_pipeline p = pipeline_of(&job);
    assert_int_equal(p.stage[0].buckets, 0);
    FR_NEAR(p.stage[1].buckets, ceil(p.stage[1].gradient_B / 65536), 1e-12);
    FR_NEAR(p.stage[0].coded_s, ring_reduce_s(4, coded_of(2, 1, 4, false, 4).sent_B), 1e-12);
    assert_true(p.stage[1].coded_B == 0 && p.stage[1].gradient_codec_s == 0);
    assert_int_equal(fr_simulate(&job, &job.plan, NULL, &event, NULL), FR_OK);
    FR_NEAR(event.outcome.time_s, outcome_of(&job).time_s, 1e-12);
    fr_simulation_free(&event);
    fr_pipeline_free(&p);
    fr_job_free(&job);
}

/* ---- every pair ---------------------------------------------------------------------------------- */

#define MESSAGES "compression.backward.scope=all", "compression.backward.rank=4"
#define FORWARD "compression.forward.rank=4"
#define FACTORS "compression.gradient.stages=1", "compression.gradient.rank=4"
#define SPARSE FACTORS, "compression.codec=topk"
#define FUSED "compression.embedding=fused"

/* Rows and columns of the table in docs/reference/compositions.md. */
static const struct {
    const char *axis, *model, *sets[6];
} axes[] = {
    {"dp", "gpt-8.3b", {"dp=2"}},
    {"tp", "gpt-8.3b", {"dp=2", "tp=2"}},
    {"sequence_parallel", "gpt-8.3b", {"dp=2", "tp=2", "sequence_parallel=true"}},
    {"cp", "gpt-8.3b", {"dp=1", "cp=2"}},
    {"zero 1", "gpt-8.3b", {"dp=2", "zero=1"}},
    {"zero 2", "gpt-8.3b", {"dp=2", "zero=2"}},
    {"zero 3", "gpt-8.3b", {"dp=2", "zero=3"}},
    {"overlap", "gpt-8.3b", {"dp=2", "overlap=gradient"}},
    {"recompute", "gpt-8.3b", {"dp=2", "recompute=full"}},
    {"zero-bubble", "gpt-8.3b", {"dp=2", "schedule=zero-bubble"}},
    {"interleaved", "gpt-8.3b", {"dp=2", "schedule=interleaved", "chunks=2"}},
    {"placement", "gpt-8.3b", {"dp=2", "tp=2", "placement=by-axis:pp-dp-tp"}},
    {"experts", "gpt-8.3b", {"dp=2", "ep=2", "model.experts=4", "model.expert_ffn=64"}},
    {"fp8", "gpt-8.3b", {"dp=2", "model.dtype=fp8"}},
};
static const struct {
    const char *sets[4];
} columns[] = {{{MESSAGES}}, {{FORWARD}}, {{FACTORS}}, {{SPARSE}}, {{FUSED}}};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static void priced_alike(const struct fr_job *job, const char *axis, int column) {
    struct fr_outcome closed = outcome_of(job);
    struct fr_simulation event;
    assert_int_equal(fr_simulate(job, &job->plan, NULL, &event, NULL), FR_OK);
    FR_TRUE(fabs(event.outcome.time_s - closed.time_s) <= 1e-12 * closed.time_s &&
                fabs(event.outcome.energy_J - closed.energy_J) <= 1e-9 * closed.energy_J,
            "%s, column %d: closed %.15g s, event %.15g s", axis, column, closed.time_s,
            event.outcome.time_s);
    FR_TRUE((fr_outcome_lossy(&closed) > 0) == (column < N_COLUMNS - 1),
            "%s, column %d: lossy %g %g %g", axis, column, closed.lossy_gradient,
            closed.lossy_backward, closed.lossy_forward);
    fr_simulation_free(&event);
}

static void every_pair(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof axes / sizeof *axes; k++) {
        struct fr_text row = {0};
        fr_text_addf(&row, "| %s |", axes[k].axis);
        for (int c = 0; c < N_COLUMNS; c++) {
            struct fr_job job;
            struct fr_outcome out;
            const char *sets[16] = {"pp=2", "micro_batch=2"};
            int n = 2;
            for (int i = 0; i < 6 && axes[k].sets[i]; i++) sets[n++] = axes[k].sets[i];
            for (int i = 0; i < 4 && columns[c].sets[i]; i++) sets[n++] = columns[c].sets[i];
            load(&job, sets);
            fr_cost(&job, &job.plan, &out);
            if (out.reasons == 0) priced_alike(&job, axes[k].axis, c);
            fr_text_addf(&row, " %s |", out.reasons ? "refused" : "priced");
            const char *why = fr_codec_refused(&job, &job.plan);
            FR_TRUE((out.reasons != 0) == (why != NULL), "%s, column %d: reasons %x",
                    axes[k].axis, c, (unsigned)out.reasons);
            fr_job_free(&job);
        }
        fr_test_documented("reference/compositions.md", &row);
    }
}

static void refuses(const char *part, const char *const *sets) {
    struct fr_job job;
    load(&job, sets);
    const char *why = fr_codec_refused(&job, &job.plan);
    FR_TRUE(why && strstr(why, part), "%s: \"%s\"", part, why ? why : "priced");
    assert_true(fr_pipeline_check(&job, &job.plan) & FR_BECAUSE(FR_REASON_COMPRESSION));
    fr_job_free(&job);
}
#define REFUSES(part, ...) refuses(part, (const char *const[]){__VA_ARGS__, NULL})

static void what_has_no_price(void **state) {
    (void)state;
    REFUSES("one replica", FACTORS);
    REFUSES("every micro-batch", "dp=2", "zero=2", FACTORS);
    REFUSES("every micro-batch", "dp=2", "pp=2", "zero=3", FUSED);
}

/* A codec's kernels wait for the host as the layers' own do in a model of layers: with one layer as with many. */
static void codecs_of_layers_wait_for_the_host(void **state) {
    (void)state;
    double one_s = 0;
    for (int n = 1; n <= 4; n++) {
        char layers[32];
        const char *const sets[] = {layers,
                                    "dp=2",
                                    "iterations=1",
                                    "compression.gradient.stages=1",
                                    "compression.gradient.rank=4",
                                    "cluster.device.host_launch=1 s",
                                    NULL};
        struct fr_job job;
        struct fr_outcome out;
        snprintf(layers, sizeof layers, "model.layers=%d", n);
        fr_test_job("frontier", "ffn-4096", sets, &job);
        fr_cost(&job, &job.plan, &out);
        assert_int_equal(out.reasons, 0);
        if (n == 1) one_s = out.part_s[FR_PART_COMPRESSION];
        assert_true(one_s > 1);
        FR_NEAR(out.part_s[FR_PART_COMPRESSION], n * one_s, 1e-12);
        fr_job_free(&job);
    }
}

/* A pair that goes both ways at once is small in time and bytes where both halves are coded, and then the larger of
 * the two; it is whole where one of them is. */
static void pairs_of_messages(void **state) {
    (void)state;
    for (int forward = 0; forward < 3; forward++)
        for (int scope = FR_SCOPE_NONE; scope <= FR_SCOPE_ALL; scope++)
            for (int whole = 0; whole < 2; whole++) {
                struct fr_stage stage[3] = {{.forward = {.compute_s = 1}}};
                struct fr_task_class class = {.kind = FR_TASK_EXCHANGE, .stage = 1};
                struct fr_program program = {.classes = &class, .n_classes = 1};
                struct fr_pipeline p = {.schedule = &fr_schedule_one_f_one_b,
                                        .args = {.stages = 3, .micro_batches = 6, .chunks = 1},
                                        .duplex = true,
                                        .scope = (fr_scope)scope,
                                        .codes_forward = forward > 0,
                                        .stage = stage};
                struct fr_class_price price;
                stage[1] = (struct fr_stage){.message_s = 8,
                                             .message_B = 80,
                                             .small_message_s = 3,
                                             .small_message_B = 30,
                                             .small_forward_s = 2.0 * forward,
                                             .small_forward_B = 20.0 * forward,
                                             .sends_whole = whole};
                fr_price_pipeline(&p, &program, &price);
                bool small = forward > 0 && scope == FR_SCOPE_ALL && !whole;
                double want_s = !small ? 8 : forward == 1 ? 3 : 4;
                FR_NEAR(price.part_s[FR_PRICE_MESSAGES], want_s, 0);
                FR_NEAR(price.size_B, 10 * want_s, 0);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages_over_the_sequence),
                                       cmocka_unit_test(sparse_messages),
                                       cmocka_unit_test(messages_of_eight_bits),
                                       cmocka_unit_test(a_rank_too_high_for_messages),
                                       cmocka_unit_test(no_more_than_all_values),
                                       cmocka_unit_test(messages_of_chunks),
                                       cmocka_unit_test(factors_over_all_replicas),
                                       cmocka_unit_test(sparse_parts_grow_with_replicas),
                                       cmocka_unit_test(ranks_that_do_not_help),
                                       cmocka_unit_test(factors_beside_a_distributed_optimiser),
                                       cmocka_unit_test(buckets_of_other_stages),
                                       cmocka_unit_test(every_pair),
                                       cmocka_unit_test(what_has_no_price),
                                       cmocka_unit_test(pairs_of_messages),
                                       cmocka_unit_test(codecs_of_layers_wait_for_the_host)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
