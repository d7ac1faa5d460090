/* Plans in a framework's words: every key is reported, and a few plans word for word. */
#include <string.h>

#include "answer/outcome/report.h"
#include "search/recipe.h"
#include "tests/answer/emit_plans.h"

static int lines_about(const struct fr_emitted *e, const char *key) {
    int n = 0;
    for (int i = 0; i < e->n; i++) n += strcmp(e->line[i].about, key) == 0;
    return n;
}

/* An option or a sentence for every key of every plan, and none that says nothing. */
static void every_key_is_told(void **state) {
    (void)state;
    for (int f = 0; fr_emitters[f]; f++)
        for (int p = 0; p < EMIT_PLANS; p++) {
            struct fr_job job;
            struct fr_outcome out;
            struct fr_emitted *e = emitted_of(&emit_plans[p], fr_emitters[f], &job, &out);
            for (int k = 0; k < FR_PLAN_KEYS; k++)
                FR_TRUE(lines_about(e, fr_plan_keys[k].name) > 0, "%s, plan %d: nothing of %s",
                        fr_emitters[f]->name, p, fr_plan_keys[k].name);
            for (int i = 0; i < e->n; i++)
                FR_TRUE(e->line[i].name[0] || e->line[i].text[0], "%s, plan %d: line %d",
                        fr_emitters[f]->name, p, i);
            emitted_free(e, &job);
        }
}

static void names_a_value(const struct fr_emitted *e, const char *name, size_t length,
                          const char *in) {
    char word[64], value[FR_EMIT_TEXT];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    FR_TRUE(fr_emit_value(e, word, value, sizeof value),
            "\"%s\" names %s, which is neither a key of the plan nor in value_list.h", in,
            word);
}

/* Conditions and texts of rows name values that are. */
static void rows_name_values(void **state) {
    struct fr_job job;
    struct fr_outcome out;
    struct fr_emitted *e = emitted_of(&emit_plans[0], fr_emitters[0], &job, &out);
    (void)state;
    const struct fr_emit_row *row;
    for (int f = 0, i = 0; fr_emitters[f]; i++) {
        if (!(row = fr_emit_row(fr_emitters[f], i))) {
            f++, i = -1;
            continue;
        }
        for (const char *at = row->where; *at; at += strcspn(at, " "), at += *at == ' ')
            names_a_value(e, at, strcspn(at, "!="), row->where);
        if (row->kind == FR_EMIT_VARIABLE) continue;
        for (const char *at = row->text; (at = strchr(at, '{')); at++)
            names_a_value(e, at + 1, strcspn(at + 1, "}"), row->text);
    }
    emitted_free(e, &job);
}

/* A key that is not at its default is an option, is named as lacking, or is a remark that says how. */
static void the_plans_vary_every_key(void **state) {
    const struct fr_plan plain = fr_plan_default();
    (void)state;
    for (int k = 0; k < FR_PLAN_KEYS; k++) {
        bool varied =
            k == FR_PLAN_KEY_domain; /* of images: frameworks here train transformers */
        for (int p = 0; p < EMIT_PLANS; p++) {
            struct fr_job job;
            fr_test_job(emit_plans[p].cluster, emit_plans[p].model, emit_plans[p].sets, &job);
            varied = varied || !fr_plan_keys[k].type->same(&fr_plan_keys[k], &job.plan, &plain);
            fr_job_free(&job);
        }
        FR_TRUE(varied, "no plan changes %s", fr_plan_keys[k].name);
    }
}

/* Is option @p name said with @p value, so often? */
static void says(const struct fr_emitted *e, const char *name, const char *value) {
    for (int i = 0; i < e->n; i++)
        if (strcmp(e->line[i].name, name) == 0) {
            assert_string_equal(e->line[i].text, value);
            return;
        }
    fail_msg("%s is not said", name);
}

static bool says_nothing_of(const struct fr_emitted *e, const char *name) {
    for (int i = 0; i < e->n; i++)
        if (strcmp(e->line[i].name, name) == 0) return false;
    return true;
}

