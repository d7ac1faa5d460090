/* Compression wherever there is a weight matrix: for each kind of model and method the matrices that a
 * rank holds are written down here, and what follows from them, bytes on the wire, work of the codec,
 * memory, what is lossy, must come out; and the event engine must agree. */
#include <math.h>
#include <stdio.h>

#include "models/outcome/cost.h"
#include "models/outcome/iteration.h"
#include "sim/run.h"
#include "tests/job.h"
#include "tests/memory_beside.h"
#include "tests/pipeline_case.h"

/* The round machine of test_codecs.c: 1 TFLOP/s, 1 TB/s, a kernel in 1 us, rings of 1 us and 10 GB/s. */
#define RING(op) "cluster.collectives." op "={\"form\": \"algorithm\", \"name\": \"ring\"}"
static const char *const machine[] = {
    "cluster.device.gemm={\"fp32\": {\"peak\": \"1 TFLOP/s\", \"half_dim\": 0}}",
    "cluster.device.memory_bandwidth=1 TB/s",
    "cluster.device.launch=1 us",
    "cluster.device.host_launch=0 s",
    "cluster.levels=[{\"name\": \"all\", \"ranks\": 4096, \"latency\": \"1 us\", "
    "\"bandwidth\": \"10 GB/s\"}]",
    RING("all_reduce"),
    RING("all_gather"),
    RING("reduce_scatter")};
enum { MACHINE = sizeof machine / sizeof *machine };
static const double peak = 1e12, moved = 1e12, launch_s = 1e-6;

/* `times` matrices m x n on a rank, of which `copies` ranks hold copies. */
struct matrix {
    double m, n, times, copies;
};

struct held {
    const char *model, *sets[10];
    struct matrix of[6]; /* of the first stage */
};

#define FFN                                                                                    \
    "ffn-4096", {                                                                              \
        "model.width=64", "model.layers=4", "global_batch=64"
#define GPT                                                                                    \
    "model.layers=4", "model.hidden=64", "model.heads=4", "model.ffn=256",                     \
        "model.sequence=32", "model.vocabulary=1000", "global_batch=32"

static const struct held table[] =
    {
        /* Four layers 64 x 64 over tp 4: rows. */
        {FFN, "tp=4", "dp=8"},
        {{16, 64, 4, 8}}},
                         {FFN, "tp=4", "dp=8", "micro_batch=2"}, {
    { 16, 64, 4, 8 }
}
}
, {FFN, "tp=4", "dp=8", "overlap=gradient", "pp=2"}, {
    { 16, 64, 2, 8 }
}
}
,
    /* Phantom: local block, compressor and three decompressors of k = 4. */
    {FFN, "method=phantom", "ghost=4", "tp=4", "dp=8"}, {
    {16, 16, 4, 8}, {4, 16, 4, 8}, { 16, 4, 12, 8 }
}
}
, {FFN, "method=phantom", "ghost=4", "tp=4", "dp=8", "pp=2", "micro_batch=2"}, {
    {16, 16, 2, 8}, {4, 16, 2, 8}, { 16, 4, 6, 8 }
}
}
,
    /* A grid's rows of W; of a rank more than the others have, where P_r does not divide. */
    {FFN, "method=grid", "tp=4", "dp=8"}, {
    { 16, 64, 4, 8 }
}
}
,
    {"ffn-4096",
     {"model.width=66", "model.layers=4", "global_batch=64", "method=grid", "tp=4", "dp=8"},
     {{17, 66, 4, 8}}},
    {FFN, "method=grid", "tp=4", "dp=8", "layer_tp=[8]"}, {
    { 8, 64, 4, 4 }
}
}
,
    /* Sub-graphs of layers without branches: all ranks hold all of it. */
    {FFN, "method=subgraph", "tp=4", "dp=8", "micro_batch=4"}, {
    { 64, 64, 4, 32 }
}
}
,
    /* Three convolutions, the second of two groups: filters as rows, below each other. */
    {"alexnet",
     {"method=grid", "tp=2", "dp=4", "global_batch=16", "model.input=[3,8,8]",
      "model.layers=[{\"type\":\"conv\",\"filters\":16,\"kernel\":3,\"padding\":1},"
      "{\"type\":\"conv\",\"filters\":24,\"kernel\":3,\"padding\":1,\"groups\":2},"
      "{\"type\":\"full\",\"outputs\":40}]"},
     {{8, 27, 1, 4}, {12, 72, 1, 4}, {20, 24 * 64, 1, 4}}},
    /* Branches: an MLP cut in four, two each on a rank, between a common layer and the next. */
    {"attention-branches",
     {"method=subgraph", "tp=2", "dp=4", "micro_batch=4", "model.width=32", "model.positions=8",
      "model.repeat=1", "global_batch=32",
      "model.layers=[{\"out\":32},{\"branches\":4,\"split\":\"copy\",\"join\":\"sum\","
      "\"layers\":"
      "[{\"out\":16},{\"out\":32}]}]"},
     {{32, 32, 1, 8}, {16, 32, 2, 4}, {32, 16, 2, 4}}},
    {"attention-branches",
     {"method=subgraph", "common=subgrid", "tp=2", "dp=4", "micro_batch=4", "model.width=32",
      "model.positions=8", "model.repeat=1", "global_batch=32",
      "model.layers=[{\"out\":32},{\"branches\":4,\"split\":\"copy\",\"join\":\"sum\","
      "\"layers\":"
      "[{\"out\":16},{\"out\":32}]}]"},
     {{32, 32, 1, 4}, {16, 32, 2, 4}, {32, 16, 2, 4}}},
    /* A transformer's four products over tp, phantom in the MLP, sub-graphs' common and branch layers. */
    {"gpt-8.3b",
     {GPT, "tp=2", "dp=4"},
     {{96, 64, 4, 4}, {64, 32, 4, 4}, {128, 64, 4, 4}, {64, 128, 4, 4}}},
}
;

