/* A pass behind cached tokens: its flop, what it reads, what is in memory. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/outcome/rates.h"
#include "models/price/pipeline.h"
#include "models/work/cache.h"
#include "models/workload/attention.h"
#include "models/workload/cache.h"
#include "models/workload/flop.h"
#include "tests/job.h"
#include "tests/work.h"

static const char *const models[] = {"llama-3-8b",  "gpt-2.5b",       "mixtral-8x7b",
                                     "deepseek-v3", "llama-2-70b",    "qwen3-30b-a3b",
                                     "gpt3-175b",   "nemotron-4-15b", "llama-3-405b"};
enum { MODELS = sizeof models / sizeof *models };

/* Its forward flop, @p s tokens behind @p cached ones. */
static double flop_of(struct fr_job *job, int64_t s, int64_t cached) {
    job->workload.transformer.sequence = s;
    job->workload.transformer.cached = cached;
    return fr_workload_forward_flop(&job->workload);
}

/* A prompt takes as much at once, in two pieces, and token by token.  Latent attention differs on purpose: behind a cache
 * its keys and values are absorbed, and a pair takes more. */
static void a_prompt_is_its_tokens(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        struct fr_job job;
        enum { N = 96, PIECE = 40 };
        double sum = 0;
        fr_test_job("dgx-h100", models[m], (const char *[]){"model.predicted_tokens=0", NULL},
                    &job);
        bool latent = fr_attention_is_latent(&job.workload.transformer);
        double whole = flop_of(&job, N, 0),
               pieces = flop_of(&job, PIECE, 0) + flop_of(&job, N - PIECE, PIECE);
        for (int c = 0; c < N; c++) sum += flop_of(&job, 1, c);
        if (latent)
            assert_true(sum > pieces && pieces > whole);
        else {
            FR_NEAR(pieces, whole, 1e-12);
            FR_NEAR(sum, whole, 1e-12);
        }
        fr_job_free(&job);
    }
}

/* Bytes a token at 16 bits, by hand: 2 x layers x key-value heads x values of a head x 2 B.  DeepSeek-V3 keeps 512 + 64
 * values a layer of 61. */
static void sizes_by_hand(void **state) {
    static const struct {
        const char *model;
        double token_B;
    } rows[] = {{"llama-3-8b", 131072},
                {"llama-2-70b", 327680},
                {"gpt3-175b", 4718592},
                {"deepseek-v3", 70272},
                {"llama-3-405b", 516096}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const char *const sets[] = {"model.predicted_tokens=0",
                                    "model.cached=1000",
                                    "model.sequence=24",
                                    "model.dtype=bf16",
                                    "pass=forward",
                                    "global_batch=3",
                                    "micro_batch=1",
                                    NULL};
        struct fr_job job;
        static struct fr_rank_work work;
        fr_test_job("dgx-h100", rows[k].model, sets, &job);
        test_stage(&job.workload, &job.plan, 0, &work);
        FR_NEAR(work.cache_B, 1024 * rows[k].token_B, 1e-12);
        fr_job_free(&job);
    }
}

/* The whole list, over ranks and stages, against the count of the network. */
static void work_is_what_is_counted(void **state) {
    static const char *const plans[][4] = {
        {"tp=1"}, {"tp=2"}, {"tp=4", "pp=2"}, {"pp=3", "dp=2"}};
    (void)state;
    for (int m = 0; m < MODELS; m++)
        for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
            const char *sets[16] = {"model.predicted_tokens=0", "model.cached=700",
                                    "model.sequence=1",         "pass=forward",
                                    "global_batch=12",          "micro_batch=6",
                                    "model.dtype=bf16",         "attention=flash"};
            struct fr_job job;
            static struct fr_rank_work work;
            double flop = 0, read_B = 0, cache_B = 0;
            for (int i = 0, n = 8; i < 4 && plans[p][i]; i++) sets[n++] = plans[p][i];
            fr_test_job("dgx-h100", models[m], sets, &job);
            const struct fr_transformer *t = &job.workload.transformer;
            for (int64_t i = 0; i < job.plan.pp; i++) {
                test_stage(&job.workload, &job.plan, i, &work);
                for (int k = 0; k < work.n_ops; k++)
                    if (work.op[k].kind == FR_WORK_CACHED) {
                        flop += work.op[k].times * work.op[k].size * (double)job.plan.tp;
                        read_B += work.op[k].times * work.op[k].read_B;
                    }
                cache_B += work.cache_B;
            }
            const struct fr_counted counted = {.workload = &job.workload};
            double behind = fr_counted_layers_flop(&counted).core;
            job.workload.transformer.cached = 0;
            double alone = fr_counted_layers_flop(&counted).core;
            FR_NEAR(flop, 6 * (behind - alone), 1e-12);
            /* Every byte is read once a step: 700 cached tokens and the new one are in memory. */
            if (t->window == 0) FR_NEAR(read_B, cache_B, 1e-12);
            fr_job_free(&job);
        }
}

/* Half of the layers see 64 tokens: a window is in the middle of what 1000 and 64 tokens take. */
static void windows(void **state) {
    static struct fr_rank_work none, half, all;
    struct fr_rank_work *const work[] = {&none, &half, &all};
    static const char *const layers[] = {NULL, "model.window_layers=16",
                                         "model.window_layers=32"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        const char *sets[] = {"model.cached=1000",
                              "model.sequence=1",
                              "pass=forward",
                              "global_batch=1",
                              i ? "model.window=64" : NULL,
                              layers[i],
                              NULL};
        struct fr_job job;
        fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
        test_stage(&job.workload, &job.plan, 0, work[i]);
        fr_job_free(&job);
    }
    FR_NEAR(half.cache_B, (none.cache_B + all.cache_B) / 2, 1e-12);
    FR_NEAR(all.cache_B, none.cache_B * 64 / 1001, 1e-12);
}

