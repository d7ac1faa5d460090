/* Blocks of today's models by hand: adapters beside frozen weights. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/outcome/rates.h"
#include "models/price/pipeline.h"
#include "models/work/transformer.h"
#include "models/workload/flop.h"
#include "tests/job.h"
#include "tests/work.h"

/* ---- LoRA ------------------------------------------------------------------------------------ */

static struct fr_rank_work stage(const char *model, const char *const *sets,
                                 struct fr_job *job) {
    struct fr_rank_work work;
    fr_test_job("dgx-h100", model, sets, job);
    fr_transformer_stage(&job->workload, &job->plan, 0, &work);
    return work;
}

/* MLPerf's fine-tuning of Llama 2 70B, rank 16 on an attention's products: its reference prints 44,564,480
 * trainable parameters. */
static void trained_parameters_are_mlperfs(void **state) {
    (void)state;
    static const char *const lora[] = {"model.lora_rank=16", "attention=flash", NULL};
    struct fr_job job, all;
    struct fr_rank_work adapted = stage("llama-2-70b", lora, &job),
                        whole = stage("llama-2-70b", lora + 1, &all);
    FR_NEAR(adapted.parameters - adapted.frozen, 44564480, 0);
    FR_NEAR(adapted.frozen, whole.parameters, 0);
    FR_NEAR(whole.frozen, 0, 0);
    fr_job_free(&job);
    fr_job_free(&all);
}

/* Llama 3 8B (h 4096, kv 1024, f 14336, 32 layers), T = 2048 tokens: each adapter is three products of 2 T r (in +
 * out), and what is frozen has no weight gradient. */
static void flop_by_hand(void **state) {
    (void)state;
    static const char *const sets[] = {"model.lora_rank=8",
                                       "model.lora_on=all",
                                       "model.sequence=2048",
                                       "micro_batch=1",
                                       "global_batch=1",
                                       "attention=flash",
                                       NULL};
    static const char *const full[] = {"model.sequence=2048", "micro_batch=1", "global_batch=1",
                                       "attention=flash", NULL};
    struct fr_job job, all;
    struct fr_rank_work adapted = stage("llama-3-8b", sets, &job),
                        whole = stage("llama-3-8b", full, &all);
    double T = 2048, h = 4096, values = h + 6144 + h + h + h + 28672 + 14336 + h,
           one = 32 * 2 * T * 8 * values;
    FR_NEAR(adapted.parameters - adapted.frozen, 32 * 8 * values, 0);
    FR_NEAR(test_flops(&adapted, FR_PASS_WEIGHT), one, 1e-12);
    for (int pass = FR_PASS_FORWARD; pass <= FR_PASS_INPUT; pass++)
        FR_NEAR(test_flops(&adapted, (fr_pass_kind)pass),
                test_flops(&whole, (fr_pass_kind)pass) + one, 1e-12);
    double products = 2 * T * (32 * (h * 6144 + h * h + 3 * h * 14336) + h * 128256),
           core = 32 * 2 * 2 * T * T * h;
    FR_NEAR(fr_workload_flop(&job.workload), 2 * products + 3 * core + 3 * one, 1e-12);
    FR_NEAR(fr_workload_forward_flop(&job.workload), products + core + one, 1e-12);
    fr_job_free(&job);
    fr_job_free(&all);
}

/* Over tp 4 every rank trains a quarter: flop of the four are those of one; and exchanges as NeMo's adapters. */
static void divided_over_tp(void **state) {
    (void)state;
    static const char *const one[] = {"model.lora_rank=16", "micro_batch=1", "global_batch=1",
                                      "attention=flash", NULL};
    static const char *const four[] = {"model.lora_rank=16", "micro_batch=1", "global_batch=1",
                                       "attention=flash",    "tp=4",          NULL};
    static const char *const whole[] = {"micro_batch=1", "global_batch=1", "attention=flash",
                                        "tp=4", NULL};
    struct fr_job a, b, c;
    struct fr_rank_work w1 = stage("llama-3-8b", one, &a), w4 = stage("llama-3-8b", four, &b),
                        plain = stage("llama-3-8b", whole, &c);
    FR_NEAR(4 * (w4.parameters_rank - w4.frozen_rank), w1.parameters_rank - w1.frozen_rank, 0);
    FR_NEAR(4 * test_flops(&w4, FR_PASS_WEIGHT), test_flops(&w1, FR_PASS_WEIGHT), 1e-12);
    double T = 8192, h = 4096, forward = 32 * 2 * T * (16 + 16 + h),
           back = 32 * 2 * T * (h + 16);
    FR_NEAR(test_tp_B(&w4, false) - test_tp_B(&plain, false), forward, 1e-9);
    FR_NEAR(test_tp_B(&w4, true) - test_tp_B(&plain, true), back, 1e-9);
    fr_job_free(&a);
    fr_job_free(&b);
    fr_job_free(&c);
}

/* A frozen MLP keeps neither its input (2 T h at 16 bits) nor what goes into its second product (2 T f); adapters
 * keep r values a token each. */
