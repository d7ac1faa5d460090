/* Hugging Face files: published parameter counts, what stands in for absent keys, refusals. */
#include <stdlib.h>

#include "base/file.h"
#include "models/job/assume.h"
#include "models/work/transformer.h"
#include "models/workload/family.h"
#include "tests/job.h"
#include "tests/plan_values.h"

static fr_status read(const char *text, struct fr_workload *w, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    *w = (struct fr_workload){0};
    fr_status status = fr_json_parse(text, strlen(text), "m", &document, err);
    if (status == FR_OK) status = fr_workload_read(document, w, err);
    fr_json_free(document);
    return status;
}

static struct fr_workload must_read(const char *text) {
    struct fr_workload w;
    struct fr_error err = {0};
    if (read(text, &w, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    return w;
}

/* A file of this folder, as a job with the changes of @p sets. */
static void load(const char *name, const char *const *sets, struct fr_job *job) {
    char path[512];
    snprintf(path, sizeof path, FR_SOURCE_DIR "/tests/models/hf/%s.json", name);
    fr_test_job("a100-hdr", path, sets, job);
}

/* Counts the whole model, without the rows that pad the vocabulary. */
static double parameters(const struct fr_workload *w) {
    const struct fr_transformer *t = &w->transformer;
    struct fr_rank_work work;
    struct fr_plan plan = fr_plan_default();
    fr_transformer_stage(w, &plan, 0, &work);
    int64_t rows = fr_transformer_padded_vocabulary(t, 1) - t->vocabulary;
    return work.parameters - (double)(rows * t->hidden * (t->tied ? 1 : 2));
}

/* There is dropout unless both shares are said to be none. */
static void dropout_of_two_shares(void **state) {
    static const struct {
        const char *family, *scores, *residuals;
    } files[] = {{"gpt2", "attn_pdrop", "resid_pdrop"},
                 {"bert-base", "attention_probs_dropout_prob", "hidden_dropout_prob"}};
    static const char *const shares[] = {NULL, "0", "0.2"};
    (void)state;
    for (int f = 0; f < 2; f++)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                char path[512];
                struct fr_json_document *document = NULL;
                struct fr_workload w = {.n_layers = 0};
                struct fr_error err = {0};
                snprintf(path, sizeof path, FR_SOURCE_DIR "/tests/models/hf/%s.json",
                         files[f].family);
                assert_int_equal(fr_json_read(path, &document, &err), FR_OK);
                assert_int_equal(
                    fr_json_set(document, files[f].scores, a ? shares[a] : "null", "t", &err),
                    FR_OK);
                assert_int_equal(fr_json_set(document, files[f].residuals,
                                             b ? shares[b] : "null", "t", &err),
                                 FR_OK);
                fr_status status = fr_workload_read(document, &w, &err);
                FR_TRUE(status == FR_OK, "%s: %s", err.where, err.detail);
                assert_int_equal(w.transformer.dropout, a != 1 || b != 1);
                fr_workload_free(&w);
                fr_json_free(document);
            }
}

static void published_counts(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double parameters;
    } want[] = {{"gpt2", 124439808},
                {"gpt2-xl", 1557611200},
                {"llama-2-7b", 6738415616},
                {"llama-3-8b", 8030261248},
                {"mistral-7b", 7241732096},
                {"qwen2-7b", 7615616512},
                {"qwen3-8b", 8190735360},
                {"mixtral-8x7b", 46702792704},
                {"gemma-7b", 8537680896},
                {"gpt-neox-20b", 20554567680},
                {"mpt-7b", 6649286656},
                {"qwen3-30b-a3b", 30532122624},
                {"mamba-codestral-7b", 7285403648},
                {"bert-base", 109514298},  /* of BertForMaskedLM */
                {"bert-large", 336226108}, /* of BertForPreTraining */
                {"nemotron-nano-9b", 8888227328}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct fr_job job;
        print_message("%s\n", want[i].name);
        load(want[i].name, NULL, &job);
        FR_NEAR(parameters(&job.workload), want[i].parameters, 0);
        fr_job_free(&job);
    }
}