/* ---- a codec, by hand ------------------------------------------------------------------------------ */

static double powersgd_s(double m, double n, double r, double v) {
    double flop = 2 * m * n * r * 4; /* M Q, M^T P, M - P Q^T, P Q^T */
    double moved_B = m * r * (r + 1) * v + 5 * m * n * v;
    return flop / peak + moved_B / moved + (2 + 6 * r + 2 + 1) * launch_s;
}

struct sums {
    double whole_B, coded_B, lossy_B, saved_B, time_s, stored_B;
};

static double factor(double p) { return 2 * (p - 1) / p; }

static struct sums sums_of(const struct matrix *of, double r) {
    struct sums s = {0};
    double v = 4;
    for (int k = 0; k < 6 && of[k].times > 0; k++) {
        double m = of[k].m, n = of[k].n, t = of[k].times, p = of[k].copies;
        if ((m + n) * r >= m * n) continue;
        s.lossy_B += t * m * n * v;
        s.coded_B += t * (m + n) * r * v;
        s.saved_B += t * factor(p) * (m * n - (m + n) * r) * v;
        s.time_s += t * powersgd_s(m, n, r, v);
        s.stored_B += t * ((m + n) * r + m * n) * v;
    }
    return s;
}

/* ---- the law --------------------------------------------------------------------------------------- */

static struct fr_outcome price(const struct held *h, double rank, struct fr_job *job) {
    const char *sets[40];
    char r[48];
    int n = MACHINE;
    struct fr_outcome out;
    memcpy(sets, machine, sizeof machine);
    for (int i = 0; i < 10 && h->sets[i]; i++) sets[n++] = h->sets[i];
    snprintf(r, sizeof r, "compression.gradient.rank=%g", rank);
    if (rank > 0) sets[n++] = "compression.gradient.stages=1", sets[n++] = r;
    if (rank <= 0) sets[n++] = "compression.gradient.stages=0";
    sets[n] = NULL;
    fr_test_job("a100-hdr", h->model, sets, job);
    fr_cost(job, &job->plan, &out);
    FR_TRUE(out.reasons == 0, "%s %s: reasons %x", h->model, h->sets[0], (unsigned)out.reasons);
    return out;
}

