/* A backward pass keeps tensors, recomputes them or fetches them from the host: policies that keep attention's
 * products, inputs of products at 8 bits, activations in the host's memory; by hand, and both engines on it. */
#include <math.h>
#include <string.h>

#include "models/outcome/cost.h"
#include "models/work/transformer.h"
#include "models/workload/flop.h"
#include "sim/run.h"
#include "tests/job.h"

/* Llama 3 8B, a sample of 8192 tokens on tp ranks. */
static const double T = 8192, h = 4096, q = 4096, kv = 1024, f = 14336;

struct again {
    double flop, attentions, reduced, gathered, scattered;
};

static struct again of_again(const struct fr_rank_work *work) {
    struct again a = {0};
    for (int i = 0; i < work->n_ops; i++) {
        const struct fr_operation *o = &work->op[i];
        if (o->pass != FR_PASS_AGAIN) continue;
        if (o->kind == FR_WORK_PRODUCT)
            a.flop +=
                2 * o->shape.m * o->shape.n * o->shape.k * fmax(1, o->shape.batch) * o->times;
        if (o->kind == FR_WORK_ATTENTION) a.attentions += o->size;
        if (o->kind != FR_WORK_COLLECTIVE) continue;
        if (o->op == FR_OP_ALL_REDUCE) a.reduced += o->times;
        if (o->op == FR_OP_ALL_GATHER) a.gathered += o->times;
        if (o->op == FR_OP_REDUCE_SCATTER) a.scattered += o->times;
    }
    return a;
}

/* The middle one of four stages: 8 layers. */
static void work_of(const char *tp, const char *sequence, const char *recompute,
                    const char *dtype, struct fr_rank_work *work) {
    const char *sets[] = {
        tp,    sequence,          "pp=4", "global_batch=4", "micro_batch=1", recompute,
        dtype, "attention=flash", NULL};
    struct fr_job job;
    fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
    fr_transformer_stage(&job.workload, &job.plan, 1, work);
    fr_job_free(&job);
}

static void policies_by_hand(void **state) {
    (void)state;
    const double all = 2 * T * (h * (q + 2 * kv) + q * h + 3 * h * f), up = 2 * T * 2 * h * f,
                 out = 2 * T * q * h;
    const struct {
        const char *recompute;
        double flop, reduced, gathered, scattered, saved; /* a layer; kept: values */
    } rows[] = {{"recompute=full", all, 2, 2, 2, T * h},
                {"recompute=save_qkv", out + up, 1, 1, 1, T * (h + q + 2 * kv)},
                {"recompute=save_qkv_out", up, 0, 1, 0, T * (2 * h + q + 2 * kv)}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int tp = 1; tp <= 4; tp *= 4)
            for (int divided = 0; divided < 2; divided++) {
                struct fr_rank_work work;
                bool sp = divided && tp > 1;
                work_of(tp == 1 ? "tp=1" : "tp=4",
                        sp ? "sequence_parallel=true" : "sequence_parallel=false",
                        rows[k].recompute, "model.dtype=bf16", &work);
                struct again a = of_again(&work);
                double t = tp, whole = rows[k].saved, stream = k == 2 ? 2 * T * h : T * h;
                FR_NEAR(a.flop, 8 * rows[k].flop / t, 1e-12);
                FR_NEAR(a.attentions, 8 * 4 * T * T / 2 * q / t, 1e-12);
                FR_NEAR(a.reduced, tp > 1 && !sp ? 8 * rows[k].reduced : 0, 1e-12);
                FR_NEAR(a.gathered, sp ? 8 * rows[k].gathered : 0, 1e-12);
                FR_NEAR(a.scattered, sp ? 8 * rows[k].scattered : 0, 1e-12);
                FR_NEAR(work.activation_B,
                        8 * 2 * (sp ? whole / t : stream + (whole - stream) / t), 1e-12);
            }
}

/* By rows on 4 ranks, of T tokens: the heads' and the MLP's values once more whole, what the attention's second
 * product made where that is not kept; divided along the sequence an all-to-all of a rank's 1/p in its place, and
 * the MLP's input. */
