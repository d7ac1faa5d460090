/* A search varies these when nobody says. */
#include <stdlib.h>

#include "models/outcome/cost.h"
#include "search/recipe.h"
#include "search/search.h"
#include "tests/job.h"

static const char *values(const struct fr_recipe *recipe, const char *key) {
    for (int i = 0; i < recipe->n; i++)
        if (strcmp(recipe->row[i].key, key) == 0) return recipe->row[i].values;
    return "";
}

/* 8 ranks a node, 32 heads and layers, sequences of 8192: by hand. */
static void of_a_transformer(void **state) {
    static const char *const rows[][2] = {{"method", "tensor"},
                                          {"tp", "1,2,4,8"},
                                          {"pp", "1,2,3,4,6,8,12,16,24,32"},
                                          {"cp", "1,2"},
                                          {"ep", ""},
                                          {"ghost", ""},
                                          {"schedule", "1f1b,interleaved,zero-bubble"},
                                          {"chunks", "1,2,4,8"},
                                          {"sequence_parallel", "true,false"},
                                          {"attention", "flash"},
                                          {"zero", "0,1,2,3"},
                                          {"overlap", "none,gradient"},
                                          {"recompute", "none,mlp,full"},
                                          {"offload", ""},
                                          {"micro_batch", "1,2,4,8"},
                                          {"compression.embedding", ""},
                                          {"compression.gradient.stages", ""}};
    struct fr_job job;
    struct fr_recipe recipe;
    (void)state;
    fr_test_job("dgx-h100", "llama-3-8b", NULL, &job);
    fr_recipe_choose(&job, 96, false, &recipe);
    assert_true(recipe.chosen);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(values(&recipe, rows[i][0]), rows[i][1]);
    fr_recipe_choose(&job, 96, true, &recipe);
    /* The user's question: all four methods, k, compression of messages and gradients, their ranks and stages. */
    assert_string_equal(values(&recipe, "method"), "tensor,grid,subgraph,phantom");
    assert_string_equal(values(&recipe, "ghost"), "4,16,64");
    assert_string_equal(values(&recipe, "compression.backward.scope"), "none,epilogue,all");
    assert_string_equal(values(&recipe, "compression.backward.rank"), "16,64");
    assert_string_equal(values(&recipe, "compression.gradient.rank"), "16,128");
    assert_string_equal(values(&recipe, "overlap_tp"), "false");
    assert_string_equal(values(&recipe, "compression.gradient.stages"), "0,1,2,4,8");
    fr_job_free(&job);
}

/* With losses allowed, a method is left out where it divides no plan of the model, whatever else is chosen; and with
 * it its ghost neurons.  Others are tried. */
static void methods_that_divide_the_model(void **state) {
    static const char *const models[] = {"gpt-2.5b", "mixtral-8x7b", "nemotron-h-8b",
                                         "deepseek-v3", "llama-3-8b"};
    int left_out = 0;
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct fr_job job;
        struct fr_recipe recipe;
        fr_test_job("dgx-h100", models[i], NULL, &job);
        fr_recipe_choose(&job, 16, true, &recipe);
        for (const struct fr_method *const *m = fr_methods; *m; m++) {
            bool priced = false, tried = strstr(values(&recipe, "method"), (*m)->name);
            for (int k = 0; k < 8; k++) {
                struct fr_plan plan = job.plan;
                struct fr_outcome out;
                plan.method = *m;
                plan.ghost = 16;
                plan.tp = 1 << k % 4;
                plan.pp = 1 + k / 4;
                plan.dp = 16 / plan.tp / plan.pp;
                plan.sequence_parallel = false;
                fr_cost(&job, &plan, &out);
                priced = priced || !(out.reasons & FR_BECAUSE(FR_REASON_METHOD));
            }
            FR_TRUE(priced == tried, "%s, %s", models[i], (*m)->name);
            if (*m == &fr_method_phantom)
                assert_string_equal(values(&recipe, "ghost"), priced ? "4,16,64" : "");
            left_out += !priced;
        }
        fr_job_free(&job);
    }
    assert_true(left_out >= 3 + 2);
}