static void engine_agrees(const struct fr_job *job, const struct fr_outcome *closed) {
    struct fr_simulation event;
    struct fr_error err = {0};
    if (job->plan.layer_tp) return; /* closed form only */
    if (fr_simulate(job, &job->plan, NULL, &event, &err) != FR_OK) fail_msg("%s", err.detail);
    FR_NEAR(event.outcome.time_s, closed->time_s, 1e-12);
    FR_NEAR(event.outcome.energy_J, closed->energy_J, 1e-9);
    FR_NEAR(event.outcome.part_s[FR_PART_COMPRESSION], closed->part_s[FR_PART_COMPRESSION],
            1e-9);
    fr_simulation_free(&event);
}

static struct fr_pipeline pipeline_of(const struct fr_job *job) {
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    assert_int_equal(fr_pipeline_make(job, &job->plan, &p, &extrapolated, NULL), FR_OK);
    return p;
}

static void holds(const struct held *h, double r) {
    struct fr_job plain, job;
    price(h, 0, &plain);
    struct fr_outcome out = price(h, r, &job);
    struct sums want = sums_of(h->of, r);
    struct fr_pipeline before = pipeline_of(&plain), p = pipeline_of(&job);
    const struct fr_stage *stage = &p.stage[0];
    FR_NEAR(before.stage[0].sent_B[FR_SENT_DP] - stage->sent_B[FR_SENT_DP], want.saved_B, 1e-9);
    FR_NEAR(stage->coded_B, want.coded_B, 1e-12);
    FR_NEAR(stage->lossy_B, want.lossy_B, 1e-12);
    FR_NEAR(stage->gradient_codec_s, want.time_s, 1e-9);
    FR_NEAR(fr_memory_beside_B(&p, 0) - fr_memory_beside_B(&before, 0), want.stored_B, 1e-9);
    FR_NEAR(out.lossy_gradient, want.lossy_B / p.gradient_B, 1e-12);
    FR_NEAR(p.gradient_B, before.gradient_B, 1e-12);
    FR_NEAR(stage->gradient_B + stage->common_B + want.lossy_B,
            before.stage[0].gradient_B + before.stage[0].common_B, 1e-12);
    if (want.time_s > 0)
        FR_NEAR(out.break_even_gradient_B_per_s, want.saved_B / want.time_s, 1e-9);
    if (job.plan.pp == 1) FR_NEAR(out.part_s[FR_PART_COMPRESSION], want.time_s, 1e-9);
    engine_agrees(&job, &out);
    fr_pipeline_free(&before);
    fr_pipeline_free(&p);
    fr_job_free(&plain);
    fr_job_free(&job);
}

static void matrices_of_every_kind(void **state) {
    int coded = 0;
    (void)state;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        for (double r = 1; r <= 8; r *= 2) {
            holds(&table[k], r);
            coded += sums_of(table[k].of, r).lossy_B > 0;
        }
    assert_true(coded > 40);
}

/* Layers go one by one: what goes whole, 16 biases of a rank, then the codes; where nothing goes whole,
 * codes alone. */
static double ring_s(double p, double n_B) { return 2 * (p - 1) * (1e-6 + n_B / p / 10e9); }

static void layers_one_by_one(void **state){
    static const struct held biased = {FFN, "tp=4", "dp=8"}, {{0, 0, 0, 0}}},
    bare = {FFN, "tp=4", "dp=8", "model.bias=false"}, {
    { 0, 0, 0, 0 }
}
}
;
(void)state;
for (int k = 0; k < 2; k++) {
    struct fr_job job;
    struct fr_outcome out = price(k ? &bare : &biased, 4, &job);
    double coded_s = ring_s(8, (16 + 64) * 4 * 4), whole_s = k ? 0 : ring_s(8, 16 * 4);
    FR_NEAR(out.part_s[FR_PART_DP_COMM], 4 * (whole_s + coded_s), 1e-12);
    engine_agrees(&job, &out);
    fr_job_free(&job);
}
}