static void memory_by_hand(void **state) {
    (void)state;
    static const char *const lora[] = {
        "model.lora_rank=16", "dp=2", "zero=1", "micro_batch=1", "global_batch=2",
        "attention=flash",    NULL};
    struct fr_job job, all;
    struct fr_outcome out, whole;
    fr_test_job("dgx-h100", "llama-3-8b", lora, &job);
    fr_test_job("dgx-h100", "llama-3-8b", lora + 1, &all);
    fr_cost(&job, &job.plan, &out);
    fr_cost(&all, &all.plan, &whole);
    double T = 8192, h = 4096, f = 14336, trained = 32 * 16 * (h + 6144 + h + h);
    FR_NEAR(out.parameters - out.parameters_frozen, trained, 0);
    FR_NEAR(out.memory_B[FR_MEMORY_PARAMETERS],
            whole.memory_B[FR_MEMORY_PARAMETERS] + 2 * trained, 1e-12);
    FR_NEAR(out.memory_B[FR_MEMORY_GRADIENTS], 4 * trained, 1e-12);
    FR_NEAR(out.memory_B[FR_MEMORY_OPTIMIZER], 12 * trained / 2, 1e-12);
    FR_NEAR(whole.memory_B[FR_MEMORY_ACTIVATIONS] - out.memory_B[FR_MEMORY_ACTIVATIONS],
            32 * 2 * T * (h + f - 2 * 16), 1e-9);
    FR_NEAR(out.sent_B[FR_SENT_DP], 0.5 * (4 + 2) * trained, 1e-9); /* scattered, gathered */
    fr_job_free(&job);
    fr_job_free(&all);
}

static void refused(const char *model, const char *const *sets, int reason) {
    struct fr_job job;
    fr_test_job("dgx-a100", model, sets, &job);
    fr_reasons reasons = fr_pipeline_check(&job, &job.plan);
    FR_TRUE(reasons == FR_BECAUSE(reason), "%s %s: %#llx", model, sets[0],
            (unsigned long long)reasons);
    fr_job_free(&job);
}

static void what_adapters_do_not_meet(void **state) {
    (void)state;
    static const char *const rank[] = {"tp=4", "model.lora_rank=6", NULL},
                             *const grid[] = {"method=grid", "tp=2", "model.lora_rank=8", NULL},
                             *const saves[] = {"recompute=save_qkv", "model.lora_rank=8", NULL},
                             *const fused[] = {"compression.embedding=fused", "pp=2", "dp=2",
                                               "model.lora_rank=8", NULL},
                             *const factors[] = {"compression.gradient.stages=1", "dp=2",
                                                 "model.lora_rank=8", NULL};
    refused("gpt-2", rank, FR_REASON_WIDTH);
    refused("gpt-2", grid, FR_REASON_METHOD);
    refused("gpt-2", saves, FR_REASON_RECOMPUTE);
    refused("gpt-2", fused, FR_REASON_IDLE_KEY);
    refused("gpt-2", factors, FR_REASON_COMPRESSION);
    struct fr_error err = fr_test_refused("dgx-h100", "gpt-2", "model.lora_on=mlp");
    assert_non_null(strstr(err.detail, "without lora_rank"));
    static const char mixture[] = "{\"kind\": \"transformer\", \"layers\": 2, \"hidden\": 64, "
                                  "\"heads\": 4, \"sequence\": 16, "
                                  "\"vocabulary\": 128, \"experts\": 4, \"lora_rank\": 4}";
    err = fr_test_refused("dgx-h100", mixture, "model.lora_on=all");
    assert_non_null(strstr(err.detail, "experts"));
    err = fr_test_refused(
        "dgx-h100",
        "{\"kind\": \"transformer\", \"layers\": 2, \"hidden\": 64, \"heads\": 4, "
        "\"sequence\": 16, \"vocabulary\": 128, \"lora_rank\": 4, "
        "\"layer_profile\": [{\"tp\": 1, \"micro_batch\": 1, \"forward\": \"1 ms\", "
        "\"backward\": \"2 ms\"}]}",
        "model.lora_on=all");
    assert_non_null(strstr(err.detail, "weight gradients"));
}

/* Of a Hugging Face file too. */
static void beside_a_config(void **state) {
    (void)state;
    static const char *const sets[] = {"model.lora_rank=8", "attention=flash", NULL};
    struct fr_job job;
    struct fr_rank_work work =
        stage(FR_SOURCE_DIR "/tests/models/hf/llama-3-8b.json", sets, &job);
    FR_NEAR(work.parameters - work.frozen, 32 * 8 * (4096 + 6144 + 4096 + 4096), 0);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trained_parameters_are_mlperfs),
                                       cmocka_unit_test(flop_by_hand),
                                       cmocka_unit_test(divided_over_tp),
                                       cmocka_unit_test(memory_by_hand),
                                       cmocka_unit_test(what_adapters_do_not_meet),
                                       cmocka_unit_test(beside_a_config)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
