/* Any one allocation fails while reading, pricing, simulating, searching or fitting.  Either the caller sees the
 * failure, or the answer is that of a run without one.  Nothing is left behind, and nothing else is harmed. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json/memory.h"
#include "calibrate/fit/fitter.h"
#include "calibrate/fit/parts.h"
#include "calibrate/fit/scatter.h"
#include "models/outcome/pipeline_ops.h"
#include "search/blocks.h"
#include "search/stage_layers.h"
#include "sim/run.h"
#include "tests/failing.h"
#include "tests/job.h"
#include "trust/tune.h"

#ifdef FR_FAILING
/* Loaded without a failure; the questions are about it. */
static struct fr_job job;
static struct fr_space space;
static const struct fr_search_options options = {
    .per_iteration = true, .max_lossy = 1, .top = 3, .threads = 1};

static const char *of_cluster, *of_model, *of_sets[8];

static fr_status load(const char *runtime, double *answer) {
    struct fr_job_names names = {
        .cluster = of_cluster, .model = of_model, .runtime = runtime, .sets = of_sets};
    struct fr_job own;
    struct fr_outcome out;
    while (of_sets[names.n_sets]) names.n_sets++;
    fr_status status = fr_job_load(&names, &own, NULL);
    if (status == FR_OK) fr_cost(&own, &own.plan, &out);
    bool short_of = status == FR_OK && out.reasons & FR_BECAUSE(FR_REASON_SIZE);
    *answer = status == FR_OK ? out.time_s : 0;
    fr_job_free(&own);
    return short_of ? FR_ERR_NOMEM : status;
}

/* Beside a runtime that states one fact; and with the newest, and all that it comes from. */
static fr_status ask_load(double *answer) {
    return load("{\"name\": \"mine\", \"defaults\": \"2019\", \"facts\": [{\"key\": \"fixed\", "
                "\"value\": \"1 ms\"}]}",
                answer);
}
static fr_status ask_newest(double *answer) { return load(NULL, answer); }

static fr_status ask_cost(double *answer) {
    struct fr_outcome out;
    fr_cost(&job, &job.plan, &out);
    *answer = out.time_s;
    return out.reasons & FR_BECAUSE(FR_REASON_SIZE) ? FR_ERR_NOMEM : FR_OK;
}

static fr_status simulated(const char *network, double *answer) {
    struct fr_simulation s;
    struct fr_simulate_options o = {.timeline = true};
    for (int i = 0; fr_networks[i]; i++)
        if (strcmp(fr_networks[i]->name, network) == 0) o.network = fr_networks[i];
    fr_status status = fr_simulate(&job, &job.plan, &o, &s, NULL);
    *answer = s.outcome.time_s + (double)s.timeline.count;
    fr_simulation_free(&s);
    return status;
}
static fr_status ask_event(double *answer) { return simulated("isolated", answer); }
static fr_status ask_shared(double *answer) { return simulated("shared", answer); }

static fr_status ask_layers(double *answer) {
    int64_t layers[16] = {0};
    fr_status status = fr_stage_layers_best(&job, &job.plan, layers, NULL);
    *answer = (double)(layers[0] + 100 * layers[1]);
    return status;
}

static fr_status ask_passes(double *answer) {
    int16_t *clock = NULL;
    fr_status status = fr_pipeline_ops_choose(&job, &job.plan, 0.02, &clock, NULL);
    *answer = 0;
    for (int k = 0; clock && k < 16; k++) *answer += (k + 1) * clock[k];
    free(clock);
    return status;
}

static fr_status ask_search(double *answer) {
    struct fr_search_result r;
    fr_status status = fr_search(&job, &space, &options, &r, NULL);
    *answer =
        status == FR_OK && r.top.count ? r.top.items[0].outcome.time_s + (double)r.feasible : 0;
    fr_search_result_free(&r);
    return status;
}