/* The first sub-grid of cSub codes the common layers while the other waits: that draws no busy power. */
static void who_waits(void **state) {
    const struct held *h = &table[sizeof table / sizeof *table - 2];
    struct fr_job job;
    (void)state;
    assert_string_equal(h->sets[1], "common=subgrid");
    price(h, 2, &job);
    struct fr_pipeline p = pipeline_of(&job);
    FR_NEAR(p.stage[0].codec_idle_s, powersgd_s(32, 32, 2, 4) / 2, 1e-9);
    fr_pipeline_free(&p);
    fr_job_free(&job);
}

/* ---- messages -------------------------------------------------------------------------------------- */

/* One rank sends this down across the first boundary: rows x columns. */
static const struct sent {
    const char *model, *sets[12];
    double m, n;
} messages[] = {{FFN, "pp=2", "tp=2", "micro_batch=8", "dp=2"}, 8, 32},
  {FFN, "pp=2", "tp=2", "micro_batch=8", "dp=2", "method=grid"}, 8, 32
}
, {FFN, "pp=2", "tp=2", "micro_batch=8", "dp=2", "method=phantom", "ghost=4"}, 8, 32
}
, {FFN, "pp=2", "tp=2", "micro_batch=16", "dp=2", "method=subgraph"}, 8, 64
}
, {"gpt-8.3b", {GPT, "pp=2"}, 32, 64},
    {"gpt-8.3b", {GPT, "pp=2", "tp=2", "sequence_parallel=true"}, 16, 64},
    {"gpt-8.3b", {GPT, "pp=2", "tp=2", "method=phantom", "ghost=4"}, 32, 32},
    {"gpt-8.3b", {GPT, "pp=2", "tp=2", "method=subgraph", "micro_batch=2"}, 32, 64},
    {"gpt-8.3b",
     {GPT, "pp=2", "tp=2", "method=subgraph", "micro_batch=2", "common=subgrid"},
     64,
     64},
}
;

static void messages_of_every_method(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof messages / sizeof *messages; k++)
        for (int epilogue = 0; epilogue < 2; epilogue++) {
            const struct sent *x = &messages[k];
            struct fr_job job;
            const char *sets[40];
            int n = MACHINE;
            memcpy(sets, machine, sizeof machine);
            for (int i = 0; i < 12 && x->sets[i]; i++) sets[n++] = x->sets[i];
            sets[n++] = epilogue ? "compression.backward.scope=epilogue"
                                 : "compression.backward.scope=all";
            sets[n++] = "compression.backward.rank=4";
            sets[n] = NULL;
            fr_test_job("a100-hdr", x->model, sets, &job);
            struct fr_outcome out;
            fr_cost(&job, &job.plan, &out);
            FR_TRUE(out.reasons == 0, "message %zu: reasons %x", k, (unsigned)out.reasons);
            struct fr_pipeline p = pipeline_of(&job);
            FR_NEAR(p.stage[0].message_rows, x->m, 1e-12);
            FR_NEAR(p.stage[0].message_columns, x->n, 1e-12);
            FR_NEAR(p.stage[0].message_B, x->m * x->n * 4, 1e-12);
            FR_NEAR(p.stage[0].small_message_B, (x->m + x->n) * 4 * 4, 1e-12);
            FR_NEAR(p.stage[0].encode_s + p.stage[0].decode_s, powersgd_s(x->m, x->n, 4, 4),
                    1e-12);
            engine_agrees(&job, &out);
            fr_pipeline_free(&p);
            fr_job_free(&job);
        }
}