/* Small parts of these are not counted: norms beside the two of a layer or over all queries and keys, position
 * vectors beside the table, biases of experts and of their choice, relative positions. */
static void nearly_published_counts(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double parameters;
    } want[] = {{"gemma-2-9b", 9241705984},      {"gemma-3-1b", 999885952},
                {"phi-3-mini", 3821079552},      {"falcon-7b", 6921720704},
                {"bloom-7b1", 7069016064},       {"opt-6.7b", 6658473984},
                {"olmo-2-7b", 7298617344},       {"command-r", 34980831232},
                {"glm-4-9b", 9400279040},        {"gpt-oss-20b", 20914757184},
                {"t5-large", 737668608},         {"deepseek-v3", 671026404352},
                {"deepseek-v2", 235741434880},   {"qwen1.5-moe-a2.7b", 14315784192},
                {"nemotron-3-nano", 31577940288}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct fr_job job;
        load(want[i].name, NULL, &job);
        double ours = parameters(&job.workload);
        FR_TRUE(fabs(ours / want[i].parameters - 1) < 0.001, "%s: %.0f, published %.0f",
                want[i].name, ours, want[i].parameters);
        fr_job_free(&job);
    }
}

/* DeepSeek-V3's 256 experts are in eight groups, of which a token goes to four. */
static void groups_of_experts(void **state) {
    struct fr_job job;
    (void)state;
    load("deepseek-v3", NULL, &job);
    assert_int_equal(job.workload.transformer.expert_groups, 8);
    assert_int_equal(job.workload.transformer.groups_per_token, 4);
    fr_job_free(&job);
}

/* A part that is known and not priced is named with its block. */
static void blocks_not_priced(void **state) {
    (void)state;
    static const struct {
        const char *text, *where, *detail;
    } want[] = {
        {"{\"model_type\": \"nemotron_h\", \"moe_latent_size\": 1024}", "m#/moe_latent_size",
         "experts of narrowed tokens"},
        {"{\"model_type\": \"mamba2\", \"use_bias\": true}", "m#/use_bias", "such biases"},
        {"{\"model_type\": \"mamba2\", \"use_conv_bias\": false}", "m#/use_conv_bias",
         "without biases"},
        {"{\"model_type\": \"bert\", \"is_decoder\": true}", "m#/is_decoder", "such a BERT"}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct fr_workload w;
        struct fr_error err = {0};
        FR_TRUE(read(want[i].text, &w, &err) == FR_ERR_INPUT, "%s", want[i].text);
        assert_string_equal(err.where, want[i].where);
        FR_TRUE(strstr(err.detail, want[i].detail), "\"%s\" lacks \"%s\"", err.detail,
                want[i].detail);
    }
}

/* Ranks together hold the layer once, and what is not divided once each. */
static void ranks_add_up(void **state) {
    (void)state;
    struct fr_job job;
    load("qwen2-7b", NULL, &job);
    const struct fr_transformer *qwen2 = &job.workload.transformer;
    double norms = 2 * 3584;
    FR_NEAR(4 * fr_transformer_layer_parameters_rank(qwen2, 4),
            fr_transformer_layer_parameters(qwen2) + 3 * norms, 0);
    fr_job_free(&job);
    load("qwen3-8b", NULL, &job);
    const struct fr_transformer *qwen3 = &job.workload.transformer;
    norms = 2 * 4096 + 2 * 128;
    FR_NEAR(4 * fr_transformer_layer_parameters_rank(qwen3, 4),
            fr_transformer_layer_parameters(qwen3) + 3 * norms, 0);
    fr_job_free(&job);
}

static const struct fr_device any = {0};