static bool lacks(const struct fr_emitted *e, const char *key) {
    for (int i = 0; i < e->n; i++)
        if (strcmp(e->line[i].about, key) == 0 && e->line[i].lacks) return true;
    return false;
}

/* 126 layers over 16 x 8 virtual stages: the first and the last hold embedding and loss alone. */
static void llama_on_megatron(void **state) {
    struct fr_job job;
    struct fr_outcome out;
    struct fr_emitted *e = emitted_of(&emit_plans[3], &fr_emitter_megatron, &job, &out);
    char layout[600] = "E";
    (void)state;
    for (int i = 0; i < 126; i++) strcat(layout, "|t");
    says(e, "--pipeline-model-parallel-layout", strcat(layout, "|L"));
    says(e, "--tensor-model-parallel-size", "8");
    says(e, "--pipeline-model-parallel-size", "16");
    says(e, "--context-parallel-size", "2");
    says(e, "--global-batch-size", "512");
    says(e, "--micro-batch-size", "1");
    says(e, "--recompute-granularity", "full");
    says(e, "--no-overlap-p2p-communication", "");
    says(e, "--cross-entropy-fusion-impl", "native");
    says(e, "--overlap-grad-reduce", "");
    says(e, "--overlap-param-gather", "");
    says(e, "--use-distributed-optimizer", "");
    says(e, "--sequence-parallel", "");
    FR_TRUE(says_nothing_of(e, "--ddp-bucket-size"), "%s", "a bucket that nobody chose");
    says(e, "--rotary-base", "500000"); /* Llama 3, Table 3 */
    says(e, "--bf16", "");
    says(e, "--seq-length", "8192");
    FR_TRUE(says_nothing_of(e, "--use-tp-pp-dp-mapping"), "%s", "order tp-dp-pp is Megatron's");
    for (int i = 0; i < e->n; i++) FR_TRUE(!e->line[i].lacks, "%s", e->line[i].text);
    emitted_free(e, &job);
}

/* A size of buckets is stated where somebody chose one: another than the default, or the default by its name; a plan that
 * forerun printed states every key, which chooses nothing. */
static void buckets_that_were_chosen(void **state) {
    (void)state;
    static const struct {
        const struct fr_emitter *to;
        const char *option;
    } frameworks[] = {{&fr_emitter_megatron, "--ddp-bucket-size"},
                      {&fr_emitter_megatron_bridge, "ddp.bucket_size"},
                      {&fr_emitter_deepspeed, "zero_optimization.reduce_bucket_size"}};
    struct fr_text whole = {0};
    for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++)
        for (int how = 0; how < 4; how++) {
            static const char *const bucket[] = {"zero=1", "bucket=25 MiB", "bucket=1 MiB",
                                                 "zero=1"};
            const char *const sets[] = {"dp=8", "zero=1", "overlap=gradient", "global_batch=64",
                                        bucket[how]};
            struct fr_job_names names = {.cluster = "dgx-h100",
                                         .model = "llama-3-8b",
                                         .plan = how == 3 ? fr_text_get(&whole) : NULL,
                                         .sets = sets,
                                         .n_sets = how == 3 ? 0 : 5};
            struct fr_error err = {.status = FR_OK};
            struct fr_outcome out;
            struct fr_job job;
            struct fr_emitted *e = calloc(1, sizeof *e);
            assert_non_null(e);
            if (fr_job_load(&names, &job, &err) != FR_OK)
                fail_msg("%s: %s", err.where, err.detail);
            fr_cost(&job, &job.plan, &out);
            assert_int_equal(fr_emit(frameworks[i].to, &job, &out, e, &err), FR_OK);
            FR_TRUE(says_nothing_of(e, frameworks[i].option) == (how == 0 || how == 3),
                    "%s, %s: %s", frameworks[i].option, bucket[how],
                    how == 3 ? "a plan that states all"
                             : "chosen and not said, or the other way");
            if (how == 0 && whole.length == 0) {
                struct fr_json_writer w = {.text = &whole};
                fr_report_json(&w, &job, &out);
            }
            emitted_free(e, &job);
        }
    fr_text_free(&whole);
}