/* Chunk by chunk all forward passes, then back all backward passes: the last stage, too, has passes of its last
 * chunk to come when it has no more forward ones. */
static void chunk_by_chunk(struct pipeline_case *c) {
    const struct fr_schedule_args a = c->p.args;
    int64_t all = (int64_t)a.chunks * a.micro_batches;
    for (int32_t i = 0; i < a.stages; i++)
        for (int64_t k = 0; k < all; k++) {
            struct fr_slot *forward = c->slots + 2 * all * i + k, *backward = forward + all;
            int16_t chunk = (int16_t)(k / a.micro_batches), last = (int16_t)(a.chunks - 1);
            int32_t micro = (int32_t)(k % a.micro_batches);
            *forward =
                (struct fr_slot){.kind = FR_SLOT_FORWARD, .chunk = chunk, .micro = micro};
            *backward = (struct fr_slot){
                .kind = FR_SLOT_BACKWARD, .chunk = (int16_t)(last - chunk), .micro = micro};
        }
}

/* Which micro-batches of which chunk, by the formula of models/price/pipeline.h, as listed chunk by chunk (@p broad)
 * or as interleaved; the program sends as many small messages, and both engines agree on random times. */
static void epilogue_of(int P, int v, int m, bool broad, uint64_t *seed) {
    struct pipeline_case c;
    struct fr_program program;
    double small = 0, counted = 0;
    case_uniform(&c, &fr_schedule_interleaved, P, m, v, false, 1, 2, 0.3);
    if (broad) chunk_by_chunk(&c);
    c.p.scope = FR_SCOPE_EPILOGUE;
    assert_int_equal(fr_pipeline_find_epilogue(&c.p, c.p.scope, NULL), FR_OK);
    for (int i = 0; i < P; i++) {
        int w = 2 * (P - 1 - i) + (v - 1) * P, all = v * m;
        if (broad || w > all - 1) w = all - 1;
        for (int chunk = 0; chunk < v; chunk++)
            for (int j = 0; j < m; j++) {
                int back = v - 1 - chunk,
                    k = broad ? m * back + j : v * P * (j / P) + P * back + j % P;
                FR_TRUE(fr_pipeline_compressed(&c.p, i, chunk, j) == (k >= all - w),
                        "P %d v %d m %d: stage %d chunk %d micro-batch %d", P, v, m, i, chunk,
                        j);
                bool reads = i < P - 1 || chunk < v - 1;
                small += reads && k >= all - w;
            }
        counted += fr_pipeline_n_compressed(&c.p, i);
        c.stage[i].small_message_s = 0.2 * case_uniform01(seed);
        c.stage[i].encode_s = 0.2 * case_uniform01(seed);
        c.stage[i].decode_s = 0.1 * case_uniform01(seed);
    }
    FR_NEAR(counted, small, 1e-12);
    FR_NEAR(fr_pipeline_lossy_backward(&c.p), small / ((P * v - 1.0) * m), 1e-12);
    assert_int_equal(fr_program_make(&c.p, &program, NULL), FR_OK);
    double sent = 0, encoded = 0, decoded = 0;
    for (int64_t t = 0; t < program.n_tasks; t++) {
        fr_task_kind kind = program.classes[program.tasks[t].class_id].kind;
        sent += kind == FR_TASK_COMPRESSED_MESSAGE;
        encoded += kind == FR_TASK_COMPRESS;
        decoded += kind == FR_TASK_DECOMPRESS;
    }
    FR_NEAR(sent, small, 1e-12);
    FR_NEAR(encoded, small, 1e-12);
    FR_NEAR(decoded, small, 1e-12);
    FR_NEAR(case_event_s(&c, true), case_closed_s(&c, true), 1e-12);
    fr_program_free(&program);
    free(c.p.cool_down);
}

static void epilogue_of_chunks(void **state) {
    uint64_t seed = 11;
    (void)state;
    for (int P = 2; P <= 5; P++)
        for (int v = 2; v <= 4; v++)
            for (int m = P; m <= 4 * P; m += P)
                for (int broad = 0; broad < 2; broad++) epilogue_of(P, v, m, broad, &seed);
}