/* Who states a method with ghost neurons has asked for them, without --max-lossy; and where a node has one rank, for tp beyond
 * it. */
static void a_stated_method_has_its_ghost_neurons(void **state) {
    static const char alone[] = /* a node has one rank */
        "{\"device\": {\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {\"peak\": \"1 "
        "TFLOP/s\", \"half_dim\": 8}}}, \"levels\": [{\"name\": \"node\", \"ranks\": 1, "
        "\"latency\": \"1 us\", \"bandwidth\": \"10 GB/s\"}, {\"name\": \"system\", \"ranks\": "
        "64, \"latency\": \"2 us\", \"bandwidth\": \"5 GB/s\"}]}";
    static const struct {
        const char *cluster, *model, *method, *ghost, *tp;
    } rows[] = {{"dgx-h100", "gpt-2.5b", "method=phantom", "4,16,64", "1,2,4,8"},
                {"dgx-h100", "gpt-2.5b", "method=tensor", "", "1,2,4,8"},
                {alone, "gpt-2", "method=phantom", "4,16,64", "1,2,4"},
                {alone, "gpt-2", "method=tensor", "", "1"},
                {"frontier", "ffn-4096", "method=phantom", "4,16,64", "1,2,4,8,16"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const sets[] = {rows[i].method, NULL};
        struct fr_job job;
        struct fr_recipe recipe;
        fr_test_job(rows[i].cluster, rows[i].model, sets, &job);
        fr_recipe_choose(&job, 16, false, &recipe);
        assert_string_equal(values(&recipe, "method"), "");
        assert_string_equal(values(&recipe, "ghost"), rows[i].ghost);
        assert_string_equal(values(&recipe, "tp"), rows[i].tp);
        fr_job_free(&job);
    }
}

/* None and each of alexnet's five convolutions; of ResNet-50 after the first and after each of 16 blocks, of four layers
 * where a projection stands beside them, else three; nothing of other kinds. */
static void images_are_divided_where_blocks_end(void **state) {
    static const struct {
        const char *cluster, *model, *domains;
    } rows[] = {{"cori-knl", "alexnet", "0,1,2,3,4,5"},
                {"cori-knl", "resnet-50", "0,1,5,8,11,15,18,21,24,28,31,34,37,40,43,47,50,53"},
                {"frontier", "ffn-4096", ""},
                {"dgx-a100", "gpt-2", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_job job;
        struct fr_recipe recipe;
        fr_test_job(rows[i].cluster, rows[i].model, NULL, &job);
        fr_recipe_choose(&job, 16, false, &recipe);
        assert_string_equal(values(&recipe, "domain"), rows[i].domains);
        fr_job_free(&job);
    }
}

/* Each framework offers these words between nothing and all: for every one the plan is priced, and holds less than
 * without. */
static void what_recomputes(void **state) {
    static const struct {
        const char *model, *sets[4], *words;
    } rows[] = {{"llama-3-8b", {NULL}, "none,mlp,full"},
                {"llama-3-8b", {"attention=plain"}, "none,selective,full"},
                {"llama-3-8b", {"runtime=torchtitan-2025"}, "none,selective_op,full"},
                {"llama-3-8b", {"runtime=maxtext-2025"}, "none,save_qkv_out,full"},
                {"llama-3-8b", {"model.lora_rank=16"}, "none,selective,full"},
                {"mixtral-8x7b", {NULL}, "none,moe_act+layernorm,full"},
                {"mixtral-8x7b", {"runtime=torchtitan-2025"}, "none,full"},
                {"deepseek-v3", {NULL}, "none,moe_act+layernorm+mla_up_proj,full"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_job job;
        struct fr_recipe recipe;
        const char *sets[8] = {"cluster.device.memory=1 PB", "global_batch=8"};
        for (int k = 0; rows[i].sets[k]; k++) sets[2 + k] = rows[i].sets[k];
        fr_test_job("dgx-h100", rows[i].model, sets, &job);
        fr_recipe_choose(&job, 8, false, &recipe);
        assert_string_equal(values(&recipe, "recompute"), rows[i].words);
        double none_B = 0;
        char words[192], *rest = words;
        snprintf(words, sizeof words, "%s", rows[i].words);
        for (char *word; (word = strtok_r(rest, ",", &rest));) {
            struct fr_job own;
            struct fr_outcome out;
            char set[128];
            int n = 0;
            while (sets[n]) n++;
            snprintf(set, sizeof set, "recompute=%s", word);
            sets[n] = set;
            fr_test_job("dgx-h100", rows[i].model, sets, &own);
            fr_cost(&own, &own.plan, &out);
            if (none_B == 0) none_B = out.memory_peak_B;
            FR_TRUE(out.reasons == 0 && out.memory_peak_B <= none_B, "%s, %s: %g B",
                    rows[i].model, word, out.memory_peak_B);
            sets[n] = NULL;
            fr_job_free(&own);
        }
        fr_job_free(&job);
    }
}

/* The hosts' memory, where the cluster says how to get there and what they do with it. */
static void hosts_are_offered(void **state) {
    static const char *const sets[] = {"cluster.device.host_link=50 GB/s",
                                       "cluster.device.host_bandwidth=30 GB/s", NULL};
    static const char *const words[] = {"none,optimizer,activations,all", "", ""};
    (void)state;
    for (int without = 0; without < 3; without++) {
        const char *const some[] = {sets[without == 1], without ? NULL : sets[1], NULL};
        struct fr_job job;
        struct fr_recipe recipe;
        fr_test_job("dgx-a100", "llama-3-8b", some, &job);
        fr_recipe_choose(&job, 16, false, &recipe);
        assert_string_equal(values(&recipe, "offload"), words[without]);
        fr_job_free(&job);
    }
}

/* A stated key stays, and so does one inside objects. */
static void stated_keys_stay(void **state) {
    static const char *const sets[] = {"tp=4", "compression.gradient.stages=1", "micro_batch=3",
                                       NULL};
    struct fr_job job;
    struct fr_recipe recipe;
    (void)state;
    fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
    fr_recipe_choose(&job, 64, true, &recipe);
    assert_string_equal(values(&recipe, "tp"), "");
    assert_string_equal(values(&recipe, "micro_batch"), "");
    assert_string_equal(values(&recipe, "compression.gradient.stages"), "");
    assert_string_equal(values(&recipe, "compression.backward.scope"), "none,epilogue,all");
    assert_string_equal(values(&recipe, "compression.embedding"), "fused");
    fr_recipe_choose(&job, 64, false, &recipe);
    assert_string_equal(values(&recipe, "compression.embedding"), "separate,fused");
    fr_job_free(&job);
}

/* For every kind of model: the words are ones that --vary takes, a plan is feasible, and unless a loss
 * is allowed every plan computes what one processor would. */
static void every_kind_has_plans(void **state) {
    static const char *const jobs[][3] = {
        {"frontier", "ffn-4096", "16"},     {"cori-knl", "alexnet", "16"},
        {"lassen", "t5-large-mod", "8"},    {"a100-hdr", "gpt-2.5b", "16"},
        {"dgx-h100", "mixtral-8x7b", "32"}, {"lassen", "attention-branches", "8"},
        {"dgx-h100", "llama-3-70b", "32"}};
    const struct fr_search_options options = {.top = 1, .max_lossy = 1, .per_iteration = true};
    (void)state;
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        struct fr_job job;
        struct fr_error err = {0};
        fr_test_job(jobs[j][0], jobs[j][1], NULL, &job);
        for (int lossy = 0; lossy < 2; lossy++) {
            struct fr_recipe recipe;
            struct fr_space space;
            char texts[FR_PLAN_KEYS][300];
            const char *words[FR_PLAN_KEYS];
            int64_t feasible = 0, inexact = 0, step;
            fr_recipe_choose(&job, atoi(jobs[j][2]), lossy, &recipe);
            for (int i = 0; i < recipe.n; i++) {
                snprintf(texts[i], sizeof texts[i], "%s=%s", recipe.row[i].key,
                         recipe.row[i].values);
                words[i] = texts[i];
            }
            if (fr_space_make(jobs[j][2], words, recipe.n, &job.plan, false, false, NULL,
                              &space, &err) != FR_OK)
                fail_msg("%s: %s: %s", jobs[j][1], err.where, err.detail);
            step = space.size / 3000 + 1; /* a sample of large ones */
            for (int64_t i = 0; i < space.size; i += step) {
                struct fr_outcome out;
                if (!fr_search_evaluate(&job, &space, &options, FR_RANK_ITERATION, i, &out))
                    continue;
                feasible += !out.reasons;
                inexact += !out.plan.method->exact || out.plan.compression.scope ||
                           out.plan.compression.gradient_stages > 0;
            }
            FR_TRUE(feasible > 0, "%s: %lld plans, none feasible", jobs[j][1],
                    (long long)space.size);
            FR_TRUE(lossy || inexact == 0, "%s: %lld lossy plans", jobs[j][1],
                    (long long)inexact);
            fr_space_free(&space);
        }
        fr_job_free(&job);
    }
}

/* A key that a user varies is reported as stated; one value is fixed. */
static void words_are_told(void **state) {
    struct fr_recipe recipe = {0};
    struct fr_text text = {0};
    (void)state;
    fr_recipe_take("tp=1..8*2", &recipe);
    fr_recipe_take("zero=1", &recipe);
    fr_recipe_take("method=tensor,grid", &recipe);
    fr_recipe_tell(&recipe, true, &text);
    assert_string_equal(fr_text_get(&text), "tp 1..8*2; method tensor,grid");
    fr_text_free(&text);
    fr_recipe_tell(&recipe, false, &text);
    assert_string_equal(fr_text_get(&text), "zero 1");
    fr_text_free(&text);
}

/* A user's own values stand in the place of ours; what a framework can run is what both have. */
static void narrowed(void **state) {
    struct fr_job job;
    struct fr_recipe recipe;
    (void)state;
    fr_test_job("dgx-h100", "llama-3-8b", NULL, &job);
    fr_recipe_choose(&job, 96, false, &recipe);
    int n = recipe.n;
    fr_recipe_narrow("tp=2,4", &recipe);
    assert_string_equal(values(&recipe, "tp"), "2,4");
    assert_int_equal(recipe.n, n);
    fr_recipe_narrow("model.sequence=2048,4096", &recipe);
    assert_int_equal(recipe.n, n + 1);
    /* ours says why we would try one value alone; a user's own needs no reason of ours */
    struct fr_text ours = {0}, own = {0};
    fr_recipe_tell(&recipe, false, &ours);
    assert_non_null(strstr(fr_text_get(&ours), "attention flash (exact, and holds no scores)"));
    fr_recipe_narrow("attention=plain", &recipe);
    fr_recipe_tell(&recipe, false, &own);
    assert_non_null(strstr(fr_text_get(&own), "attention plain"));
    assert_null(strstr(fr_text_get(&own), "attention plain ("));
    fr_text_free(&ours);
    fr_text_free(&own);
    fr_recipe_restrict("schedule=gpipe,interleaved,1f1b", &recipe);
    assert_string_equal(values(&recipe, "schedule"), "1f1b,interleaved");
    fr_recipe_restrict("zero=1,33", &recipe);
    assert_string_equal(values(&recipe, "zero"), "1");
    fr_recipe_restrict("recompute=no such", &recipe);
    assert_string_equal(values(&recipe, "recompute"), "none,mlp,full");
    fr_recipe_restrict("attention=plain", &recipe); /* held at flash */
    assert_string_equal(values(&recipe, "attention"), "plain");
    fr_recipe_restrict("compression.codec=topk", &recipe);
    assert_string_equal(values(&recipe, "compression.codec"), "");
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_a_transformer),
                                       cmocka_unit_test(methods_that_divide_the_model),
                                       cmocka_unit_test(a_stated_method_has_its_ghost_neurons),
                                       cmocka_unit_test(images_are_divided_where_blocks_end),
                                       cmocka_unit_test(what_recomputes),
                                       cmocka_unit_test(hosts_are_offered),
                                       cmocka_unit_test(stated_keys_stay),
                                       cmocka_unit_test(narrowed),
                                       cmocka_unit_test(every_kind_has_plans),
                                       cmocka_unit_test(words_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
