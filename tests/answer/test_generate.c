/* Generation is the sum of its passes; published latencies, of which the evidence states how far off they are. */
#include "answer/generate/generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/page/page.h"
#include "answer/page/result.h"
#include "base/file.h"
#include "base/json.h"
#include "models/outcome/cost.h"
#include "tests/job.h"
#include "tests/scratch.h"

static void ask(const char *cluster, const char *model, const char *const *sets, int64_t prompt,
                int64_t tokens, int64_t batch, struct fr_generation *g) {
    struct fr_job_names names = {.cluster = cluster, .model = model, .sets = sets};
    const struct fr_generation_asked asked = {prompt, tokens, batch};
    struct fr_error err = {0};
    while (sets[names.n_sets]) names.n_sets++;
    if (fr_generate(&names, &asked, g, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
}

/* The same by single plans: a prompt, and each of the steps by itself. */
static void adds_up(void **state) {
    static const char *const sets[] = {"tp=2", "model.window=1100", "model.window_layers=16",
                                       NULL};
    struct fr_generation g;
    double sum_s = 0, sum_J = 0, last_s = 0;
    (void)state;
    ask("dgx-h100", "llama-3-8b", sets, 1024, 200, 4, &g);
    for (int c = 1024; c < 1024 + 199; c++) {
        char cached[40];
        const char *all[] = {
            "tp=2",         "model.window=1100", "model.window_layers=16", "runtime=vllm-2025",
            "pass=forward", "global_batch=4",    "micro_batch=4",          "model.sequence=1",
            cached};
        struct fr_job_names names = {
            .cluster = "dgx-h100", .model = "llama-3-8b", .sets = all, .n_sets = 9};
        struct fr_job job;
        struct fr_outcome out;
        snprintf(cached, sizeof cached, "model.cached=%d", c);
        assert_int_equal(fr_job_load(&names, &job, NULL), FR_OK);
        fr_cost(&job, &job.plan, &out);
        sum_s += out.time_s;
        sum_J += out.energy_J;
        last_s = out.time_s;
        fr_job_free(&job);
    }
    FR_NEAR(g.last_s, last_s, 1e-12);
    FR_NEAR(199 * g.token_s, sum_s, 1e-4); /* a window bends it a little */
    FR_NEAR(199 * 4 * g.token_J, sum_J, 1e-4);
    FR_NEAR(g.all_s, g.prompt_s + 199 * g.token_s, 1e-12);
    FR_NEAR(g.tokens_per_s * g.token_s, 4, 1e-12);
    assert_true(g.low_s < g.token_s && g.token_s < g.high_s && g.first_s <= g.last_s);
    fr_generation_free(&g);
}

/* Larger batches cost each sample less energy; a longer prompt no step less. */
static void orders(void **state) {
    static const char *const sets[] = {"tp=8", NULL};
    double token_J = INFINITY, step_s = 0;
    (void)state;
    for (int batch = 1; batch <= 64; batch *= 4) {
        struct fr_generation g;
        ask("dgx-h100", "llama-3-70b", sets, 512 * batch, 64, batch, &g);
        FR_TRUE(g.token_J < token_J && g.token_s > step_s, "batch %d: %g J, %g s", batch,
                g.token_J, g.token_s);
        token_J = g.token_J, step_s = g.token_s;
        fr_generation_free(&g);
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Llama 2 7B, 20 tokens after 128, published in NVIDIA's NeMo Framework user guide (inference performance): a server's
 * latencies, whose errors are those of docs/evidence/2026-11-27-generation.md. */
static void latencies_of_a_server(void **state) {
    static const struct {
        const char *cluster;
        double ms[4][4], median;
    } devices[] = {{"dgx-h100",
                    {{153.8, 160.8, 174.8, 199.2},
                     {128.6, 132.0, 137.9, 156.2},
                     {107.4, 114.0, 120.4, 134.6},
                     {97.6, 109.1, 116.2, 129.1}},
                    0.4033},
                   {"dgx-a100",
                    {{234.0, 249.6, 272.6, 329.5},
                     {171.7, 180.3, 202.9, 237.6},
                     {143.7, 149.9, 165.2, 196.4},
                     {136.5, 143.3, 158.6, 181.9}},
                    0.4082}};
    (void)state;
    for (int d = 0; d < 2; d++) {
        double error[16];
        for (int t = 0; t < 4; t++)
            for (int b = 0; b < 4; b++) {
                char tp[20];
                const char *sets[] = {"model.dtype=bf16", tp, NULL};
                struct fr_generation g;
                snprintf(tp, sizeof tp, "tp=%d", 1 << t);
                ask(devices[d].cluster, FR_SOURCE_DIR "/tests/models/hf/llama-2-7b.json", sets,
                    128, 20, 1 << b, &g);
                error[4 * t + b] = fabs(1e3 * g.all_s / devices[d].ms[t][b] - 1);
                /* No latency is below what the memory needs for the weights of 19 steps, of two bytes each: all
                 * but the table of words, of which a token reads one row. */
                const struct fr_transformer *m = &g.job.workload.transformer;
                const double table = (double)(m->vocabulary * m->hidden) / (1 << t),
                             floor_s = 19 * 2 * (g.last.parameters_rank_max - table) /
                                       g.job.cluster.device.memory_rate_B_per_s;
                assert_true(!m->tied);
                FR_TRUE(g.all_s > floor_s, "%s, tp %d: %g, floor %g", devices[d].cluster,
                        1 << t, g.all_s, floor_s);
                fr_generation_free(&g);
            }
        qsort(error, 16, sizeof *error, ascending);
        double median = (error[7] + error[8]) / 2;
        FR_TRUE(fabs(median - devices[d].median) < 0.005, "%s: %g, the page says %g",
                devices[d].cluster, median, devices[d].median);
    }
}

/* A plan file's words hold as those of --set do. */
static void plan_files_are_heard(void **state) {
    static const char *const none[] = {NULL}, *const sets[] = {"attention=plain", "graphs=none",
                                                               NULL};
    static const char plan[] = "{\"attention\": \"plain\", \"graphs\": \"none\"}";
    struct fr_generation usual, said, set;
    struct fr_error err = {0};
    char path[512];
    (void)state;
    snprintf(path, sizeof path, "%s/plan.json", fr_scratch);
    assert_int_equal(fr_file_write(path, plan, strlen(plan), NULL), FR_OK);
    ask("dgx-h100", "llama-3-8b", none, 128, 20, 1, &usual);
    ask("dgx-h100", "llama-3-8b", sets, 128, 20, 1, &set);
    const struct fr_job_names names = {
        .cluster = "dgx-h100", .model = "llama-3-8b", .plan = path};
    const struct fr_generation_asked asked = {128, 20, 1};
    assert_int_equal(fr_generate(&names, &asked, &said, &err), FR_OK);
    FR_NEAR(said.all_s, set.all_s, 0);
    FR_TRUE(set.all_s > 1.1 * usual.all_s, "%g s, %g s", set.all_s, usual.all_s);
    fr_generation_free(&usual);
    fr_generation_free(&said);
    fr_generation_free(&set);
}

/* Settings of what the question says would be lost. */
static void own_settings_are_refused(void **state) {
    static const struct {
        const char *set, *says;
    } rows[] = {{"pass=both", "it is forward"},
                {"plan.pass=both", "it is forward"},
                {"global_batch=8", "--batch"},
                {"model.sequence=9", "--prompt"},
                {"model.cached=9", "--prompt"}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct fr_job_names names = {
            .cluster = "dgx-h100", .model = "llama-3-8b", .sets = &rows[k].set, .n_sets = 1};
        const struct fr_generation_asked asked = {128, 20, 1};
        struct fr_generation g;
        struct fr_error err = {0};
        assert_int_equal(fr_generate(&names, &asked, &g, &err), FR_ERR_USAGE);
        FR_TRUE(strstr(err.detail, rows[k].says) != NULL, "%s", err.detail);
        fr_generation_free(&g);
    }
}

/* Engines alone: the table of docs/evidence/2026-11-27-generation.md, whose errors are compared with the page's. */
typedef enum { A_TOKEN, ALL, FIRST } part;
static const struct latency {
    const char *cluster, *model;
    int64_t prompt, tokens, batch;
    int tp;
    part part;
    double ms;
    bool narrow; /* of 8 bits */
} engines[] = {
    /* PyTorch's gpt-fast, README: tokens/s of A100 of 330 W */
    {"dgx-a100", "7b", 5, 200, 1, 1, A_TOKEN, 1e3 / 104.9, false},
    {"dgx-a100", "7b", 5, 200, 1, 2, A_TOKEN, 1e3 / 168.84, false},
    {"dgx-a100", "7b", 5, 200, 1, 4, A_TOKEN, 1e3 / 254.02, false},
    {"dgx-a100", "7b", 5, 200, 1, 8, A_TOKEN, 1e3 / 328.43, false},
    {"dgx-a100", "llama-2-70b", 5, 200, 1, 2, A_TOKEN, 1e3 / 21.32, false},
    {"dgx-a100", "llama-2-70b", 5, 200, 1, 4, A_TOKEN, 1e3 / 38.01, false},
    {"dgx-a100", "llama-2-70b", 5, 200, 1, 8, A_TOKEN, 1e3 / 62.50, false},
    /* InternLM's lmdeploy 0.1.0a1, docs/en/benchmark/a100_fp16.md: batch 1, tokens/s of an answer with its prompt */
    {"dgx-a100", "7b", 1, 128, 1, 1, ALL, 128e3 / 100.02, false},
    {"dgx-a100", "7b", 128, 128, 1, 1, ALL, 128e3 / 102.21, false},
    {"dgx-a100", "7b", 128, 2048, 1, 1, ALL, 2048e3 / 98.92, false},
    {"dgx-a100", "7b", 2048, 128, 1, 1, ALL, 128e3 / 86.1, false},
    {"dgx-a100", "7b", 2048, 2048, 1, 1, ALL, 2048e3 / 93.78, false},
    {"dgx-a100", "llama-2-70b", 1, 128, 1, 4, ALL, 128e3 / 33.94, false},
    {"dgx-a100", "llama-2-70b", 128, 128, 1, 4, ALL, 128e3 / 33.63, false},
    {"dgx-a100", "llama-2-70b", 128, 2048, 1, 4, ALL, 2048e3 / 32.38, false},
    {"dgx-a100", "llama-2-70b", 2048, 128, 1, 4, ALL, 128e3 / 28.32, false},
    {"dgx-a100", "llama-2-70b", 2048, 2048, 1, 4, ALL, 2048e3 / 31.9, false},
    /* SGLang, issue 1008 (August 2024), with graphs; the device is not said, and 80 GB of H100 is assumed */
    {"dgx-h100", "llama-3-8b", 128, 8, 1, 1, A_TOKEN, 7.37, false},
    {"dgx-h100", "llama-3-8b", 128, 8, 128, 1, A_TOKEN, 11.84, false},
    {"dgx-h100", "llama-3-8b", 128, 8, 1, 8, A_TOKEN, 3.35, false},
    /* vLLM, performance-benchmark, build 9515 (H200) */
    {"dgx-h200", "llama-3-8b", 32, 128, 8, 1, ALL, 833.4, false},
    {"dgx-h200", "llama-3-70b", 32, 128, 8, 4, ALL, 2077.5, false},
    {"dgx-h200", "mixtral-8x7b", 32, 128, 8, 2, ALL, 1917.4, false},
    /* The first token: TensorRT-LLM 0.5, performance.md; lmdeploy's as above */
    {"dgx-a100", "7b", 128, 2, 1, 1, FIRST, 16, false},
    {"dgx-a100", "7b", 2048, 2, 1, 1, FIRST, 133, false},
    {"dgx-a100", "llama-2-70b", 128, 2, 1, 4, FIRST, 47, false},
    {"dgx-a100", "llama-2-70b", 2048, 2, 1, 4, FIRST, 377, false},
    {"dgx-a100", "7b", 128, 2, 1, 1, FIRST, 22, false},
    {"dgx-a100", "7b", 2048, 2, 1, 1, FIRST, 139, false},
    {"dgx-a100", "llama-2-70b", 128, 2, 1, 4, FIRST, 74, false},
    {"dgx-a100", "llama-2-70b", 2048, 2, 1, 4, FIRST, 402, false},
    /* H100, 8 bits: TensorRT-LLM as above */
    {"dgx-h100", "7b", 128, 2, 1, 1, FIRST, 7, true},
    {"dgx-h100", "7b", 2048, 2, 1, 1, FIRST, 36, true},
    {"dgx-h100", "llama-2-70b", 128, 2, 1, 4, FIRST, 26, true},
    {"dgx-h100", "llama-2-70b", 2048, 2, 1, 4, FIRST, 109, true}};
enum { ENGINES = sizeof engines / sizeof *engines };

static double error_of(const struct latency *l) {
    char tp[20];
    const char *sets[] = {l->narrow ? "model.dtype=fp8" : "model.dtype=bf16", tp, NULL};
    const char *model = strcmp(l->model, "7b") == 0 ? FR_SOURCE_DIR
                            "/tests/models/hf/llama-2-7b.json"
                                                    : l->model;
    struct fr_generation g;
    snprintf(tp, sizeof tp, "tp=%d", l->tp);
    ask(l->cluster, model, sets, l->prompt, l->tokens, l->batch, &g);
    double time_s = l->part == A_TOKEN ? g.token_s : l->part == ALL ? g.all_s : g.prompt_s;
    fr_generation_free(&g);
    return 1e3 * time_s / l->ms - 1;
}

static double median(double *error, int n) {
    qsort(error, (size_t)n, sizeof *error, ascending);
    return n % 2 ? error[n / 2] : (error[n / 2 - 1] + error[n / 2]) / 2;
}

static void latencies_of_engines(void **state) {
    double steps[ENGINES], first[ENGINES];
    int n_steps = 0, n_first = 0;
    (void)state;
    for (int i = 0; i < ENGINES; i++) {
        double error = fabs(error_of(&engines[i]));
        if (engines[i].part == FIRST)
            first[n_first++] = error;
        else
            steps[n_steps++] = error;
    }
    double off = median(steps, n_steps);
    FR_TRUE(n_steps == 23 && fabs(off - 0.098) < 0.003, "%d steps: %g, the page says 9.8 %%",
            n_steps, off);
    off = median(first, n_first);
    FR_TRUE(n_first == 12 && fabs(off - 0.115) < 0.003, "%d first: %g, the page says 11.5 %%",
            n_first, off);
}

/* An engine's layer of Llama is ten kernels, a gap apart, at any tp.  The cluster's own launch counts where it is less. */
static void kernels_of_an_engine(void **state) {
    static const struct {
        const char *set;
        double gap_s;
    } rows[] = {{"runtime.framework.kernel_gap=2 us", 2e-6},
                {"runtime.framework.kernel_gap=4 us", 4e-6},
                {"cluster.device.launch=1 us", 1e-6}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        double step_s[2][2];
        for (int more = 0; more < 2; more++)
            for (int none = 0; none < 2; none++) {
                const char *sets[] = {more ? "model.layers=24" : "model.layers=16", "tp=2",
                                      none ? "cluster.device.launch=0 s" : rows[k].set, NULL};
                struct fr_generation g;
                ask("dgx-h100", "llama-3-8b", sets, 100, 10, 1, &g);
                step_s[more][none] = g.token_s;
                fr_generation_free(&g);
            }
        double layers_s = step_s[1][0] - step_s[1][1] - (step_s[0][0] - step_s[0][1]);
        FR_NEAR(layers_s, 8 * 10 * rows[k].gap_s, 1e-9);
    }
}

/* Few columns leave units idle, which share the depth: a step of one sample takes its bytes alone, launches aside. */
static void thin_products(void **state) {
    static const char *const sets[] = {"cluster.device.launch=0 s", NULL};
    (void)state;
    for (int a100 = 0; a100 < 2; a100++) {
        struct fr_generation g;
        ask(a100 ? "dgx-a100" : "dgx-h100", "llama-3-8b", sets, 100, 10, 1, &g);
        double bytes_s = 2 * (g.last.parameters_rank_max - 128256. * 4096) /
                         g.job.cluster.device.memory_rate_B_per_s;
        FR_TRUE(g.token_s > bytes_s && g.token_s < 1.02 * bytes_s, "%g of %g s", g.token_s,
                bytes_s);
        fr_generation_free(&g);
    }
}

/* Weights of 8 bits lie there once: no backward pass reads their transpose, which trainings keep. */
static void weights_without_transposes(void **state) {
    static const struct {
        const char *sets[3];
        double weight_B;
    } rows[] = {{{"model.dtype=bf16", NULL}, 2},
                {{"model.dtype=fp8", "model.weight_dtype=fp8", NULL}, 1},
                {{"model.dtype=fp8", "model.weight_dtype=bf16", NULL}, 3}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct fr_generation g;
        ask("dgx-h100", "llama-3-8b", rows[k].sets, 128, 20, 1, &g);
        FR_NEAR(g.last.memory_B[FR_MEMORY_PARAMETERS],
                rows[k].weight_B * g.last.parameters_rank_max, 1e-12);
        fr_generation_free(&g);
    }
}

/* A page says why a plan cannot run, and shows no number that nobody has. */
static void pages_open_with_what_is_known(void **state) {
    static const struct {
        const char *set, *says;
    } rows[] = {{"tp=1", "a token ("}, {"cp=2", "cannot run"}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const char *const sets[] = {rows[k].set, NULL};
        struct fr_json_document *document = NULL;
        struct fr_generation g;
        struct fr_text json = {0};
        struct fr_page page = {.gaps = 0};
        ask("dgx-h100", "llama-3-8b", sets, 128, 20, 1, &g);
        fr_generation_json(&json, &g);
        assert_int_equal(fr_json_parse(json.data, json.length, "g", &document, NULL), FR_OK);
        struct fr_json root = fr_json_root(document);
        fr_result_sections(&page, &root);
        const char *html = fr_text_get(&page.html);
        FR_TRUE(strstr(html, rows[k].says) && !strstr(html, "- to -"), "%s: %.600s",
                rows[k].set, html);
        fr_page_free(&page);
        fr_json_free(document);
        fr_text_free(&json);
        fr_generation_free(&g);
    }
}

/* Who names other software has its facts. */
static void takes_other_software(void **state) {
    static const char *const sets[] = {"runtime=megatron-bridge-26.06", NULL};
    struct fr_generation g;
    (void)state;
    ask("dgx-h100", "llama-3-8b", sets, 100, 10, 1, &g);
    assert_string_equal(g.job.cluster.runtime, "megatron-bridge-26.06");
    assert_int_equal(g.job.plan.graphs, FR_GRAPHS_NONE);
    fr_generation_free(&g);
    ask("dgx-h100", "llama-3-8b", sets + 1, 100, 10, 1, &g);
    assert_string_equal(g.job.cluster.runtime, "vllm-2025");
    assert_int_equal(g.job.plan.graphs, FR_GRAPHS_ITERATION);
    fr_generation_free(&g);
}

static void refuses(void **state) {
    static const struct {
        const char *model, *says;
        int64_t prompt;
    } rows[] = {{"ffn-16384", "generates no tokens", 10},
                {"gpt-2.5b", "learned positions for 1024 tokens", 1000}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct fr_job_names names = {.cluster = "dgx-a100", .model = rows[k].model};
        const struct fr_generation_asked asked = {rows[k].prompt, 100, 1};
        struct fr_generation g;
        struct fr_error err = {0};
        assert_int_equal(fr_generate(&names, &asked, &g, &err), FR_ERR_INPUT);
        FR_TRUE(strstr(err.detail, rows[k].says) != NULL, "%s", err.detail);
        fr_generation_free(&g);
    }
    struct fr_generation g;
    ask("lassen", "t5-large-mod", (const char *[]){"pass=forward", NULL}, 100, 10, 1, &g);
    assert_true(g.last.reasons & FR_BECAUSE(FR_REASON_CACHE));
    fr_generation_free(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(adds_up),
                                       cmocka_unit_test(orders),
                                       cmocka_unit_test(plan_files_are_heard),
                                       cmocka_unit_test(own_settings_are_refused),
                                       cmocka_unit_test(weights_without_transposes),
                                       cmocka_unit_test(pages_open_with_what_is_known),
                                       cmocka_unit_test(latencies_of_a_server),
                                       cmocka_unit_test(latencies_of_engines),
                                       cmocka_unit_test(kernels_of_an_engine),
                                       cmocka_unit_test(thin_products),
                                       cmocka_unit_test(takes_other_software),
                                       cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, fr_scratch_enter, fr_scratch_leave);
}