static double step_s(const char *cluster, const char *model, const char *batch,
                     const char *more, struct fr_outcome *out, double *bytes_s) {
    const char *sets[] = {"model.predicted_tokens=0",
                          "model.cached=512",
                          "model.sequence=1",
                          "pass=forward",
                          "model.dtype=bf16",
                          "attention=flash",
                          "dp=1",
                          batch,
                          more,
                          NULL};
    struct fr_job job;

    fr_test_job(cluster, model, sets, &job);
    fr_cost(&job, &job.plan, out);
    assert_int_equal(
        out->reasons & ~(FR_BECAUSE(FR_REASON_MEMORY) | FR_BECAUSE(FR_REASON_UNSURE)), 0);
    double read_B =
        2 * out->parameters_rank_max + out->cache_B -
        2 * (double)(job.workload.transformer.vocabulary * job.workload.transformer.hidden);
    *bytes_s = read_B / job.cluster.device.memory_rate_B_per_s;
    fr_job_free(&job);
    return out->time_s;
}

/* One sample's token takes at least the bytes of all weights (of dense models; of an embedding a row) over the memory's
 * rate, whatever the device's form of products says of one column.  More samples take longer, and less each. */
static void memory_is_the_floor(void **state) {
    static const char *const clusters[] = {"dgx-h100", "dgx-a100", "mi300x", "dgx-h200"};
    (void)state;
    for (size_t c = 0; c < sizeof clusters / sizeof *clusters; c++) {
        double before_s = 0;
        for (int batch = 1; batch <= 256; batch *= 4) {
            struct fr_outcome out;
            char stated[40];
            double bytes_s;
            snprintf(stated, sizeof stated, "global_batch=%d", batch);
            double time_s = step_s(clusters[c], "llama-3-8b", stated, NULL, &out, &bytes_s);
            FR_TRUE(time_s > bytes_s, "%s, %d: %g s, bytes alone %g s", clusters[c], batch,
                    time_s, bytes_s);
            if (batch > 1)
                FR_TRUE(time_s > before_s && time_s < 4 * before_s, "%s, %d: %g s after %g s",
                        clusters[c], batch, time_s, before_s);
            before_s = time_s;
        }
    }
}

/* Where samples are many, a step's products take what those of as many tokens of short prompts take. */
static void many_samples_are_a_prompt(void **state) {
    double compute_s[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *const sets[] = {i ? "model.sequence=64" : "model.sequence=1",
                                    i ? "model.cached=0" : "model.cached=1",
                                    i ? "global_batch=64" : "global_batch=4096",
                                    i ? "micro_batch=64" : "micro_batch=4096",
                                    "pass=forward",
                                    "model.dtype=bf16",
                                    "attention=flash",
                                    NULL};
        struct fr_job job;
        struct fr_pipeline p;
        uint32_t outside = 0;
        fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
        assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &outside, NULL), FR_OK);
        compute_s[i] = p.stage[0].forward.compute_s;
        fr_pipeline_free(&p);
        fr_job_free(&job);
    }
    FR_TRUE(fabs(compute_s[0] / compute_s[1] - 1) < 0.03, "%g s, %g s", compute_s[0],
            compute_s[1]);
}

/* Few tokens meet few experts: at one token two of Mixtral's eight, at many all. */
static void experts_that_are_met(void **state) {
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-h100", "mixtral-8x7b", (const char *[]){"model.cached=9", NULL}, &job);
    const struct fr_transformer *t = &job.workload.transformer;
    FR_NEAR(fr_cache_experts(t, 8, 1), 2, 1e-12);
    FR_NEAR(fr_cache_experts(t, 8, 2), 8 * (1 - 0.75 * 0.75), 1e-12);
    FR_NEAR(fr_cache_experts(t, 8, 1000), 8, 1e-12);
    fr_job_free(&job);
}

static void refuses(void **state) {
    static const struct {
        const char *model, *sets[5];
    } rows[] = {{"llama-3-8b", {"pass=both"}},
                {"llama-3-8b", {"method=grid", "tp=2"}},
                {"llama-3-8b", {"cp=2"}},
                {"llama-3-8b", {"sequence_parallel=true", "tp=2"}},
                {"t5-large-mod", {"pp=1"}},
                {"nemotron-h-8b", {"pp=1"}},
                {"deepseek-v3", {"model.predicted_tokens=1"}}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const char *sets[10] = {"model.cached=100", "model.sequence=2", "pass=forward"};
        struct fr_job job;
        for (int i = 0; i < 5 && rows[k].sets[i]; i++) sets[3 + i] = rows[k].sets[i];
        fr_test_job("dgx-h100", rows[k].model, sets, &job);
        FR_TRUE(fr_pipeline_check(&job, &job.plan) & FR_BECAUSE(FR_REASON_CACHE), "row %zu", k);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prompt_is_its_tokens),  cmocka_unit_test(sizes_by_hand),
        cmocka_unit_test(work_is_what_is_counted), cmocka_unit_test(windows),
        cmocka_unit_test(memory_is_the_floor),     cmocka_unit_test(many_samples_are_a_prompt),
        cmocka_unit_test(experts_that_are_met),    cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