/* A base that the model states is stated; of one that it does not, a sentence says so. */
static void rotary_bases(void **state) {
    (void)state;
    static const struct {
        const char *model, *set, *base;
    } cases[] = {{"llama-3-8b", "model.layers=32", "500000"},
                 {"llama-3-8b", "model.rotary_base=1000000", "1000000"},
                 {"llama-2-70b", "model.layers=80", NULL},
                 {"gpt-8.3b", "model.layers=72", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct emit_plan plan = {
            "dgx-h100", cases[i].model, {"tp=8", "dp=1", "global_batch=8", cases[i].set}};
        struct fr_job job;
        struct fr_outcome out;
        struct fr_emitted *e = emitted_of(&plan, &fr_emitter_megatron, &job, &out);
        if (cases[i].base)
            says(e, "--rotary-base", cases[i].base);
        else
            FR_TRUE(says_nothing_of(e, "--rotary-base"), "%s", cases[i].model);
        emitted_free(e, &job);
    }
}

/* Interleaved twice over 8 stages: 96 layers divide, so there is a number and no layout. */
static void virtual_stages(void **state) {
    struct fr_job job;
    struct fr_outcome out;
    struct fr_emitted *e = emitted_of(&emit_plans[5], &fr_emitter_megatron, &job, &out);
    (void)state;
    says(e, "--num-virtual-stages-per-pipeline-rank", "2");
    says(e, "--train-iters", "1000");
    says(e, "--use-tp-pp-dp-mapping", "");
    FR_TRUE(says_nothing_of(e, "--pipeline-model-parallel-layout"), "%s", "equal stages");
    FR_TRUE(lacks(e, "compression.backward.scope"), "%s", "compressed messages");
    FR_TRUE(lacks(e, "placement"), "%s", "round-robin is the launcher's");
    emitted_free(e, &job);
    e = emitted_of(&emit_plans[5], &fr_emitter_torchtitan, &job, &out);
    says(e, "--parallelism.pipeline_parallel_schedule", "Interleaved1F1B");
    says(e, "--parallelism.pipeline_parallel_layers_per_stage", "6"); /* 96 / (8 x 2) */
    says(e, "--parallelism.num_pp_microbatches", "32");               /* 64 / 2 / 1 */
    says(e, "--training.num_tokens_per_train_step", "131072");        /* 64 x 2048 */
    emitted_free(e, &job);
}

/* Plans 17 to 19: graphs of dense layers, of layers with experts, of an iteration. */
static void what_graphs_hold(void **state) {
    static const char *const impl[] = {"transformer_engine", "transformer_engine",
                                       "full_iteration"},
                             *const held[] = {"attn mlp", "attn moe_router moe_preprocess",
                                              NULL},
                             *const scope[] = {"attn,mlp", "attn,moe_router,moe_preprocess",
                                               "full_iteration"};
    struct fr_job job;
    struct fr_outcome out;
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct fr_emitted *e =
            emitted_of(&emit_plans[17 + i], &fr_emitter_megatron, &job, &out);
        says(e, "--cuda-graph-impl", impl[i]);
        if (held[i])
            says(e, "--cuda-graph-modules", held[i]);
        else
            assert_true(says_nothing_of(e, "--cuda-graph-modules"));
        emitted_free(e, &job);
        e = emitted_of(&emit_plans[17 + i], &fr_emitter_megatron_bridge, &job, &out);
        says(e, "--cuda_graph_impl", i < 2 ? "transformer_engine" : "local");
        says(e, "--cuda_graph_scope", scope[i]);
        emitted_free(e, &job);
    }
}

