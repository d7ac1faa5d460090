/* A key that a Hugging Face file leaves out is what its family's configuration class of the transformers library
 * takes it for (src/transformers/models/<family>/configuration_<family>.py, v4.57). */
#include <inttypes.h>
#include <stddef.h>

#include "models/workload/family.h"
#include "tests/job.h"
#include "tests/plan_values.h"

#define FIELD(name) offsetof(struct fr_transformer, name)

static const struct {
    const char *file, *key;
    size_t field;
    int64_t want;
} rows[] = {
    {"bloom-7b1", "seq_length", FIELD(sequence),
     2048}, /* trained at; the class has no length */
    {"falcon-7b", "max_position_embeddings", FIELD(sequence), 2048},
    {"falcon-7b", "multi_query", FIELD(kv_heads), 1},
    {"falcon-7b", "ffn_hidden_size", FIELD(ffn), 4 * 4544},
    {"mistral-7b", "num_key_value_heads", FIELD(kv_heads), 8},
    {"mixtral-8x7b", "num_key_value_heads", FIELD(kv_heads), 8},
    {"mixtral-8x7b", "num_experts_per_tok", FIELD(experts_per_token), 2},
    {"gemma-7b", "num_key_value_heads", FIELD(kv_heads), 16},
    {"gemma-7b", "head_dim", FIELD(head_dim), 256},
    {"gemma-2-9b", "num_key_value_heads", FIELD(kv_heads), 4},
    {"gemma-2-9b", "head_dim", FIELD(head_dim), 256},
    {"gemma-2-9b", "sliding_window", FIELD(window), 4096},
    {"gemma-2-9b", "layer_types", FIELD(window_layers),
     21}, /* every other one, from the first */
    {"gemma-3-1b", "num_attention_heads", FIELD(heads), 8},
    {"gemma-3-1b", "num_key_value_heads", FIELD(kv_heads), 4},
    {"gemma-3-1b", "head_dim", FIELD(head_dim), 256},
    {"gemma-3-1b", "vocab_size", FIELD(vocabulary), 262208},
    {"gemma-3-1b", "sliding_window", FIELD(window), 4096},
    {"gemma-3-1b", "layer_types", FIELD(window_layers), 26 - 4}, /* but every sixth */
    {"glm-4-9b", "num_key_value_heads", FIELD(kv_heads), 2},
    {"glm-4-9b", "head_dim", FIELD(head_dim), 128},
    {"gpt-oss-20b", "num_key_value_heads", FIELD(kv_heads), 8},
    {"gpt-oss-20b", "head_dim", FIELD(head_dim), 64},
    {"gpt-oss-20b", "num_experts_per_tok", FIELD(experts_per_token), 4},
    {"gpt-oss-20b", "sliding_window", FIELD(window), 128},
    {"gpt-oss-20b", "layer_types", FIELD(window_layers), 12},
    {"qwen2-7b", "num_key_value_heads", FIELD(kv_heads), 32},
    {"qwen1.5-moe-a2.7b", "num_key_value_heads", FIELD(kv_heads), 16},
    {"qwen1.5-moe-a2.7b", "num_experts_per_tok", FIELD(experts_per_token), 4},
    {"qwen3-8b", "num_key_value_heads", FIELD(kv_heads), 32},
    {"qwen3-8b", "head_dim", FIELD(head_dim), 128},
    {"qwen3-30b-a3b", "num_key_value_heads", FIELD(kv_heads), 4},
    {"qwen3-30b-a3b", "head_dim", FIELD(head_dim), 128},
    {"qwen3-30b-a3b", "num_experts_per_tok", FIELD(experts_per_token), 8},
    {"mamba-codestral-7b", "head_dim", FIELD(ssm_head_dim), 64},
    {"mamba-codestral-7b", "n_groups", FIELD(ssm_groups), 8},
    {"mamba-codestral-7b", "conv_kernel", FIELD(ssm_conv), 4},
    {"mamba-codestral-7b", "chunk_size", FIELD(ssm_chunk), 256},
    {"nemotron-nano-9b", "mamba_head_dim", FIELD(ssm_head_dim), 64},
    {"nemotron-nano-9b", "ssm_state_size", FIELD(ssm_state), 128},
    {"nemotron-nano-9b", "n_groups", FIELD(ssm_groups), 8},
    {"nemotron-nano-9b", "conv_kernel", FIELD(ssm_conv), 4},
    {"nemotron-nano-9b", "chunk_size", FIELD(ssm_chunk), 128},
    {"t5-large", "n_positions", FIELD(sequence), 512},
    {"t5-large", "num_decoder_layers", FIELD(cross_layers), 24},
    {"t5-large", "d_ff", FIELD(ffn), 4 * 1024},
    {"bert-base", "type_vocab_size", FIELD(token_types), 2},
    {"gpt2", "n_inner", FIELD(ffn), 4 * 768},
    {"mpt-7b", "expansion_ratio", FIELD(ffn), 4 * 4096},
};