static fr_status ask_blocks(double *answer) {
    struct fr_blocks b;
    struct fr_search_result r = {0};
    struct fr_text line = {0};
    fr_status status = fr_blocks_open(&job, &space, &options, &b, NULL);
    if (status == FR_OK) status = fr_blocks_search(&b, 0, 1, &line, NULL);
    if (status == FR_OK) status = fr_blocks_take(&b, fr_text_get(&line), NULL);
    if (status == FR_OK) status = fr_blocks_join(&b, &r, NULL);
    *answer =
        status == FR_OK && r.top.count ? r.top.items[0].outcome.time_s + (double)r.feasible : 0;
    fr_search_result_free(&r);
    fr_text_free(&line);
    fr_blocks_free(&b);
    return status;
}

/* ---- fits --------------------------------------------------------------------------------------- */

enum { POINTS = 48 };

/* Two rank counts, sixteen sizes three times each; GSL's own allocations are not ours to count. */
static fr_status ask_points(double *answer) {
    static struct fr_sample_collective item[POINTS * 2];
    struct fr_samples samples = {.collective = item, .n_collective = 2 * POINTS};
    struct fr_fit_point *points = NULL;
    struct fr_price price = {.op = FR_OP_ALL_REDUCE}, pieces = price, named = price;
    int n = 0;
    for (int i = 0; i < 2 * POINTS; i++)
        item[i] = (struct fr_sample_collective){.op = FR_OP_ALL_REDUCE,
                                                .level = 1,
                                                .n_ranks = i % 2 ? 8 : 4,
                                                .n_nodes = i % 2 ? 4 : 2,
                                                .n_groups = 1,
                                                .size_B = 64 << i / 6,
                                                .rep = i / 2 % 3,
                                                .time_s = 1e-5 + 1e-9 * (64 << i / 6)};
    fr_status status = fr_fit_medians(&samples, NULL, -1, &points, &n);
    if (status == FR_OK) status = fr_fitter_similarity.fit(points, n, true, &price);
    if (status == FR_OK) status = fr_fitter_segments.fit(points, n, true, &pieces);
    if (status == FR_OK) status = fr_fitter_algorithm.fit(points, n, true, &named);
    *answer = status == FR_OK
                  ? fr_fit_price_s(&price, points) + fr_fit_price_s(&pieces, points) +
                        fr_fit_price_s(&named, points)
                  : 0;
    fr_price_free(&price);
    fr_price_free(&pieces);
    fr_price_free(&named);
    free(points);
    return status;
}

static fr_status ask_products(double *answer) {
    static struct fr_sample_gemm item[60];
    static struct fr_sample_memory moved[12];
    struct fr_samples samples = {
        .gemm = item, .n_gemm = 60, .memory = moved, .n_memory = 12, .provenance.ranks = 1};
    struct fr_fit_speed speed = {.usual_products = 1, .usual_memory = 1};
    struct fr_fit_gemm g = {.n_m = 0};
    struct fr_fit_working_sets sets = {.n = 0};
    for (int i = 0; i < 60; i++)
        item[i] = (struct fr_sample_gemm){.dtype = FR_FP32,
                                          .m = 16 << i % 3,
                                          .n = 8 << i / 3 % 2,
                                          .k = 32,
                                          .batch = 1,
                                          .time_s = 1e-3 * (1 + i % 6 + (i / 6 == 7))};
    for (int i = 0; i < 12; i++)
        moved[i] = (struct fr_sample_memory){
            .kernel = i % 2, .size_B = 1 << (10 + i / 4), .time_s = 1e-6 * (1 + i)};
    fr_status status = fr_fit_interruptions(&samples, &speed);
    if (status == FR_OK) status = fr_fit_gemm_table(&samples, &speed, FR_FP32, &g);
    if (status == FR_OK) status = fr_fit_working_sets(&samples, &speed, &sets);
    *answer = status == FR_OK ? g.time_s[0] + sets.s_per_B[0][0] + speed.lost : 0;
    fr_fit_gemm_free(&g);
    fr_fit_speed_free(&speed);
    return status;
}