/* One stage offloads both, a pipeline the optimiser's state alone. */
static void what_the_host_holds(void **state) {
    struct fr_job job;
    struct fr_outcome out;
    struct fr_emitted *e = emitted_of(&emit_plans[15], &fr_emitter_megatron, &job, &out);
    (void)state;
    says(e, "--optimizer-cpu-offload", "");
    says(e, "--cpu-offloading-num-layers", "31");
    emitted_free(e, &job);
    e = emitted_of(&emit_plans[16], &fr_emitter_megatron_bridge, &job, &out);
    says(e, "optimizer.optimizer_cpu_offload", "true");
    FR_TRUE(lacks(e, "offload"), "%s", "activations of a pipeline");
    emitted_free(e, &job);
    e = emitted_of(&emit_plans[15], &fr_emitter_deepspeed, &job, &out);
    says(e, "zero_optimization.offload_optimizer", "cpu");
    emitted_free(e, &job);
    e = emitted_of(&emit_plans[16], &fr_emitter_deepspeed, &job, &out);
    FR_TRUE(lacks(e, "offload"), "%s", "state without a stage of ZeRO");
    emitted_free(e, &job);
}

static void what_replicas_divide(void **state) {
    struct fr_job job;
    struct fr_outcome out;
    struct fr_emitted *e = emitted_of(&emit_plans[0], &fr_emitter_torchtitan, &job, &out);
    (void)state;
    says(e, "--parallelism.data_parallel_shard_degree", "8");
    says(e, "--parallelism.data_parallel_replicate_degree", "1");
    says(e, "--parallelism.fsdp_reshard_after_forward", "always");
    emitted_free(e, &job);
    e = emitted_of(&emit_plans[0], &fr_emitter_megatron, &job, &out);
    says(e, "--data-parallel-sharding-strategy", "optim_grads_params");
    emitted_free(e, &job);
    e = emitted_of(&emit_plans[0], &fr_emitter_deepspeed, &job, &out);
    says(e, "zero_optimization.stage", "3");
    says(e, "gradient_accumulation_steps", "8"); /* 64 / 8 / 1 */
    emitted_free(e, &job);
    e = emitted_of(&emit_plans[4], &fr_emitter_megatron, &job, &out);
    FR_TRUE(lacks(e, "schedule") && lacks(e, "attention"), "%s", "zero-bubble, flash-1");
    emitted_free(e, &job);
}

/* The batch is what the parts make of it, in every framework that states them. */
static void batches_add_up(void **state) {
    (void)state;
    for (int p = 0; p < EMIT_PLANS; p++) {
        struct fr_job job;
        struct fr_outcome out;
        struct fr_emitted *e = emitted_of(&emit_plans[p], &fr_emitter_deepspeed, &job, &out);
        double value[3] = {0};
        static const char *const names[] = {"train_batch_size",
                                            "train_micro_batch_size_per_gpu",
                                            "gradient_accumulation_steps"};
        for (int i = 0; i < e->n; i++)
            for (int k = 0; k < 3; k++)
                if (strcmp(e->line[i].name, names[k]) == 0)
                    value[k] = strtod(e->line[i].text, NULL);
        FR_TRUE(value[0] == value[1] * value[2] * (double)job.plan.dp, "plan %d: %g of %g x %g",
                p, value[0], value[1], value[2]);
        emitted_free(e, &job);
    }
}

enum { BASES = 4 };
static const char *const bases[BASES][7] = {
    {"tp=8", "dp=8", "global_batch=64", HOST_DESCRIBED},
    {"tp=8", "dp=8", "zero=2", "global_batch=64", HOST_DESCRIBED},
    {"tp=4", "dp=8", "ep=8", "etp=1", "global_batch=64", HOST_DESCRIBED},
    {"tp=8", "pp=2", "dp=4", "global_batch=64", HOST_DESCRIBED}};