/* The preset of ours and the file of theirs are one model. */
static void same_as_the_preset(void **state) {
    (void)state;
    const char *sets[] = {"model.gradient_dtype=fp32", NULL};
    struct fr_job ours, theirs;
    fr_test_job("a100-hdr", "llama-3-8b", NULL, &ours);
    load("llama-3-8b", sets, &theirs);
    const struct fr_workload *a = &ours.workload, *b = &theirs.workload;
    FR_NEAR(fr_workload_state_B(b, &any), fr_workload_state_B(a, &any), 0);
    FR_NEAR(parameters(b), parameters(a), 0);
    assert_int_equal(b->transformer.sequence, a->transformer.sequence);
    assert_int_equal(b->transformer.kv_heads, a->transformer.kv_heads);
    assert_ptr_equal(b->kind, a->kind);
    fr_job_free(&ours);
    fr_job_free(&theirs);
}

/* The dtype of stored weights is not the dtype of training, unless the papers' defaults are asked for. */
static void training_defaults(void **state) {
    (void)state;
    static const char *const old[] = {"model.defaults=2019", NULL};
    struct fr_job job;
    load("gpt2", NULL, &job);
    assert_string_equal(job.workload.name, "gpt2");
    assert_int_equal(job.workload.dtype, FR_BF16);
    assert_int_equal(job.workload.global_batch, 256);
    FR_NEAR(fr_workload_state_B(&job.workload, &job.cluster.device), 2 + 2 + 12, 0);
    fr_job_free(&job);
    load("gpt2", old, &job);
    assert_non_null(strstr(job.workload.source, "fp32 as it names no torch_dtype"));
    assert_int_equal(job.workload.dtype, FR_FP32);
    FR_NEAR(fr_workload_state_B(&job.workload, &job.cluster.device), 16, 0);
    fr_job_free(&job);
    load("llama-2-7b", old, &job);
    assert_string_equal(job.workload.name, "Llama-2-7b-hf");
    assert_int_equal(job.workload.dtype, FR_FP16);
    assert_int_equal(job.workload.gradient_dtype, FR_FP32);
    fr_job_free(&job);
}

/* A file says how far a family reaches; what its training reads is less, is said, and --set goes before it. */
static void sequences_of_training(void **state) {
    static const struct {
        const char *file;
        int64_t sequence;
    } rows[] = {{"gpt-oss-20b", 8192},     {"deepseek-v3", 4096}, {"qwen2-7b", 4096},
                {"llama-3-8b", 8192},      {"llama-2-7b", 4096},  {"mistral-7b", 8192},
                {"nemotron-3-nano", 8192}, {"gpt2", 1024},        {"bert-base", 512}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *sets[] = {"model.sequence=256", NULL};
        struct fr_job job;
        char line[FR_ASSUMED], want[64];
        load(rows[i].file, NULL, &job);
        assert_int_equal(job.workload.transformer.sequence, rows[i].sequence);
        snprintf(want, sizeof want, "model.sequence %d", (int)rows[i].sequence);
        assert_non_null(strstr(fr_job_assumed(&job, NULL, line, sizeof line), want));
        fr_job_free(&job);
        load(rows[i].file, sets, &job);
        assert_int_equal(job.workload.transformer.sequence, 256);
        assert_null(strstr(fr_job_assumed(&job, NULL, line, sizeof line), "sequence 256"));
        fr_job_free(&job);
    }
    /* As their reports say of pre-training; files of others say how long their sequences are. */
    static const struct {
        const char *families;
        int64_t sequence;
    } reports[] = {
        {"deepseek_v2 deepseek_v3 mixtral olmo2 phi3 qwen2 qwen2_moe qwen3 qwen3_moe", 4096},
        {"cohere gemma gemma2 glm4 gpt_oss llama mistral nemotron_h", 8192},
        {"gemma3_text", 32768},
        {"bert bloom falcon gpt2 gpt_neox mamba2 mpt opt t5", 0}};
    for (int i = 0; i < 4; i++)
        for (const char *at = reports[i].families; *at;
             at += strcspn(at, " "), at += *at == ' ') {
            int length = (int)strcspn(at, " "), f = 0;
            while (fr_families[f] && (strncmp(fr_families[f]->name, at, (size_t)length) != 0 ||
                                      fr_families[f]->name[length]))
                f++;
            FR_TRUE(fr_families[f] && fr_families[f]->sequence == reports[i].sequence,
                    "%.*s: not %d tokens", length, at, (int)reports[i].sequence);
        }
}