/* The file that lacks it is read as the one that says it; whatever it says besides. */
static void what_a_file_leaves_out(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_json_document *document = NULL;
        struct fr_workload w = {.n_layers = 0};
        struct fr_error err = {0};
        char path[512];
        snprintf(path, sizeof path, FR_SOURCE_DIR "/tests/models/hf/%s.json", rows[i].file);
        assert_int_equal(fr_json_read(path, &document, &err), FR_OK);
        fr_json_drop(document, rows[i].key);
        /* Heads that the class's key-value heads divide. */
        if (strcmp(rows[i].file, "qwen2-7b") == 0)
            assert_true(fr_json_set(document, "num_attention_heads", "32", "t", &err) ==
                            FR_OK &&
                        fr_json_set(document, "hidden_size", "4096", "t", &err) == FR_OK);
        FR_TRUE(fr_workload_read(document, &w, &err) == FR_OK, "%s without %s: %s: %s",
                rows[i].file, rows[i].key, err.where, err.detail);
        int64_t got;
        memcpy(&got, (const char *)&w.transformer + rows[i].field, sizeof got);
        FR_TRUE(got == rows[i].want, "%s without %s: %" PRId64 ", the class says %" PRId64,
                rows[i].file, rows[i].key, got, rows[i].want);
        fr_workload_free(&w);
        fr_json_free(document);
    }
}

/* A list of layers' kinds names some; of more layers than it names the rest slide no more, and what is no text ends it. */
static void lists_of_kinds_of_layers(void **state) {
    static const struct {
        const char *list;
        int64_t sliding; /* -1: refused */
    } lists[] = {{"[]", -1},
                 {"3", -1},
                 {"[\"full_attention\"]", 0},
                 {"[\"sliding_attention\"]", 1},
                 {"[\"full_attention\", \"sliding_attention\", \"sliding_attention\"]", 2},
                 {"[\"sliding_attention\", 1, \"sliding_attention\"]", 1}};
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct fr_json_document *document = NULL;
        struct fr_workload w = {.n_layers = 0};
        struct fr_error err = {0};
        assert_int_equal(
            fr_json_read(FR_SOURCE_DIR "/tests/models/hf/gemma-2-9b.json", &document, NULL),
            FR_OK);
        assert_int_equal(fr_json_set(document, "layer_types", lists[i].list, "t", NULL), FR_OK);
        fr_status status = fr_workload_read(document, &w, &err);
        FR_TRUE((status == FR_OK) == (lists[i].sliding >= 0), "%s: %s", lists[i].list,
                err.detail);
        if (status == FR_OK) {
            assert_int_equal(w.transformer.window_layers, lists[i].sliding);
            assert_int_equal(w.transformer.window, lists[i].sliding ? 4096 : 0);
        } else
            FR_TRUE(strstr(err.where, "layer_types"), "%s", err.where);
        fr_workload_free(&w);
        fr_json_free(document);
    }
}

/* Newer files of a hybrid name each layer's block by a word, older ones by a letter: random orders of blocks are the
 * same model either way.  A list that names no block, or is no list of texts, is refused with its place. */
static void blocks_by_word_and_by_letter(void **state) {
    static const char *const words[] = {"mamba", "attention", "mlp", "moe"};
    uint64_t dice = 71;
    (void)state;
    for (int round = 0; round < 60; round++) {
        char letters[40], list[800] = "[", quoted[48], layers[8];
        int n = 2 + (int)fr_test_random(&dice, 30);
        bool wrong = round % 6 == 5;
        for (int i = 0; i < n; i++) {
            int which = i == 0 ? 0 : i == 1 ? 3 : (int)fr_test_random(&dice, 4);
            letters[i] = "M*-E"[which];
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s\"%s\"", i ? "," : "",
                     wrong && i == n - 1 ? "moee" : words[which]);
        }
        letters[n] = '\0';
        strcat(list, "]");
        snprintf(quoted, sizeof quoted, "\"%s\"", letters);
        snprintf(layers, sizeof layers, "%d", n);
        struct fr_workload of[2] = {{.n_layers = 0}, {.n_layers = 0}};
        struct fr_error err = {0};
        for (int by_word = 0; by_word < 2; by_word++) {
            struct fr_json_document *document = NULL;
            const char *key = by_word ? "layers_block_type" : "hybrid_override_pattern";
            assert_int_equal(fr_json_read(FR_SOURCE_DIR "/tests/models/hf/nemotron-3-nano.json",
                                          &document, NULL),
                             FR_OK);
            fr_json_drop(document, "hybrid_override_pattern");
            assert_int_equal(fr_json_set(document, key, by_word ? list : quoted, "t", NULL),
                             FR_OK);
            assert_int_equal(fr_json_set(document, "num_hidden_layers", layers, "t", NULL),
                             FR_OK);
            fr_status status = fr_workload_read(document, &of[by_word], &err);
            if (by_word && wrong) {
                char place[64];
                snprintf(place, sizeof place, "layers_block_type/%d", n - 1);
                FR_TRUE(status == FR_ERR_INPUT && strstr(err.where, place) &&
                            strstr(err.detail, "\"moee\" names no block"),
                        "%s: %s", err.where, err.detail);
            } else
                FR_TRUE(status == FR_OK, "%s: %s: %s", by_word ? list : quoted, err.where,
                        err.detail);
            fr_json_free(document);
        }
        if (!wrong) {
            assert_string_equal(of[0].transformer.pattern, letters);
            assert_memory_equal(&of[0].transformer, &of[1].transformer,
                                sizeof of[0].transformer);
        }
        fr_workload_free(&of[0]);
        fr_workload_free(&of[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_file_leaves_out),
                                       cmocka_unit_test(lists_of_kinds_of_layers),
                                       cmocka_unit_test(blocks_by_word_and_by_letter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