/* A setting that the framework leaves to the training program's own code is no lack of the framework. */
static bool by_its_program(const struct fr_emitted *e, const char *key) {
    for (int i = 0; i < e->n; i++)
        if (strcmp(e->line[i].about, key) == 0 && strstr(e->line[i].text, "the program's code"))
            return true;
    return false;
}

/* With @p set on one of the bases, if any takes it: does the framework do as told of @p key? */
static bool runs(const struct fr_emitter *to, const char *model, const char *key,
                 const char *set) {
    bool taken = false, run = false;
    struct fr_emitted *e = calloc(1, sizeof *e);
    for (int b = 0; b < BASES && !run; b++) {
        const char *sets[8];
        int n = 0;
        while (n < 7 && bases[b][n]) sets[n] = bases[b][n], n++;
        sets[n++] = set;
        struct fr_job_names names = {
            .cluster = "dgx-h100", .model = model, .sets = sets, .n_sets = n};
        struct fr_error err = {0};
        struct fr_outcome out;
        struct fr_job job;
        if (fr_job_load(&names, &job, &err) != FR_OK) continue;
        fr_cost(&job, &job.plan, &out);
        bool idle = fr_plan_idle_key(&job.workload, &job.plan, &(const char *){NULL});
        if (!idle && fr_emit(to, &job, &out, e, &err) == FR_OK)
            taken = true, run = !lacks(e, key) || by_its_program(e, key);
        fr_job_free(&job);
    }
    free(e);
    return run || !taken;
}

/* Each value that a search tries on a framework's behalf is one that it runs, with some others. */
static void what_a_search_tries(void **state) {
    static const char *const models[] = {"gpt3-175b", "mixtral-8x7b"};
    static const char *const hosted[] = {HOST_DESCRIBED, NULL};
    (void)state;
    for (int f = 0; fr_emitters[f]; f++)
        for (int m = 0; m < 2; m++) {
            const struct fr_emitter *to = fr_emitters[f];
            struct fr_recipe recipe;
            struct fr_job job;
            fr_test_job("dgx-h100", models[m], hosted, &job);
            fr_recipe_choose(&job, 64, true, &recipe);
            fr_job_free(&job);
            for (int i = 0; to->able[i]; i++) fr_recipe_restrict(to->able[i], &recipe);
            for (int r = 0; r < recipe.n; r++) {
                char *rest = recipe.row[r].values, *word;
                while ((word = strtok_r(rest, ",", &rest))) {
                    char set[128];
                    snprintf(set, sizeof set, "%s=%s", recipe.row[r].key, word);
                    if (strstr(word, "..")) continue; /* numbers, which all take */
                    FR_TRUE(runs(to, models[m], recipe.row[r].key, set), "%s, %s: %s", to->name,
                            models[m], set);
                }
            }
        }
}

/* So is each value that a framework is said to be able of. */
static void what_it_is_able_of(void **state) {
    (void)state;
    for (int f = 0; fr_emitters[f]; f++)
        for (const char *const *able = fr_emitters[f]->able; *able; able++) {
            char words[128], set[256];
            const size_t n = strcspn(*able, "=");
            snprintf(words, sizeof words, "%s", *able);
            words[n] = '\0';
            char *rest = words + n + 1, *word;
            while ((word = strtok_r(rest, ",", &rest))) {
                snprintf(set, sizeof set, "%s=%s", words, word);
                FR_TRUE(runs(fr_emitters[f], "gpt3-175b", words, set), "%s: %s",
                        fr_emitters[f]->name, set);
            }
        }
}

static void only_transformers(void **state) {
    static const char *const sets[] = {"tp=8", NULL};
    struct fr_emitted *e = calloc(1, sizeof *e);
    struct fr_job job;
    struct fr_outcome out;
    struct fr_error err = {0};
    (void)state;
    fr_test_job("frontier", "ffn-4096", sets, &job);
    fr_cost(&job, &job.plan, &out);
    assert_int_equal(fr_emit(&fr_emitter_megatron, &job, &out, e, &err), FR_ERR_INPUT);
    emitted_free(e, &job);
}