static void ours_go_before(void **state) {
    (void)state;
    const char *sets[] = {"model.sequence=2048",       "model.dtype=fp32",
                          "model.global_batch=512",    "model.gradient_dtype=bf16",
                          "model.optimizer_state=4 B", "model.name=mine",
                          "model.iterations=1000",     NULL};
    struct fr_job job;
    load("llama-2-7b", sets, &job);
    const struct fr_workload *w = &job.workload;
    assert_string_equal(w->name, "mine");
    assert_int_equal(w->transformer.sequence, 2048);
    assert_int_equal(w->dtype, FR_FP32);
    assert_int_equal(w->global_batch, 512);
    assert_int_equal(w->n_iterations, 1);
    FR_NEAR(fr_workload_state_B(w, &any), 4 + 2 + 4, 0);
    fr_job_free(&job);
}

#define SIZES                                                                                  \
    "\"num_hidden_layers\": 2, \"hidden_size\": 64, \"intermediate_size\": 96, "               \
    "\"num_attention_heads\": 32, \"max_position_embeddings\": 16, \"vocab_size\": 128"

/* Each class takes this for an absent key; null is not the same. */
static void absent_and_null(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t kv_heads, head_dim;
    } want[] = {
        {"{\"model_type\": \"llama\", " SIZES "}", 32, 2},
        {"{\"model_type\": \"llama\", \"num_key_value_heads\": null, \"head_dim\": null, "
         "\"attention_bias\": null, \"text_config\": null, \"num_experts\": null, " SIZES "}",
         32, 2},
        {"{\"model_type\": \"mistral\", " SIZES "}", 8, 2},
        {"{\"model_type\": \"mistral\", \"num_key_value_heads\": null, " SIZES "}", 32, 2},
        {"{\"model_type\": \"qwen2\", " SIZES "}", 32, 2},
        {"{\"model_type\": \"qwen3\", \"num_key_value_heads\": 4, " SIZES "}", 4, 128},
        {"{\"architectures\": [\"LlamaForCausalLM\"], " SIZES "}", 32, 2},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct fr_workload w = must_read(want[i].text);
        print_message("%s\n", want[i].text);
        assert_int_equal(w.transformer.kv_heads, want[i].kv_heads);
        assert_int_equal(w.transformer.head_dim, want[i].head_dim);
        assert_false(w.transformer.tied);
    }
}

static void biases(void **state) {
    (void)state;
    struct fr_workload plain = must_read("{\"model_type\": \"llama\", " SIZES "}");
    struct fr_workload both = must_read("{\"model_type\": \"llama\", \"attention_bias\": true, "
                                        "\"mlp_bias\": true, " SIZES "}");
    struct fr_workload qkv = must_read("{\"model_type\": \"qwen2\", " SIZES "}");
    double layer = fr_transformer_layer_parameters(&plain.transformer);
    FR_NEAR(fr_transformer_layer_parameters(&both.transformer), layer + 4 * 64 + 2 * 96 + 64,
            0); /* q k v o, gate up, down */
    FR_NEAR(fr_transformer_layer_parameters(&qkv.transformer), layer + 3 * 64, 0);
}

static void text_config(void **state) {
    (void)state;
    struct fr_workload w = must_read(
        "{\"model_type\": \"llava\", \"torch_dtype\": \"bfloat16\", \"tie_word_embeddings\": "
        "true, \"vision_config\": {}, \"text_config\": {\"model_type\": \"llama\", "
        "\"_name_or_path\": \"a/b/vicuna\", " SIZES "}}");
    assert_string_equal(w.name, "vicuna");
    assert_int_equal(w.dtype, FR_BF16);
    assert_true(w.transformer.tied);
    assert_non_null(strstr(w.source, "text_config only"));
}