/* A boundary whose messages a codec does not make smaller sends them whole beside others that do. */
static void some_boundaries_whole(void **state) {
    uint64_t seed = 3;
    (void)state;
    for (int k = 0; k < 100; k++) {
        struct pipeline_case c;
        case_uniform(&c, &fr_schedule_one_f_one_b, 5, 12, 1, false, 1, 2, 0.3);
        c.p.scope = k % 2 ? FR_SCOPE_EPILOGUE : FR_SCOPE_ALL;
        int whole = (int)(case_random(&seed) % 4);
        for (int i = 0; i < 5; i++) {
            c.stage[i].small_message_s = 0.1 * case_uniform01(&seed);
            c.stage[i].encode_s = 0.2 * case_uniform01(&seed);
            c.stage[i].decode_s = 0.1 * case_uniform01(&seed);
        }
        double all = fr_pipeline_lossy_backward(&c.p);
        c.stage[whole].sends_whole = true;
        double less = k % 2 ? (4.0 - whole) / 48 : 12.0 / 48;
        FR_NEAR(all - fr_pipeline_lossy_backward(&c.p), less, 1e-12);
        FR_NEAR(case_event_s(&c, true), case_closed_s(&c, true), 1e-12);
    }
}

/* The tied embedding of sub-graphs is common: all N = tp dp ranks of each end hold it (cSub: dp).  Apart,
 * each end reduces it over N, then pairs; fused, 2 N at once: 2 (2N-1)/(2N) V. */
static void fused_embedding_of_subgraphs(void **state) {
    static const char *const common[] = {"common=all", "common=subgrid"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        double sent_B[2][2];
        double N = k ? 4 : 8;
        for (int fused = 0; fused < 2; fused++) {
            struct held h = {"gpt-8.3b", {GPT, "pp=2"}, {{0, 0, 0, 0}}};
            struct fr_job job;
            const char *sets[40];
            int n = MACHINE;
            memcpy(sets, machine, sizeof machine);
            for (int i = 0; i < 8; i++) sets[n++] = h.sets[i];
            sets[n++] = "method=subgraph", sets[n++] = "tp=2", sets[n++] = "dp=4";
            sets[n++] = "micro_batch=2", sets[n++] = common[k];
            sets[n++] =
                fused ? "compression.embedding=fused" : "compression.embedding=separate";
            sets[n] = NULL;
            fr_test_job("a100-hdr", "gpt-8.3b", sets, &job);
            struct fr_outcome out;
            fr_cost(&job, &job.plan, &out);
            assert_int_equal(out.reasons, 0);
            engine_agrees(&job, &out);
            struct fr_pipeline p = pipeline_of(&job);
            double V = 1024 * 64 * 4; /* words padded */
            double ends = fused ? 2 * N : 2;
            FR_NEAR(p.embedding_s, ring_s(ends, V), 1e-12);
            FR_NEAR(p.stage[0].sent_B[FR_SENT_EMBEDDING], factor(ends) * V, 1e-12);
            sent_B[fused][0] = p.stage[0].sent_B[FR_SENT_DP];
            sent_B[fused][1] = p.stage[1].sent_B[FR_SENT_DP];
            if (fused)
                for (int end = 0; end < 2; end++)
                    FR_NEAR(sent_B[0][end] - sent_B[1][end], factor(N) * V, 1e-12);
            fr_pipeline_free(&p);
            fr_job_free(&job);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(matrices_of_every_kind),
                                       cmocka_unit_test(layers_one_by_one),
                                       cmocka_unit_test(who_waits),
                                       cmocka_unit_test(messages_of_every_method),
                                       cmocka_unit_test(epilogue_of_chunks),
                                       cmocka_unit_test(some_boundaries_whole),
                                       cmocka_unit_test(fused_embedding_of_subgraphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