static fr_status ask_tune(double *answer) {
    static struct fr_run run[3];
    const struct fr_run *runs[3];
    static struct fr_tune_result r;
    const struct fr_tune_options o = {.threads = 1};
    for (int i = 0; i < 3; i++) {
        run[i] = (struct fr_run){.workload = job.workload,
                                 .plan = job.plan,
                                 .weight = 1,
                                 .measured_s = 0.5 + 0.1 * i};
        runs[i] = &run[i];
    }
    fr_status status = fr_tune(&job.cluster, runs, 3, &o, &r, NULL);
    *answer = status == FR_OK ? r.tuned[0].value + r.spread : 0;
    return status;
}

/* ---- each of them, with each allocation failing -------------------------------------------------- */

#define ORDER "schedule=[\"F0 F1 B0 B1\",\"F0 B0 F1 B1\"]"

static const struct question {
    const char *name;
    fr_status (*ask)(double *answer);
    int times; /**< allocations that are tried; 0: each */
    bool gsl;  /**< which forgets blocks of its own where one of its allocations fails */
    const char *cluster, *model, *sets[6], *vary[3];
} questions[] = {
    {"reading an order",
     ask_load,
     250,
     false,
     "dgx-a100",
     "gpt-2",
     {ORDER, "pp=2", "micro_batch=1", "global_batch=2"},
     {0}},
    {"reading lists",
     ask_load,
     250,
     false,
     "cori-knl",
     "alexnet",
     {"method=grid", "dp=4", "layer_tp=[1,1,1,1,1,2,2,2]", "global_batch=64"},
     {0}},
    {"reading a runtime",
     ask_newest,
     150,
     false,
     "dgx-h100",
     "llama-3-8b",
     {"tp=2", "dp=2", "runtime.host_launch=1 us"},
     {0}},
    {"an order",
     ask_cost,
     0,
     false,
     "dgx-a100",
     "gpt-2",
     {ORDER, "pp=2", "micro_batch=1", "global_batch=2"},
     {0}},
    {"folds",
     ask_cost,
     0,
     false,
     "dgx-a100",
     "gpt-2",
     {"pp=2", "schedule=dualpipe-v", "chunks=2", "micro_batch=1", "global_batch=8",
      "compression.backward.scope=epilogue"},
     {0}},
    {"experts",
     ask_cost,
     0,
     false,
     "dgx-h100",
     "mixtral-8x7b",
     {"dp=8", "ep=4", "zero=3", "micro_batch=1", "global_batch=8", "attention=flash"},
     {0}},
    {"seats",
     ask_cost,
     0,
     false,
     "lassen",
     "t5-large-mod",
     {"method=subgraph", "tp=4", "dp=2", "global_batch=8", "placement=optimised"},
     {0}},
    {"slack",
     ask_cost,
     0,
     false,
     "dgx-a100",
     "gpt-2",
     {"pp=2", "micro_batch=1", "global_batch=4", "clock=slack"},
     {0}},
    {"passes",
     ask_passes,
     0,
     false,
     "dgx-a100",
     "gpt-2",
     {"pp=2", "micro_batch=1", "global_batch=4"},
     {0}},
    {"layers",
     ask_layers,
     0,
     false,
     "dgx-a100",
     "gpt-2",
     {"pp=2", "micro_batch=1", "global_batch=4"},
     {0}},
    {"event",
     ask_event,
     0,
     false,
     "dgx-a100",
     "gpt-2",
     {"pp=2", "dp=2", "micro_batch=1", "global_batch=8", "overlap=gradient", "recompute=full"},
     {0}},
    {"blocking",
     ask_event,
     0,
     false,
     "dgx-a100",
     "gpt-2",
     {"pp=4", "micro_batch=1", "global_batch=8", "p2p=duplex"},
     {0}},
    {"shared",
     ask_shared,
     0,
     false,
     "a100-hdr",
     "gpt-2",
     {"pp=4", "dp=2", "micro_batch=1", "global_batch=8", "rank_order=tp-dp-pp"},
     {0}},
    {"layers shared",
     ask_shared,
     0,
     false,
     "frontier",
     "ffn-4096",
     {"tp=4", "dp=2", "global_batch=64"},
     {0}},
    {"search",
     ask_search,
     200,
     false,
     "dgx-a100",
     "gpt-2",
     {"micro_batch=1", "global_batch=8"},
     {"pp=1,2,4", "schedule=1f1b,zero-bubble"}},
    {"blocks",
     ask_blocks,
     200,
     false,
     "dgx-a100",
     "gpt-2",
     {"micro_batch=1", "global_batch=8"},
     {"pp=1,2", "zero=0,1"}},
    {"points", ask_points, 0, true, NULL, NULL, {0}, {0}},
    {"products", ask_products, 0, false, NULL, NULL, {0}, {0}},
    {"tuning",
     ask_tune,
     60,
     true,
     "dgx-a100",
     "gpt-2",
     {"pp=2", "micro_batch=1", "global_batch=4", "model.dtype=fp16"},
     {0}},
};