/* Which layers slide says the list of their types, where there is one, and no other key. */
static void sliding_layers_are_those_named(void **state) {
    static const char format[] =
        "{\"model_type\": \"%s\", \"num_hidden_layers\": %d, \"hidden_size\": 64, "
        "\"num_attention_heads\": 4, \"max_position_embeddings\": 128, \"vocab_size\": 256, "
        "\"intermediate_size\": 128, \"sliding_window\": 16, \"layer_types\": [%s]}";
    uint64_t dice = 8;
    (void)state;
    for (int round = 0; round < 40; round++) {
        char text[2000], types[1200] = "";
        int layers = 1 + (int)fr_test_random(&dice, 6), wanted = 0;
        for (int l = 0; l < layers + 2; l++) { /* what is behind the last layer is no layer's */
            bool slides = fr_test_random(&dice, 2);
            wanted += slides && l < layers;
            snprintf(types + strlen(types), sizeof types - strlen(types), "%s\"%s_attention\"",
                     l ? ", " : "", slides ? "sliding" : "full");
        }
        snprintf(text, sizeof text, format, round % 2 ? "gemma2" : "gemma3_text", layers,
                 types);
        struct fr_workload w;
        struct fr_error err = {0};
        if (read(text, &w, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
        assert_int_equal(w.transformer.window_layers, wanted);
        assert_int_equal(w.transformer.window, wanted ? 16 : 0);
        fr_workload_free(&w);
    }
}

/* How evenly tokens go to experts is said beside a file, which knows nothing of it; a dense model's has no experts. */
static void routing_is_said(void **state) {
    static const char *const sets[] = {"model.imbalance=2", "model.capacity=1.5",
                                       "model.balance=none"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        const char *one[] = {sets[i], NULL};
        struct fr_job job;
        load("gpt-oss-20b", one, &job);
        const struct fr_transformer *t = &job.workload.transformer;
        FR_NEAR(t->imbalance, i == 0 ? 2 : 0, 0);
        FR_NEAR(t->capacity, i == 1 ? 1.5 : 0, 0);
        assert_int_equal(t->balance, i == 2 ? FR_BALANCE_NONE : FR_BALANCE_EVEN);
        fr_job_free(&job);
        struct fr_error err = fr_test_refused(
            "dgx-h100", FR_SOURCE_DIR "/tests/models/hf/llama-3-8b.json", sets[i]);
        assert_non_null(strstr(err.detail, "has no effect without experts"));
    }
}

/* --set of a key that the file does not have and no family reads is a misspelling. */
static void misspelt_sets(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, FR_SOURCE_DIR "/tests/models/hf/gpt2.json");
    struct fr_error err = fr_test_refused("a100-hdr", path, "model.n_layr=3");
    assert_int_equal(err.status, FR_ERR_USAGE);
    assert_non_null(strstr(err.detail, "did you mean \"n_layer\""));
    err = fr_test_refused("a100-hdr", path, "model.layers=3");
    assert_non_null(strstr(err.detail, "use its own key"));
    const char *fine[] = {"model.n_layer=3", "model.sequence=512", NULL};
    struct fr_job job;
    fr_test_job("a100-hdr", path, fine, &job);
    assert_int_equal(job.workload.transformer.layers, 3);
    fr_job_free(&job);
}
static void refuses(void **state) {
    (void)state;
    static const struct {
        const char *text, *where, *detail;
    } bad[] = {
        {"{\"model_type\": 3}", "m#/model_type", "expected a string"},
        {"{\"architectures\": []}", "m#/architectures", "has 0 elements"},
        {"{\"model_type\": \"gpt2\", \"n_layer\": 2, \"n_embd\": 64, \"n_head\": 4, "
         "\"vocab_size\": 9}",
         "m#/n_positions", "is missing"},
        {"{\"model_type\": \"gpt2\", \"n_layer\": 2, \"n_embd\": 64, \"n_head\": 7, "
         "\"n_ctx\": 8, \"vocab_size\": 9}",
         "m#/n_head", "7 does not divide n_embd = 64"},
        {"{\"model_type\": \"gpt2\", \"n_layer\": 2, \"n_embd\": 64, \"n_head\": 4, "
         "\"n_ctx\": 8, \"vocab_size\": 9, \"sequence\": 16}",
         "m#/sequence", "is 16; expected 1 to 8"},
        {"{\"model_type\": \"gpt2\", \"n_layer\": 2, \"n_embd\": 64, \"n_head\": 4, "
         "\"n_ctx\": 8, \"vocab_size\": 9, \"add_cross_attention\": true}",
         "m#/add_cross_attention", "not priced yet"},
        {"{\"model_type\": \"gpt2\", \"n_layer\": null}", "m#/n_layer", "found null"},
        {"{\"model_type\": \"gpt2\", \"n_layer\": \"12\"}", "m#/n_layer", "a whole number"},
        {"{\"model_type\": \"gpt2\", \"n_layer\": 0}", "m#/n_layer", "is 0"},
        {"{\"model_type\": \"falcon\", \"num_hidden_layers\": 2, \"hidden_size\": 64, "
         "\"num_attention_heads\": 8, \"vocab_size\": 9, \"new_decoder_architecture\": true, "
         "\"num_kv_heads\": 3}",
         "m#/num_kv_heads", "3 key-value heads do not divide 8"},
        {"{\"model_type\": \"llama\", \"num_key_value_heads\": 3, " SIZES "}",
         "m#/num_key_value_heads", "3 does not divide num_attention_heads = 32"},
        {"{\"model_type\": \"llama\", \"mlp_bias\": 1, " SIZES "}", "m#/mlp_bias",
         "true or false"},
        {"{\"model_type\": \"llama\", \"torch_dtype\": \"int8\", " SIZES "}", "m#/torch_dtype",
         "did you mean \"fp8\"?"},
        {"{\"model_type\": \"llama\", \"layers\": 4, " SIZES "}", "m#/layers",
         "use its own key"},
        {"{\"model_type\": \"llama\", \"optimizer\": \"sgd\", " SIZES "}", "m#/optimizer",
         "use optimizer_state"},
        {"{\"model_type\": \"llama\", \"sliding_window\": 64, \"sliding_window_pattern\": "
         "\"\", " SIZES "}",
         "m#/sliding_window_pattern", "has no letters"},
        {"{\"model_type\": \"llama\", \"_mixers\": \"\", " SIZES "}", "m#/_mixers",
         "has no letters"},
        {"{\"model_type\": \"mixtral\", \"num_local_experts\": 1, \"num_experts_per_tok\": "
         "2, " SIZES "}",
         "m#/num_experts_per_tok", "more than 1 experts"},
        {"{\"model_type\": \"opt\", \"num_hidden_layers\": 2, \"hidden_size\": 64, "
         "\"num_attention_heads\": 4, \"max_position_embeddings\": 16, \"vocab_size\": 128, "
         "\"word_embed_proj_dim\": 32}",
         "m#/word_embed_proj_dim", "a projection of the embedding"},
        {"{\"model_type\": \"gemma4\", \"text_config\": {\"model_type\": \"gemma4_text\"}}",
         "m#/text_config/hidden_size_per_layer_input",
         "--set model.text_config.hidden_size_per_layer_input=null"},
        {"{\"model_type\": \"new\", \"layer_types\": [\"wormhole\"], " SIZES "}",
         "m#/layer_types/0", "layers of \"wormhole\" are not priced yet"},
        {"{\"kind\": \"transformer\", \"model_type\": \"llama\"}", "m#/model_type",
         "unknown key"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fr_workload w;
        struct fr_error err = {0};
        FR_TRUE(read(bad[i].text, &w, &err) == FR_ERR_INPUT, "%s", bad[i].text);
        assert_string_equal(err.where, bad[i].where);
        FR_TRUE(strstr(err.detail, bad[i].detail), "\"%s\" lacks \"%s\"", err.detail,
                bad[i].detail);
    }
}

/* Each size that a network cannot be without is asked for by its name. */
static void what_is_needed_is_named(void **state) {
    (void)state;
    static const char *const needed[] = {"hidden_size", "num_hidden_layers",
                                         "num_attention_heads", "max_position_embeddings",
                                         "vocab_size"};
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(fr_file_read(FR_SOURCE_DIR "/tests/models/hf/llama-3-8b.json",
                                  FR_FILE_MAX_B, &text, &length, NULL),
                     FR_OK);
    for (size_t k = 0; k < sizeof needed / sizeof *needed; k++) {
        struct fr_job job;
        struct fr_error err = {0};
        char *key = strstr(text, needed[k]), saved = *key;
        const struct fr_job_names names = {.cluster = "dgx-h100", .model = text};
        *key = 'X'; /* a key that nobody reads */
        fr_status status = fr_job_load(&names, &job, &err);
        *key = saved;
        FR_TRUE(status == FR_ERR_INPUT && strstr(err.where, needed[k]) &&
                    strstr(err.detail, "is missing"),
                "%s: %s: %s", needed[k], err.where, err.detail);
        fr_job_free(&job);
    }
    free(text);
}

/* Falcon's three ways to divide keys and values, and its biases. */
static void falcon_by_hand(void **state) {
    (void)state;
    static const struct {
        const char *more;
        int64_t kv_heads;
        bool biases;
    } rows[] = {{"", 1, false},
                {", \"bias\": true", 1, true},
                {", \"bias\": false, \"multi_query\": true", 1, false},
                {", \"multi_query\": false", 8, false},
                {", \"multi_query\": false, \"num_kv_heads\": 2", 8, false},
                {", \"new_decoder_architecture\": true, \"num_kv_heads\": 2", 2, false},
                {", \"new_decoder_architecture\": true, \"n_head_kv\": 4", 4, false},
                {", \"new_decoder_architecture\": true", 8, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        struct fr_workload w;
        struct fr_error err = {0};
        snprintf(text, sizeof text,
                 "{\"architectures\": [\"FalconForCausalLM\"], \"model_type\": \"falcon\", "
                 "\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 8, "
                 "\"vocab_size\": 100%s}",
                 rows[i].more);
        if (read(text, &w, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
        const struct fr_transformer *t = &w.transformer;
        FR_TRUE(t->kv_heads == rows[i].kv_heads && t->biases == rows[i].biases, "%s: %lld, %d",
                rows[i].more, (long long)t->kv_heads, t->biases);
        assert_true(t->sequence == 2048 && t->ffn == 256 && t->head_dim == 8 && t->tied &&
                    t->norm_biases);
        fr_workload_free(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(falcon_by_hand),
                                       cmocka_unit_test(what_is_needed_is_named),
                                       cmocka_unit_test(dropout_of_two_shares),
                                       cmocka_unit_test(published_counts),
                                       cmocka_unit_test(nearly_published_counts),
                                       cmocka_unit_test(groups_of_experts),
                                       cmocka_unit_test(blocks_not_priced),
                                       cmocka_unit_test(ranks_add_up),
                                       cmocka_unit_test(same_as_the_preset),
                                       cmocka_unit_test(training_defaults),
                                       cmocka_unit_test(sequences_of_training),
                                       cmocka_unit_test(ours_go_before),
                                       cmocka_unit_test(absent_and_null),
                                       cmocka_unit_test(biases),
                                       cmocka_unit_test(text_config),
                                       cmocka_unit_test(misspelt_sets),
                                       cmocka_unit_test(sliding_layers_are_those_named),
                                       cmocka_unit_test(routing_is_said),
                                       cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