/* torchrun starts as many ranks on every node: of any number of ranks as many as were priced, and it says where these sat otherwise. */
static void torchrun_starts_all_ranks(void **state) {
    (void)state;
    for (int ranks = 1; ranks <= 40; ranks++) {
        char dp[16], batch[32];
        const struct emit_plan plan = {"dgx-h100", "llama-3-8b", {dp, batch}};
        struct fr_job job;
        struct fr_outcome out;
        struct fr_text text = {0};
        int nodes = 0, each = 0;
        snprintf(dp, sizeof dp, "dp=%d", ranks);
        snprintf(batch, sizeof batch, "global_batch=%d", 2 * ranks);
        struct fr_emitted *e = emitted_of(&plan, &fr_emitter_torchtitan, &job, &out);
        fr_emit_script(&text, e, NULL);
        const char *line = strstr(fr_text_get(&text), "torchrun --nnodes");
        assert_non_null(line);
        assert_int_equal(
            sscanf(line, "torchrun --nnodes %d --nproc-per-node %d", &nodes, &each), 2);
        FR_TRUE(nodes * each == ranks && each <= 8, "%d ranks: %d on each of %d", ranks, each,
                nodes);
        assert_int_equal(strstr(fr_text_get(&text), "placement balanced") != NULL,
                         ranks > 8 && ranks % 8 != 0);
        fr_text_free(&text);
        emitted_free(e, &job);
    }
}

/* The runtime that a plan was priced with stands in its script, and each framework knows its own releases. */
static void runtimes_are_named(void **state) {
    static const struct {
        const char *runtime;
        const struct fr_emitter *own[3];
    } rows[] = {
        {"megatron-bridge-26.04", {&fr_emitter_megatron_bridge, &fr_emitter_megatron}},
        {"megatron-lm-2022", {&fr_emitter_megatron}},
        {"torchtitan-2025", {&fr_emitter_torchtitan}},
        {"deepspeed-2023", {&fr_emitter_deepspeed}},
        {"nemo-25.04", {NULL}},
        {"papers-2019", {NULL}},
        {"megatrons-2030", {NULL}},
    };
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int i = 0; fr_emitters[i]; i++) {
            bool own = false;
            for (int k = 0; k < 3; k++) own = own || rows[r].own[k] == fr_emitters[i];
            FR_TRUE(fr_emitter_of(fr_emitters[i], rows[r].runtime) == own, "%s, %s",
                    rows[r].runtime, fr_emitters[i]->name);
        }
    for (int i = 0; fr_emitters[i]; i++) {
        const struct emit_plan plan = {
            "dgx-h100", "llama-3-8b", {"dp=8", "global_batch=64", "runtime=nemo-25.04"}};
        struct fr_job job;
        struct fr_outcome out;
        struct fr_text text = {0};
        struct fr_emitted *e = emitted_of(&plan, fr_emitters[i], &job, &out);
        fr_emit_script(&text, e, NULL);
        FR_TRUE(strstr(fr_text_get(&text), "\n# priced with the software nemo-25.04\n"), "%s",
                fr_text_get(&text));
        fr_text_free(&text);
        emitted_free(e, &job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_told),         cmocka_unit_test(the_plans_vary_every_key),
        cmocka_unit_test(llama_on_megatron),         cmocka_unit_test(virtual_stages),
        cmocka_unit_test(buckets_that_were_chosen),  cmocka_unit_test(rotary_bases),
        cmocka_unit_test(what_the_host_holds),       cmocka_unit_test(what_graphs_hold),
        cmocka_unit_test(what_replicas_divide),      cmocka_unit_test(batches_add_up),
        cmocka_unit_test(what_a_search_tries),       cmocka_unit_test(what_it_is_able_of),
        cmocka_unit_test(rows_name_values),          cmocka_unit_test(only_transformers),
        cmocka_unit_test(torchrun_starts_all_ranks), cmocka_unit_test(runtimes_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