static void try_all(const struct question *q) {
    double want = 0, got = 0;
    fr_status whole = q->ask(&want); /* what is made once, is */
    long before = atomic_load(&n_live);
    failing_begin(0);
    whole = q->ask(&want);
    long all = failing_end(), refused = 0,
         step = q->times && all > q->times ? all / q->times : 1;
    if (whole != FR_OK) fail_msg("%s: undisturbed, %d", q->name, whole);
    FR_TRUE(all > 0 && atomic_load(&n_live) == before, "%s: %ld allocations", q->name, all);
    for (long nth = 1; nth <= all; nth += step) {
        struct fr_alloc_watch watch = {false};
        struct fr_alloc_watch *outer = fr_alloc_watch(&watch);
        failing_begin(nth);
        fr_status status = q->ask(&got);
        failing_end();
        fr_alloc_watch(outer);
        refused += status != FR_OK;
        FR_TRUE(atomic_load(&watch.failed) || (status == FR_OK && got == want),
                "%s, allocation %ld of %ld: nobody saw it; %d, %.17g for %.17g", q->name, nth,
                all, status, got, want);
        FR_TRUE(q->gsl || atomic_load(&n_live) == before,
                "%s, allocation %ld of %ld: %ld blocks are left", q->name, nth, all,
                atomic_load(&n_live) - before);
        if (q->gsl) before = atomic_load(&n_live);
    }
    FR_TRUE(refused > 0, "%s: none of %ld is needed", q->name, all);
}

static void every_question(void **state) {
    (void)state;
    fr_alloc_on_failure(NULL); /* jansson asks where others do */
    fr_json_memory_watch();
    for (size_t k = 0; k < sizeof questions / sizeof *questions; k++) {
        const struct question *q = &questions[k];
        int n = 0;
        memset(of_sets, 0, sizeof of_sets);
        for (; n < 6 && q->sets[n]; n++) of_sets[n] = q->sets[n];
        of_cluster = q->cluster, of_model = q->model;
        if (q->model) fr_test_job(q->cluster, q->model, of_sets, &job);
        for (n = 0; n < 3 && q->vary[n];) n++;
        if (n)
            assert_int_equal(
                fr_space_make("4", q->vary, n, &job.plan, false, false, NULL, &space, NULL),
                FR_OK);
        try_all(q);
        if (n) fr_space_free(&space);
        if (q->model) fr_job_free(&job);
    }
}
#else
static void every_question(void **state) {
    (void)state;
    skip(); /* the sanitizer's allocator is not ours to replace */
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_question)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