static void policies_of_grids_by_hand(void **state) {
    (void)state;
    for (int out = 0; out < 2; out++)
        for (int sp = 0; sp < 2; sp++) {
            const char *sets[] = {"tp=4",
                                  "method=grid",
                                  "pp=4",
                                  "global_batch=4",
                                  "micro_batch=1",
                                  out ? "recompute=save_qkv_out" : "recompute=save_qkv",
                                  "attention=flash",
                                  sp ? "sequence_parallel=true" : "sequence_parallel=false",
                                  "model.dtype=bf16",
                                  NULL};
            struct fr_job job;
            struct fr_rank_work work;
            double gathered_B = 0, exchanged_B = 0, stream = sp ? T * h / 4 : T * h;
            fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
            fr_transformer_stage(&job.workload, &job.plan, 1, &work);
            struct again a = of_again(&work);
            for (int i = 0; i < work.n_ops; i++) {
                const struct fr_operation *o = &work.op[i];
                if (o->kind != FR_WORK_COLLECTIVE || o->pass != FR_PASS_AGAIN) continue;
                *(o->op == FR_OP_ALL_TO_ALL ? &exchanged_B : &gathered_B) += o->times * o->size;
            }
            double mlp = 2 * T * 2 * h * f, second = out ? 0 : 2 * T * q * h;
            FR_NEAR(a.flop, 8 * (mlp + second) / 4, 1e-12);
            FR_NEAR(gathered_B, 8 * 2 * T * (q + f + (sp ? h : out ? 0 : h)), 1e-12);
            FR_NEAR(exchanged_B, sp && !out ? 8 * 2 * T * h / 4 : 0, 1e-12);
            FR_NEAR(work.activation_B,
                    8 * 2 * (stream + T * (q + 2 * kv) / 4 + (out ? stream : 0)), 1e-12);
            fr_job_free(&job);
        }
}

/* Two inputs of norms at 16 bits and of products at 8; queries, keys, values and what attention made of
 * them at 16, the last at 8 besides; gate and up at 16, what is made of them at 8. */
static void fp8_by_hand(void **state) {
    (void)state;
    struct fr_rank_work work;
    work_of("tp=1", "sequence_parallel=false", "recompute=none", "model.dtype=fp8", &work);
    FR_NEAR(work.activation_B,
            8 * T * (2 * (2 + 1) * h + 2 * (q + 2 * kv) + (2 + 1) * q + 2 * 2 * f + f), 1e-12);
    work_of("tp=1", "sequence_parallel=false", "recompute=none", "model.dtype=bf16", &work);
    FR_NEAR(work.activation_B, 8 * T * 2 * (4 * h + 2 * q + 2 * kv + 3 * f), 1e-12);
}

/* The same at 4.5 bits; the device must say how fast it is in them, and between products the method must keep 16. */
static void fp4_by_hand(void **state) {
    (void)state;
    struct fr_rank_work work;
    const double v = 4.5 / 8;
    work_of("tp=1", "sequence_parallel=false", "recompute=none", "model.dtype=fp4", &work);
    FR_NEAR(work.activation_B,
            8 * T * (2 * (2 + v) * h + 2 * (q + 2 * kv) + (2 + v) * q + 2 * 2 * f + v * f),
            1e-12);
    static const struct {
        const char *cluster, *method;
        fr_reasons want;
    } rows[] = {{"dgx-b200", "method=tensor", 0},
                {"dgx-b200", "method=grid", 0},
                {"dgx-b200", "method=phantom", FR_BECAUSE(FR_REASON_DTYPE)},
                {"dgx-b200", "method=subgraph", FR_BECAUSE(FR_REASON_DTYPE)},
                {"dgx-h100", "method=tensor", FR_BECAUSE(FR_REASON_DTYPE)}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *sets[] = {rows[i].method, "model.dtype=fp4", "tp=2", "ghost=4", NULL};
        struct fr_job job;
        if (i != 2) sets[3] = NULL; /* ghosts are phantom's */
        fr_test_job(rows[i].cluster, "gpt-2", sets, &job);
        fr_reasons got = fr_pipeline_check(&job, &job.plan);
        FR_TRUE(rows[i].want ? (got & rows[i].want) != 0 : got == 0, "row %zu", i);
        fr_job_free(&job);
    }
}

/* Llama 3 8B with windows of 2048 tokens in 8 of its 32 layers: of 8192^2 / 2 pairs a windowed layer looks
 * at 2048 x 8192 - 2048^2 / 2. */
