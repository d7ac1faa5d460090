/* Blocks of today's models by hand: adapters beside frozen weights; latent attention, dense first layers and
 * shared experts, as in DeepSeek-V3; one
 * copy of a token for several experts. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/outcome/rates.h"
#include "models/price/pipeline.h"
#include "models/work/dispatch.h"
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
           core = 32 * 2 * 2 * T * T * h / 2;
    FR_NEAR(fr_workload_flop(&job.workload), 2 * products + 3 * core + 3 * one, 1e-12);
    FR_NEAR(fr_workload_forward_flop(&job.workload), products + core + one, 1e-12);
    fr_job_free(&job);
    fr_job_free(&all);
}

/* An adapter keeps its first input whole, of which without it a rank has a quarter. */
static void inputs_are_kept_whole(void **state) {
    (void)state;
    static const char *const sets[] = {"model.lora_rank=16",
                                       "tp=4",
                                       "sequence_parallel=true",
                                       "micro_batch=1",
                                       "global_batch=1",
                                       "attention=flash",
                                       NULL};
    struct fr_job a, b;
    struct fr_rank_work adapted = stage("llama-3-8b", sets, &a),
                        plain = stage("llama-3-8b", sets + 1, &b);
    double T = 8192, h = 4096, f = 14336, r = 16;
    FR_NEAR(plain.activation_B - adapted.activation_B,
            32 * 2 * (T * h / 4 + T * f / 4 - 3 * T * h / 4 - 2 * r * T), 1e-9);
    fr_job_free(&a);
    fr_job_free(&b);
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

/* With sequence parallel over tp 4: the first adapter's gradient goes with the product's, the second's output and
 * gradient are gathered, or go all to all, a quarter of them; beside products in pieces the first gathers its own. */
static void exchanges_of_a_sequence_in_parts(void **state) {
    (void)state;
    static const struct {
        const char *exchange, *overlap;
        double forward, back; /* of T h, besides r values a token */
    } cases[] = {{"gather", "false", 1, 1},
                 {"all_to_all", "false", 0.25, 0.25},
                 {"gather", "true", 2, 2},
                 {"all_to_all", "true", 1.25, 1.25}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char exchange[40], overlap[40];
        snprintf(exchange, sizeof exchange, "model.lora_exchange=%s", cases[i].exchange);
        snprintf(overlap, sizeof overlap, "overlap_tp=%s", cases[i].overlap);
        const char *const sets[] = {"model.lora_rank=16",
                                    exchange,
                                    "tp=4",
                                    overlap,
                                    "sequence_parallel=true",
                                    "micro_batch=1",
                                    "global_batch=1",
                                    "attention=flash",
                                    NULL};
        struct fr_job a, b;
        struct fr_rank_work adapted = stage("llama-3-8b", sets, &a),
                            plain = stage("llama-3-8b", sets + 2, &b);
        double T = 8192, h = 4096, r = 16, unit = 32 * 2 * T;
        FR_NEAR(test_tp_B(&adapted, false) - test_tp_B(&plain, false),
                unit * (2 * r + cases[i].forward * h), 1e-9);
        /* Weight gradients of what is frozen ask for no input again: two gathers a layer, and the logits', less. */
        FR_NEAR(test_tp_B(&adapted, true) - test_tp_B(&plain, true),
                unit * (r + (cases[i].back - 2) * h) - 2 * T * h, 1e-9);
        fr_job_free(&a);
        fr_job_free(&b);
    }
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

/* A Hugging Face file is read too. */
static void beside_a_config(void **state) {
    (void)state;
    static const char *const sets[] = {"model.lora_rank=8", "attention=flash", NULL};
    struct fr_job job;
    struct fr_rank_work work =
        stage(FR_SOURCE_DIR "/tests/models/hf/llama-3-8b.json", sets, &job);
    FR_NEAR(work.parameters - work.frozen, 32 * 8 * (4096 + 6144 + 4096 + 4096), 0);
    fr_job_free(&job);
}

/* ---- DeepSeek-V3 ----------------------------------------------------------------------------- */

/* Per layer h (1536 + 512 + 64), 1536 x 128 x 192, 512 x 128 x 256 and 128 x 128 h of attention; three MLPs of 3 h 18432,
 * 58 mixtures of 257 experts of 3 h 2048 with a router of 256 h; norms; both ends' 129280 rows.  The report says 671 B, 37 B
 * of them active: 8 + 1 experts a layer. */
static void parameters_of_deepseek(void **state) {
    (void)state;
    static const char *const sets[] = {"attention=flash", "micro_batch=1", NULL};
    struct fr_job job;
    struct fr_rank_work work = stage("deepseek-v3", sets, &job);
    double h = 7168, expert = 3 * h * 2048,
           attention = h * 2112 + 1536 * 128 * 192.0 + 512 * 128 * 256.0 + 128 * 128 * h,
           norms = 61 * (2 * h + 1536 + 512) + h, ends = 2 * 129280 * h,
           rest = 61 * attention + 3 * 3 * h * 18432 + 58 * 256 * h + norms + ends;
    FR_NEAR(work.parameters, rest + 58 * 257 * expert, 1e-12);
    FR_TRUE(fabs(work.parameters / 671e9 - 1) < 1e-3, "%.4g", work.parameters);
    double active = rest + 58 * 9 * expert;
    FR_TRUE(fabs(active / 37e9 - 1) < 0.02, "%.4g", active);
    /* Six flop an active parameter and token, but norms and the embedding's lookup; 3 s (192 + 128) 128 a layer, half of the scores. */
    double s = 4096, products = active - norms - ends / 2,
           core = 61 * 6 * s / 2 * 128 * (192 + 128);
    FR_NEAR(fr_workload_flop(&job.workload), s * (6 * products + core), 1e-12);
    /* The list's: 4096 x 8 / 256 = 128 rows an expert, a whole tile; the router is not in it. */
    FR_NEAR(test_flops(&work, FR_PASS_WEIGHT), 2 * s * (products - 58 * 256 * h), 1e-12);
    fr_job_free(&job);
}

/* Where the three dense layers are: on the first stage; of chunks on those that have the first; folded likewise. */
static void dense_layers_come_first(void **state) {
    (void)state;
    static const struct {
        const char *sets[5];
        double want[4];
    } cases[] = {
        {{"pp=4", NULL}, {3, 0, 0, 0}},
        {{"pp=4", "stage_layers=[2,20,20,19]", NULL}, {2, 1, 0, 0}},
        {{"pp=4", "schedule=interleaved", "chunks=4", "model.layers=16", NULL}, {1, 1, 1, 0}},
        {{"pp=4", "schedule=zero-bubble-v", "chunks=2", "model.layers=8", NULL}, {1, 1, 1, 0}},
        {{"pp=2", "schedule=zero-bubble-v", "chunks=2", "model.layers=4", NULL}, {1, 2}}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct fr_job job;
        fr_test_job("dgx-h100", "deepseek-v3", cases[k].sets, &job);
        for (int64_t i = 0; i < job.plan.pp; i++)
            FR_NEAR(fr_transformer_stage_dense(&job.workload.transformer, &job.plan, i),
                    cases[k].want[i], 0);
        fr_job_free(&job);
    }
}

/* Ranks of tp with sequence parallel gather latents before the heads, 1536 + 576 values, not h; and before the experts'
 * shared part h, where whole experts take their own tokens. */
static void exchanges_of_latents(void **state) {
    (void)state;
    static const char *const sets[] = {"tp=4",
                                       "etp=1",
                                       "sequence_parallel=true",
                                       "micro_batch=1",
                                       "model.layers=4",
                                       "attention=flash",
                                       NULL};
    struct fr_job job;
    struct fr_rank_work work = stage("deepseek-v3", sets, &job);
    double T = 4096, h = 7168, pairs = 2 * T * (4 * (2112 + h) + (3 + 1) * 2 * h),
           ends = 2 * T * 2 * h;
    FR_NEAR(test_tp_B(&work, false), pairs + ends, 1e-9);
    double again = 2 * T * (4 * 2112 + (3 + 1) * h + h); /* inputs for weight gradients */
    FR_NEAR(test_tp_B(&work, true), pairs + ends + again, 1e-9);
    fr_job_free(&job);
}

/* One layer of each kind, flash, 16 bits, T tokens: norms' inputs h each, of attention latents twice (before and after their
 * norms), queries and keys of 192 x 128, values and what is made of 128 x 128, and its input; an MLP's input and three times
 * its width; of a mixture eight experts' and the shared one's, the eight rows that they read, and of 256 logits, the
 * probabilities and which were taken nine bytes each. */
static void memory_of_latents(void **state) {
    (void)state;
    static const char *const sets[] = {"micro_batch=1",
                                       "global_batch=1",
                                       "attention=flash",
                                       "model.layers=2",
                                       "model.dense_layers=1",
                                       "model.dtype=bf16",
                                       NULL};
    struct fr_job job;
    struct fr_rank_work work = stage("deepseek-v3", sets, &job);
    double T = 4096, h = 7168, attention = 2 * h + 2 * 2048 + 2 * 192 * 128 + 2 * 128 * 128,
           mlp = 2 * h,
           values = 2 * attention + 2 * mlp + 3 * 18432 + 3 * (8 + 1) * 2048 + 8 * h;
    FR_NEAR(work.activation_B - work.ends_B, T * (2 * values + 9 * 256), 1e-12);
    fr_job_free(&job);
}

static void what_latents_do_not_meet(void **state) {
    (void)state;
    static const char *const grid[] = {"method=grid", "tp=2", "attention=flash", NULL},
                             *const width[] = {"tp=8", "model.shared_ffn=2044", NULL};
    struct fr_job job;
    fr_test_job("dgx-h100", "deepseek-v3", grid, &job);
    assert_true(fr_pipeline_check(&job, &job.plan) & FR_BECAUSE(FR_REASON_METHOD));
    fr_job_free(&job);
    fr_test_job("dgx-h100", "deepseek-v3", width, &job);
    assert_true(fr_pipeline_check(&job, &job.plan) & FR_BECAUSE(FR_REASON_WIDTH));
    fr_job_free(&job);
    static const struct {
        const char *model, *set, *detail;
    } bad[] = {{"gpt-2", "model.rope_dim=64", "without kv_latent"},
               {"gpt-2", "model.kv_latent=64", "head_dim"},
               {"gpt-2", "model.shared_ffn=64", "without experts"},
               {"gpt-2", "model.dense_layers=1", "without experts"},
               {"deepseek-v3", "model.kv_heads=64", "keys of its own"},
               {"deepseek-v3", "model.cross_layers=4", "cross_layers"},
               {"deepseek-v3", "model.lora_rank=4", "lora_rank"},
               {"t5-large-mod", "model.predicted_tokens=1", "cross_layers"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct fr_error err = fr_test_refused("dgx-h100", bad[k].model, bad[k].set);
        FR_TRUE(strstr(err.detail, bad[k].detail), "%s: %s", bad[k].set, err.detail);
    }
}

/* A module that predicts a further token: a layer with experts, 2 h h, three norms; on two stages the last has a copy of the
 * embedding too, which is kept equal. */
static void a_further_token(void **state) {
    (void)state;
    static const char *const sets[] = {"model.predicted_tokens=1", "attention=flash",
                                       "micro_batch=1", NULL},
                             *const two[] = {"model.predicted_tokens=1",
                                             "attention=flash",
                                             "micro_batch=1",
                                             "pp=2",
                                             "global_batch=2",
                                             "cluster.device.memory=0 B",
                                             NULL};
    struct fr_job job, plain, split;
    struct fr_rank_work with = stage("deepseek-v3", sets, &job),
                        without = stage("deepseek-v3", sets + 1, &plain), last;
    double h = 7168, s = 4096, words = 129280 * h,
           attention = h * 2112 + 1536 * 128 * 192.0 + 512 * 128 * 256.0 + 128 * 128 * h,
           expert = 3 * h * 2048, small = 256 * h,
           layer = attention + 257 * expert + small + 2 * h + 1536 + 512;
    FR_NEAR(with.parameters - without.parameters, layer + 2 * h * h + 3 * h, 1e-9);
    double products = attention + 9 * expert + small + 2 * h * h + words,
           core = 6 * s / 2 * 128 * (192 + 128);
    FR_NEAR(fr_workload_flop(&job.workload) - fr_workload_flop(&plain.workload),
            s * (6 * products + core), 1e-9);
    FR_NEAR(test_flops(&with, FR_PASS_WEIGHT) - test_flops(&without, FR_PASS_WEIGHT),
            2 * s * (products - small), 1e-9);
    /* Norms: a layer's two, three before they are joined, of 2 B a value; read twice and written. */
    double norm_B = 0;
    for (int k = 0; k < with.n_ops; k++)
        if (with.op[k].kind == FR_WORK_TRAFFIC && with.op[k].pass == FR_PASS_FORWARD)
            norm_B += with.op[k].moved.norm_B;
    for (int k = 0; k < without.n_ops; k++)
        if (without.op[k].kind == FR_WORK_TRAFFIC && without.op[k].pass == FR_PASS_FORWARD)
            norm_B -= without.op[k].moved.norm_B;
    FR_NEAR(norm_B, (2 + 3) * FR_NORM_PASSES * s * h * 2, 1e-9);
    fr_test_job("dgx-h100", "deepseek-v3", two, &split);
    fr_transformer_stage(&split.workload, &split.plan, 1, &last);
    double layers = 30 + 1;
    FR_NEAR(last.parameters_rank, layers * layer + 2 * h * h + 3 * h + h + 2 * words,
            1e-9); /* logits, a copy */
    FR_NEAR(last.embedding_rank, words, 0);
    struct fr_outcome out;
    fr_cost(&split, &split.plan, &out);
    assert_true(out.reasons == 0 && out.part_s[FR_PART_EMBEDDING_COMM] > 0);
    fr_job_free(&job);
    fr_job_free(&plain);
    fr_job_free(&split);
}

/* Modules of further tokens exchange this over tp 2 on the last of two stages, each.  Forward two sums of a layer's
 * pairs, one of looked up words, and what joins two streams gathered; back two sums, one of the logits' input
 * gradients, one of both streams'.  Along the sequence a layer gathers and scatters twice either way, words are
 * scattered and their gradients gathered, the logits' the other way round, and weight gradients of a layer's pairs
 * and of the logits gather their input once more. */
static void further_tokens_exchange(void **state) {
    static const double times[2][2] = {{2 + 1 + 1, 2 + 1 + 2},
                                       {4 + 1 + 1 + 1, 4 + 1 + 1 + 2 + 3}};
    const double once_B = 8192 * 4096.0 * 4;
    (void)state;
    for (int scattered = 0; scattered < 2; scattered++) {
        double sent_B[3][2];
        for (int n = 0; n < 3; n++) {
            char predicted[40];
            const char *sets[] = {predicted,
                                  "tp=2",
                                  "pp=2",
                                  "micro_batch=1",
                                  "global_batch=2",
                                  "model.dtype=fp32",
                                  scattered ? "sequence_parallel=true"
                                            : "sequence_parallel=false",
                                  NULL};
            struct fr_job job;
            struct fr_rank_work work;
            snprintf(predicted, sizeof predicted, "model.predicted_tokens=%d", n);
            fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
            fr_transformer_stage(&job.workload, &job.plan, 1, &work);
            for (int back = 0; back < 2; back++) sent_B[n][back] = test_tp_B(&work, back);
            fr_job_free(&job);
        }
        for (int n = 1; n < 3; n++)
            for (int back = 0; back < 2; back++)
                FR_NEAR(sent_B[n][back] - sent_B[0][back], n * once_B * times[scattered][back],
                        1e-9);
    }
}

/* Two documents of 1024 and 3072 tokens in one sequence: (1024^2 + 3072^2) / 4096^2 of the pairs; a token stands in one of 2560. */
static void packed_documents(void **state) {
    (void)state;
    static const char *const sets[] = {"model.document=2560", "attention=flash",
                                       "micro_batch=1", "model.sequence=4096", NULL};
    struct fr_job job, whole;
    struct fr_rank_work packed = stage("llama-3-8b", sets, &job),
                        one = stage("llama-3-8b", sets + 1, &whole);
    double share = (1024.0 * 1024 + 3072.0 * 3072) / (4096.0 * 4096);
    for (int pass = FR_PASS_FORWARD; pass <= FR_PASS_INPUT; pass++)
        FR_NEAR(test_sum(&packed, FR_WORK_ATTENTION, (fr_pass_kind)pass),
                share * test_sum(&one, FR_WORK_ATTENTION, (fr_pass_kind)pass), 1e-12);
    FR_NEAR(test_flops(&packed, FR_PASS_FORWARD), test_flops(&one, FR_PASS_FORWARD), 0);
    double core = 12 * 32 * 4096.0 * 4096 * 4096 / 2;
    FR_NEAR(fr_workload_flop(&whole.workload) - fr_workload_flop(&job.workload),
            (1 - share) * core, 1e-9);
    fr_job_free(&job);
    fr_job_free(&whole);
    struct fr_error err = fr_test_refused("dgx-h100", "t5-large-mod", "model.document=64");
    assert_non_null(strstr(err.detail, "cross_layers"));
}

/* ---- dispatch -------------------------------------------------------------------------------- */

static double axis_B(const struct fr_rank_work *w, fr_axis axis) {
    double sum_B = 0;
    for (int k = 0; k < w->n_ops; k++)
        if (w->op[k].kind == FR_WORK_COLLECTIVE && w->op[k].axis == axis)
            sum_B += test_amount(&w->op[k]);
    return sum_B;
}

/* DeepSeek-V3 on 64 ranks, eight a node: eight experts in four of eight groups, one a node, are on 4 (1 - (3/4)^8) = 3.6
 * nodes and, of the 32 ranks of these, on 32 (1 - (31/32)^8) = 7.2.  Each way, forward and back: four exchanges a layer. */
static void one_copy_a_node(void **state) {
    (void)state;
    static const char *const sets[] = {
        "dispatch_ranks=8", "dp=64",           "ep=64", "micro_batch=1",
        "global_batch=64",  "attention=flash", NULL};
    struct fr_job job, all;
    struct fr_rank_work node = stage("deepseek-v3", sets, &job),
                        each = stage("deepseek-v3", sets + 1, &all);
    double token_B = 58.0 * 4 * 4096 * 7168 * 2;
    FR_NEAR(axis_B(&each, FR_AXIS_EP), 8 * token_B, 1e-12);
    FR_NEAR(axis_B(&node, FR_AXIS_EP), 0, 0);
    FR_NEAR(axis_B(&node, FR_AXIS_EP_ACROSS), 4 * (1 - pow(0.75, 8)) * token_B, 1e-12);
    FR_NEAR(axis_B(&node, FR_AXIS_EP_WITHIN), 32 * (1 - pow(31.0 / 32, 8)) * token_B, 1e-12);
    fr_job_free(&job);
    fr_job_free(&all);
}

/* The number of places that choices meet, by going through all of them. Without groups n (1 - (1 - 1/n)^k) of n = 4
 * places, k = 2. */
static void choices_by_brute_force(void **state) {
    (void)state;
    double met = 0;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) met += (a == b ? 1 : 2) / 16.0;
    struct fr_transformer t = {.experts = 8, .experts_per_token = 2};
    struct fr_plan plan = fr_plan_default();
    plan.ep = 4;
    plan.dispatch_ranks = 1;
    FR_NEAR(fr_dispatch_of(&t, &plan).across, met, 1e-15);
    FR_NEAR(fr_dispatch_of(&t, &plan).within, 0, 0);
    plan.dispatch_ranks = 4; /* all together: nothing goes further */
    FR_NEAR(fr_dispatch_of(&t, &plan).across, 0, 0);
    FR_NEAR(fr_dispatch_of(&t, &plan).within, met, 1e-15);
    plan.dispatch_ranks = 0;
    FR_NEAR(fr_dispatch_of(&t, &plan).across, 2, 0);
    /* One group of two: both choices are on its two places. */
    t.expert_groups = 2;
    t.groups_per_token = 1;
    plan.dispatch_ranks = 1;
    FR_NEAR(fr_dispatch_of(&t, &plan).across, 1.5, 1e-15);
}

/* Neighbours sit in one node, so that what goes across falls and the exchange takes less; and the rule. */
static void nodes_are_neighbours(void **state) {
    (void)state;
    static const char *const sets[] = {"dispatch_ranks=8",
                                       "dp=64",
                                       "ep=64",
                                       "micro_batch=1",
                                       "global_batch=64",
                                       "attention=flash",
                                       "model.layers=8",
                                       "cluster.device.memory=0 B",
                                       NULL},
                             *const odd[] = {"dispatch_ranks=3", "dp=8", "ep=8", NULL};
    struct fr_job job, all;
    struct fr_outcome node, each;
    fr_test_job("dgx-h100", "deepseek-v3", sets, &job);
    fr_test_job("dgx-h100", "deepseek-v3", sets + 1, &all);
    fr_cost(&job, &job.plan, &node);
    fr_cost(&all, &all.plan, &each);
    assert_true(node.reasons == 0 && each.reasons == 0);
    double ratio = node.part_s[FR_PART_EP_COMM] / each.part_s[FR_PART_EP_COMM];
    FR_TRUE(ratio > 0.4 && ratio < 0.6, "%g", ratio);
    fr_job_free(&job);
    fr_job_free(&all);
    fr_test_job("dgx-h100", "mixtral-8x7b", odd, &job);
    assert_true(fr_pipeline_check(&job, &job.plan) & FR_BECAUSE(FR_REASON_EXPERTS));
    fr_job_free(&job);
}

/* A tensor that every rank of tp holds whole does not shrink with tp: 2 R(4) - R(2) of a rank's parameters R on 4 and
 * on 2.  By hand norms, routers, and latent attention's narrow products with theirs; with experts whole on a rank
 * (etp 1) these as well. */
static void held_whole_by_every_rank(void **state) {
    static const struct {
        const char *model, *etp;
        double whole;
    } rows[] = {
        {"mixtral-8x7b", NULL, 32 * (2 * 4096.0 + 4096 * 8) + 4096},
        {"qwen3-30b-a3b", NULL, 48 * (2 * 2048.0 + 2048 * 128) + 2048},
        {"qwen3-30b-a3b", "etp=1",
         48 * (2 * 2048.0 + 2048 * 128 + 128 * 3 * 2048.0 * 768) + 2048},
        {"deepseek-v3", NULL,
         61 * (2 * 7168.0 + 7168 * (1536 + 512 + 64) + 1536 + 512) + 58 * 7168.0 * 256 + 7168},
        {"llama-3-8b", NULL, 32 * 2 * 4096.0 + 4096}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        double held[2];
        for (int n = 0; n < 2; n++) {
            struct fr_job job;
            const char *const sets[] = {
                n ? "tp=4" : "tp=2",       "sequence_parallel=true",         "attention=flash",
                "model.vocabulary=131072", rows[k].etp ? rows[k].etp : NULL, NULL};
            held[n] = stage(rows[k].model, sets, &job).parameters_rank;
            fr_job_free(&job);
        }
        FR_TRUE(fabs(2 * held[1] - held[0] - rows[k].whole) <= 1e-9 * held[0],
                "%s %s: %.0f whole, %.0f by hand", rows[k].model,
                rows[k].etp ? rows[k].etp : "", 2 * held[1] - held[0], rows[k].whole);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(held_whole_by_every_rank),
                                       cmocka_unit_test(trained_parameters_are_mlperfs),
                                       cmocka_unit_test(flop_by_hand),
                                       cmocka_unit_test(divided_over_tp),
                                       cmocka_unit_test(exchanges_of_a_sequence_in_parts),
                                       cmocka_unit_test(inputs_are_kept_whole),
                                       cmocka_unit_test(memory_by_hand),
                                       cmocka_unit_test(what_adapters_do_not_meet),
                                       cmocka_unit_test(beside_a_config),
                                       cmocka_unit_test(parameters_of_deepseek),
                                       cmocka_unit_test(dense_layers_come_first),
                                       cmocka_unit_test(exchanges_of_latents),
                                       cmocka_unit_test(memory_of_latents),
                                       cmocka_unit_test(what_latents_do_not_meet),
                                       cmocka_unit_test(a_further_token),
                                       cmocka_unit_test(further_tokens_exchange),
                                       cmocka_unit_test(packed_documents),
                                       cmocka_unit_test(one_copy_a_node),
                                       cmocka_unit_test(choices_by_brute_force),
                                       cmocka_unit_test(nodes_are_neighbours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