static void windows_by_hand(void **state) {
    (void)state;
    const char *sets[] = {"model.window=2048", "model.window_layers=8", "attention=flash",
                          "model.dtype=bf16",  "global_batch=1",        NULL},
               *plain[] = {"model.window=2048", "model.window_layers=8", "global_batch=1",
                           NULL};
    const double pairs = 24 * T * T / 2 + 8 * (2048 * T - 2048. * 2048 / 2);
    struct fr_job job;
    struct fr_rank_work work;
    double forward = 0, scores = 0;
    fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
    fr_transformer_stage(&job.workload, &job.plan, 0, &work);
    for (int i = 0; i < work.n_ops; i++)
        if (work.op[i].kind == FR_WORK_ATTENTION && work.op[i].pass == FR_PASS_FORWARD)
            forward += work.op[i].size * work.op[i].times;
    FR_NEAR(forward, 4 * q * pairs, 1e-12);
    double seen = pairs / (32 * T * T / 2), whole = fr_workload_flop(&job.workload);
    job.workload.transformer.window = 0;
    FR_NEAR(fr_workload_flop(&job.workload) - whole, 6 * 32 * T * T * q * (1 - seen), 1e-9);
    fr_job_free(&job);
    fr_test_job("dgx-h100", "llama-3-8b", plain, &job);
    fr_transformer_stage(&job.workload, &job.plan, 0, &work);
    for (int i = 0; i < work.n_ops; i++) {
        const struct fr_operation *o = &work.op[i];
        if (o->kind == FR_WORK_SCORES && o->pass == FR_PASS_FORWARD)
            scores += 2 * o->shape.m * o->shape.n * o->shape.k * o->times;
    }
    FR_NEAR(scores, 32 * 2 * 2 * T * T * q, 1e-12); /* masked, made all the same */
    fr_job_free(&job);
}

/* ---- offloaded -------------------------------------------------------------------------------- */

static void cost(const char *layers, const char *rate, const char *more,
                 struct fr_outcome *out) {
    const char *sets[] = {"dp=2",
                          "global_batch=8",
                          "micro_batch=1",
                          "model.dtype=bf16",
                          "zero=3",
                          "attention=flash",
                          "cluster.device.interference=0",
                          rate,
                          layers,
                          more,
                          NULL};
    struct fr_job job;
    struct fr_simulation event;
    struct fr_error err = {0};
    fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
    fr_cost(&job, &job.plan, out);
    if (fr_simulate(&job, &job.plan, NULL, &event, &err) != FR_OK) fail_msg("%s", err.detail);
    FR_NEAR(event.outcome.time_s, out->time_s, 1e-9);
    FR_NEAR(event.outcome.energy_J, out->energy_J, 1e-9);
    fr_simulation_free(&event);
    fr_job_free(&job);
}

/* Four micro-batches; 8 of 32 layers of a bytes each, out and back; two on the device. */
static void some_layers_by_hand(void **state) {
    (void)state;
    const double a = T * 2 * (4 * h + 2 * q + 2 * kv + 3 * f);
    struct fr_outcome none, fast, slow, slower, all;
    cost("offload=none", "cluster.device.host_link=1 GB/s", NULL, &none);
    cost("offload=activations", "cluster.device.host_link=100 TB/s", "offload_layers=8", &fast);
    cost("offload=activations", "cluster.device.host_link=2 GB/s", "offload_layers=8", &slow);
    cost("offload=activations", "cluster.device.host_link=1 GB/s", "offload_layers=8", &slower);
    cost("offload=activations", "cluster.device.host_link=1 GB/s", "offload_layers=99", &all);
    FR_NEAR(fast.time_s, none.time_s, 1e-12);
    FR_NEAR(slower.time_s - slow.time_s, 4 * 8 * 2 * (a / 1e9 - a / 2e9), 1e-9);
    FR_NEAR(none.memory_B[FR_MEMORY_ACTIVATIONS] - slow.memory_B[FR_MEMORY_ACTIVATIONS], 6 * a,
            1e-12);
    FR_NEAR(slow.host_memory_B, 8 * a, 1e-12);
    FR_NEAR(all.host_memory_B, 32 * a, 1e-12);
    FR_NEAR(slow.sent_B[FR_SENT_HOST], 4 * 8 * 2 * a, 1e-12);
}

static void a_policy_needs_its_method(void **state) {
    (void)state;
    const char *sets[] = {"tp=2",
                          "global_batch=4",
                          "micro_batch=1",
                          "recompute=save_qkv",
                          "method=phantom",
                          "ghost=4",
                          NULL};
    struct fr_job job;
    struct fr_outcome out;
    fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
    fr_cost(&job, &job.plan, &out);
    assert_true(out.reasons & FR_BECAUSE(FR_REASON_RECOMPUTE));
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(policies_by_hand),
                                       cmocka_unit_test(policies_of_grids_by_hand),
                                       cmocka_unit_test(windows_by_hand),
                                       cmocka_unit_test(fp8_by_hand),
                                       cmocka_unit_test(fp4_by_hand),
                                       cmocka_unit_test(some_layers_by_hand),
                                       cmocka_unit_test(a_policy_needs_its_method)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
