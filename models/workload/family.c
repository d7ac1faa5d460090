#include "models/workload/family.h"

#include "base/json/key.h"
#include "models/workload/cache.h"
#include "models/workload/ssm.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "models/workload/adapters.h"
#include "models/workload/config/config.h"
#include "models/workload/hybrid.h"
#include "models/workload/optimizer.h"
#include "models/workload/packing.h"
#include "models/workload/predicted.h"
#include "models/workload/routing.h"

enum { MOST = FR_FAMILY_SIZE_MAX };

#define FR_FAMILY(name) extern const struct fr_family fr_family_##name;
#include "models/workload/family_list.h"
#undef FR_FAMILY

static const struct fr_family keyed[] = {
#define FR_KEYED(type, class, tokens, words, nested, help)                                     \
    {.name = #type,                                                                            \
     .architecture = class,                                                                    \
     .sequence = tokens,                                                                       \
     .defaults = words,                                                                        \
     .sizes = nested,                                                                          \
     .summary = help},
#include "models/workload/keyed_list.h"
#undef FR_KEYED
};
enum {
#define FR_KEYED(type, ...) KEYED_##type,
#include "models/workload/keyed_list.h"
#undef FR_KEYED
};

const struct fr_family *const fr_families[] = {
#define FR_FAMILY(name) &fr_family_##name,
#include "models/workload/family_list.h"
#undef FR_FAMILY
#define FR_KEYED(type, ...) &keyed[KEYED_##type],
#include "models/workload/keyed_list.h"
#undef FR_KEYED
    NULL};

/* Present and not null. */
static bool given(const struct fr_json *parent, const char *key) {
    struct fr_json member = fr_json_member(parent, key);
    return fr_json_present(&member) && !fr_json_is_null(&member);
}

fr_status fr_family_integer(const struct fr_json *config, const char *key, bool required,
                            int64_t max, int64_t *out, struct fr_error *err) {
    if (!required && !given(config, key)) return FR_OK;
    return fr_json_get_integer(config, key, true, 1, max, out, err);
}

fr_status fr_family_bool(const struct fr_json *config, const char *key, bool *out,
                         struct fr_error *err) {
    return given(config, key) ? fr_json_get_bool(config, key, true, out, err) : FR_OK;
}

fr_status fr_family_dropout(const struct fr_json *config, const char *of_scores,
                            const char *of_residuals, bool *out, struct fr_error *err) {
    const char *const keys[] = {of_scores, of_residuals};
    *out = false;
    for (int k = 0; k < 2; k++) {
        double share = 0;
        if (given(config, keys[k]))
            FR_TRY(fr_json_get_number(config, keys[k], true, 0, 1, &share, err));
        *out = *out || !given(config, keys[k]) || share > 0;
    }
    return FR_OK;
}

fr_status fr_family_read_rotary(const struct fr_json *config, struct fr_transformer *t,
                                struct fr_error *err) {
    struct fr_json heads = fr_json_member(config, "num_attention_heads");
    struct fr_json kv_heads = fr_json_member(config, "num_key_value_heads");
    t->gated = true;
    FR_TRY(fr_family_integer(config, "num_hidden_layers", true, 100000, &t->layers, err));
    FR_TRY(fr_family_integer(config, "hidden_size", true, MOST, &t->hidden, err));
    FR_TRY(fr_family_integer(config, "intermediate_size", true, MOST, &t->ffn, err));
    FR_TRY(fr_family_integer(config, "num_attention_heads", !t->heads, MOST, &t->heads, err));
    FR_TRY(fr_family_integer(config, "vocab_size", !t->vocabulary, MOST, &t->vocabulary, err));
    FR_TRY(fr_family_integer(config, "max_position_embeddings", !t->sequence, MOST,
                             &t->sequence, err));
    FR_TRY(fr_family_integer(config, "head_dim", false, MOST, &t->head_dim, err));
    FR_TRY(fr_family_bool(config, "tie_word_embeddings", &t->tied, err));
    /* The number that is the default of an absent key is not that of null. */
    if (t->kv_heads == 0 || fr_json_present(&kv_heads)) t->kv_heads = t->heads;
    FR_TRY(fr_family_integer(config, "num_key_value_heads", false, MOST, &t->kv_heads, err));
    if (t->head_dim == 0 && t->hidden % t->heads != 0)
        return fr_json_fail(&heads, err, "%" PRId64 " does not divide hidden_size = %" PRId64,
                            t->heads, t->hidden);
    if (t->head_dim == 0) t->head_dim = t->hidden / t->heads;
    if (t->heads % t->kv_heads != 0)
        return fr_json_fail(&kv_heads, err,
                            "%" PRId64 " does not divide num_attention_heads = %" PRId64,
                            t->kv_heads, t->heads);
    return FR_OK;
}

static fr_status either(const struct fr_json *config, const char *const keys[2], bool required,
                        int64_t *out, struct fr_error *err) {
    bool second = keys[1] && given(config, keys[1]) && !given(config, keys[0]);
    return fr_family_integer(config, keys[second], required, MOST, out, err);
}

fr_status fr_family_check_heads(const struct fr_json *config, const char *key,
                                const struct fr_transformer *t, struct fr_error *err) {
    struct fr_json node = fr_json_member(config, key);
    if (t->heads % t->kv_heads == 0) return FR_OK;
    return fr_json_fail(&node, err, "%" PRId64 " key-value heads do not divide %" PRId64,
                        t->kv_heads, t->heads);
}

const struct fr_family_sizes fr_family_usual_sizes = {.layers = {"num_hidden_layers"},
                                                      .hidden = {"hidden_size"},
                                                      .heads = {"num_attention_heads"},
                                                      .ffn = "intermediate_size",
                                                      .sequence = {"max_position_embeddings"}};

fr_status fr_family_read_sizes(const struct fr_json *config, const struct fr_family_sizes *keys,
                               struct fr_transformer *t, struct fr_error *err) {
    struct fr_json heads = fr_json_member(config, keys->heads[0]);
    FR_TRY(either(config, keys->layers, true, &t->layers, err));
    FR_TRY(either(config, keys->hidden, true, &t->hidden, err));
    FR_TRY(either(config, keys->heads, true, &t->heads, err));
    FR_TRY(either(config, keys->sequence, !t->sequence, &t->sequence, err));
    FR_TRY(fr_family_integer(config, "vocab_size", true, MOST, &t->vocabulary, err));
    FR_TRY(fr_family_bool(config, "tie_word_embeddings", &t->tied, err));
    if (keys->head_dim)
        FR_TRY(fr_family_integer(config, keys->head_dim, true, MOST, &t->head_dim, err));
    t->ffn = 4 * t->hidden;
    if (keys->ffn) FR_TRY(fr_family_integer(config, keys->ffn, false, MOST, &t->ffn, err));
    t->kv_heads = t->heads;
    if (t->head_dim == 0 && t->hidden % t->heads != 0)
        return fr_json_fail(&heads, err, "%" PRId64 " does not divide %s = %" PRId64, t->heads,
                            keys->hidden[0], t->hidden);
    if (t->head_dim == 0) t->head_dim = t->hidden / t->heads;
    return FR_OK;
}

fr_status fr_family_read_experts(const struct fr_json *config,
                                 const struct fr_family_experts *keys, struct fr_transformer *t,
                                 struct fr_error *err) {
    struct fr_json chosen = fr_json_member(config, keys->chosen);
    FR_TRY(fr_family_integer(config, keys->count, true, 1 << 20, &t->experts, err));
    FR_TRY(fr_family_integer(config, keys->chosen, false, 1 << 20, &t->experts_per_token, err));
    FR_TRY(fr_family_integer(config, keys->width, true, MOST, &t->expert_ffn, err));
    if (t->experts_per_token > t->experts)
        return fr_json_fail(&chosen, err, "a token cannot go to more than %" PRId64 " experts",
                            t->experts);
    return FR_OK;
}

fr_status fr_family_read_scan(const struct fr_json *config, struct fr_transformer *t,
                              struct fr_error *err) {
    struct fr_json groups = fr_json_member(config, "n_groups");
    FR_TRY(fr_family_integer(config, "n_groups", false, MOST, &t->ssm_groups, err));
    FR_TRY(fr_family_integer(config, "conv_kernel", false, MOST, &t->ssm_conv, err));
    FR_TRY(fr_family_integer(config, "chunk_size", false, MOST, &t->ssm_chunk, err));
    return fr_ssm_check(&groups, t, err);
}

fr_status fr_family_refuse_biases(const struct fr_json *config, struct fr_error *err) {
    static const char *const keys[] = {"attention_bias", "mlp_bias"};
    for (int i = 0; i < 2; i++) {
        struct fr_json member = fr_json_member(config, keys[i]);
        bool biases = false;
        FR_TRY(fr_family_bool(config, keys[i], &biases, err));
        if (biases) return fr_json_fail(&member, err, "such biases are not priced yet");
    }
    return FR_OK;
}

bool fr_family_is_config(const struct fr_json *root) {
    struct fr_json kind = fr_json_member(root, "kind");
    const bool sizes =
        given(root, "vocab_size") && (given(root, "hidden_size") || given(root, "d_model"));
    return !fr_json_present(&kind) &&
           (given(root, "model_type") || given(root, "architectures") || sizes);
}

/* Type that the file states; NULL: none. */
static fr_status type_of(const struct fr_json *config, const char **type,
                         struct fr_error *err) {
    struct fr_json model_type = fr_json_member(config, "model_type");
    struct fr_json architectures = fr_json_member(config, "architectures");
    struct fr_json first = fr_json_element(&architectures, 0);
    *type = NULL;
    if (given(config, "model_type")) return fr_json_text(&model_type, type, err);
    if (!given(config, "architectures")) return FR_OK;
    FR_TRY(fr_json_array(&architectures, 1, 64, err));
    return fr_json_text(&first, type, err);
}

/* The family of the file, or NULL, which is no error yet. */
static fr_status family_of(const struct fr_json *config, const struct fr_family **family,
                           struct fr_error *err) {
    const char *type = NULL;
    *family = NULL;
    FR_TRY(type_of(config, &type, err));
    for (int i = 0; type && fr_families[i] && !*family; i++)
        if (strcmp(type, fr_families[i]->name) == 0 ||
            strcmp(type, fr_families[i]->architecture) == 0)
            *family = fr_families[i];
    return FR_OK;
}

static bool among(const char *const *keys, const char *key) {
    while (*keys && strcmp(*keys, key) != 0) keys++;
    return *keys != NULL;
}

/* --set model.layers=8 must not be ignored as a stranger's key would be.  Some of our names are theirs. */
static fr_status refuse_ours(const struct fr_json *root, struct fr_error *err) {
    static const char *const theirs[] = {"sequence",
                                         "head_dim",
                                         "experts_per_token",
                                         "lora_rank",
                                         "lora_on",
                                         "lora_exchange",
                                         "document",
                                         "predicted_tokens",
                                         "activation_store",
                                         "capacity",
                                         "imbalance",
                                         "balance",
                                         "cached",
                                         NULL};
    struct fr_json optimizer = fr_json_member(root, "optimizer");
    if (fr_json_present(&optimizer))
        return fr_json_fail(&optimizer, err,
                            "is not read beside a Hugging Face config; use optimizer_state");
    for (int i = 0; fr_kind_transformer.keys[i].name; i++) {
        const char *key = fr_kind_transformer.keys[i].name;
        struct fr_json member = fr_json_member(root, key);
        if (!fr_json_present(&member) || among(theirs, key)) continue;
        return fr_json_fail(&member, err,
                            "is not read beside a Hugging Face config; use its own key");
    }
    return FR_OK;
}

/* Keys that some family reads, or that are ours; others of kind transformer have an answer of
 * their own. */
static const char *const settable[] = {"num_hidden_layers",
                                       "hidden_size",
                                       "intermediate_size",
                                       "num_attention_heads",
                                       "num_key_value_heads",
                                       "head_dim",
                                       "vocab_size",
                                       "max_position_embeddings",
                                       "tie_word_embeddings",
                                       "attention_bias",
                                       "mlp_bias",
                                       "model_type",
                                       "architectures",
                                       "text_config",
                                       "n_layer",
                                       "n_embd",
                                       "n_head",
                                       "n_inner",
                                       "n_positions",
                                       "n_ctx",
                                       "ffn_dim",
                                       "seq_length",
                                       "n_embed",
                                       "d_model",
                                       "n_layers",
                                       "n_heads",
                                       "max_seq_len",
                                       "expansion_ratio",
                                       "num_layers",
                                       "num_decoder_layers",
                                       "num_heads",
                                       "d_kv",
                                       "d_ff",
                                       "multi_query",
                                       "num_kv_heads",
                                       "num_experts_per_tok",
                                       "moe_intermediate_size",
                                       "add_cross_attention",
                                       "attn_pdrop",
                                       "resid_pdrop",
                                       "sliding_window",
                                       "use_sliding_window",
                                       "max_window_layers",
                                       "num_experts",
                                       "num_local_experts",
                                       "n_routed_experts",
                                       "n_shared_experts",
                                       "first_k_dense_replace",
                                       "shared_expert_intermediate_size",
                                       "q_lora_rank",
                                       "kv_lora_rank",
                                       "qk_nope_head_dim",
                                       "qk_rope_head_dim",
                                       "v_head_dim",
                                       "type_vocab_size",
                                       "n_groups",
                                       "conv_kernel",
                                       "chunk_size",
                                       "state_size",
                                       "ssm_state_size",
                                       "mamba_num_heads",
                                       "mamba_head_dim",
                                       "hybrid_override_pattern",
                                       "moe_shared_expert_intermediate_size",
                                       "torch_dtype",
                                       "name",
                                       "source",
                                       "sequence",
                                       "dtype",
                                       "gradient_dtype",
                                       "weight_dtype",
                                       "fp8_scaling",
                                       "attention_dtype",
                                       "logits_dtype",
                                       "capacity",
                                       "imbalance",
                                       "balance",
                                       "optimizer",
                                       "optimizer_state",
                                       "global_batch",
                                       "iterations",
                                       "defaults",
                                       "attn_layer_period",
                                       "attn_layer_offset",
                                       "layer_types",
                                       "layers_block_type",
                                       "block_types",
                                       "attn_layer_indices",
                                       "full_attn_idxs",
                                       "full_attn_layers",
                                       "attn_type_list",
                                       "full_attention_interval",
                                       "layer_group_size",
                                       "hybrid_layer_pattern",
                                       "sliding_window_pattern",
                                       "global_attn_every_n_layers",
                                       "attention_window_size",
                                       "sliding_window_size",
                                       "attention_chunk_size",
                                       "linear_num_value_heads",
                                       "linear_value_head_dim",
                                       "linear_num_key_heads",
                                       "linear_key_head_dim",
                                       "linear_conv_kernel_dim",
                                       "linear_attn_config",
                                       "short_conv_kernel_size",
                                       "mamba_d_state",
                                       "mamba_d_conv",
                                       "mamba_expand",
                                       "expand",
                                       "mamba_dt_rank",
                                       "time_step_rank",
                                       "mamba_n_heads",
                                       "mamba_n_groups",
                                       "mamba_ngroups",
                                       "mamba_chunk_size",
                                       "mamba_d_head",
                                       "mamba_headdim",
                                       "mamba_d_ssm",
                                       "conv_L_cache",
                                       "lru_width",
                                       "conv1d_width",
                                       "moe_num_experts",
                                       "num_routed_experts",
                                       "num_experts_per_token",
                                       "top_k_experts",
                                       "moe_topk",
                                       "moe_k",
                                       "moe_top_k",
                                       "moe_router_topk",
                                       "num_selected_experts",
                                       "expert_ffn_hidden_size",
                                       "moe_ffn_hidden_size",
                                       "expert_intermediate_size",
                                       "expert_ffn_dim",
                                       "ffn_hidden_size",
                                       "num_shared_experts",
                                       "num_shared_expert",
                                       "moe_num_shared_experts",
                                       "share_expert_dim",
                                       "shared_intermediate_size",
                                       "num_dense_layers",
                                       "n_dense_layers",
                                       "moe_layer_start_index",
                                       "first_k_dense",
                                       "n_group",
                                       "topk_group",
                                       "moe_layer_freq",
                                       "decoder_sparse_step",
                                       "interleave_moe_layer_step",
                                       "moe_layer_interval",
                                       "moe_layer_end_index",
                                       "expert_layer_period",
                                       "expert_layer_offset",
                                       "mlp_only_layers",
                                       "moe_layers",
                                       "moe_layers_enum",
                                       "mlp_layer_types",
                                       "enable_moe_block",
                                       "global_head_dim",
                                       "num_global_key_value_heads",
                                       "swa_num_attention_heads",
                                       "swa_num_key_value_heads",
                                       "swa_head_dim",
                                       "swa_v_head_dim",
                                       "attention_k_eq_v",
                                       "index_topk",
                                       "layer_norm_eps",
                                       "layer_norm_epsilon",
                                       "ffn_config",
                                       "attn_config",
                                       "dim",
                                       "n_head_kv",
                                       "n_kv_heads",
                                       "multi_query_group_num",
                                       "num_attention_groups",
                                       "kv_n_heads",
                                       "attention_head_dim",
                                       "kv_channels",
                                       "intermediate_size_mlp",
                                       "dense_intermediate_size",
                                       "block_ff_dim",
                                       "hidden_dim",
                                       "padded_vocab_size",
                                       "max_sequence_length",
                                       "max_seq_length",
                                       "seq_len",
                                       "qkv_bias",
                                       "use_qkv_bias",
                                       "add_qkv_bias",
                                       "attn_qkv_bias",
                                       "use_bias",
                                       "bias",
                                       "add_bias_linear",
                                       "use_mlp_bias",
                                       "attention_out_bias",
                                       "use_qk_norm",
                                       "qk_norm",
                                       "qk_layernorm",
                                       "use_qk_layernorm",
                                       "norm_qk",
                                       "hidden_act",
                                       "activation_function",
                                       "hidden_activation",
                                       "mlp_hidden_act",
                                       "index_n_heads",
                                       "index_head_dim",
                                       "attn_output_gate",
                                       "hidden_size_per_layer_input",
                                       "altup_num_inputs",
                                       "block_configs",
                                       "num_query_heads",
                                       "num_mem_blocks",
                                       "hybrid_layer_ids",
                                       "moe_latent_size",
                                       "compress_ratios",
                                       "hc_mult",
                                       "attention_hidden_size",
                                       "num_heads_per_layer",
                                       "share_q_dim",
                                       "cross_attention_layers",
                                       "is_encoder_decoder",
                                       "ff_intermediate_size",
                                       "mlp_hidden_size",
                                       "model_max_length",
                                       "moe_layer_frequency",
                                       "parallel_attn_mlp_res",
                                       "zero_expert_num",
                                       "block_auto_adjust_ff_dim",
                                       "blocksparse_block_size",
                                       "attention_experts",
                                       "o_lora_rank",
                                       NULL};

fr_status fr_family_check_set(const struct fr_json *root, const char *path,
                              struct fr_error *err) {
    const char *dot = strchr(path, '.');
    char key[96];
    snprintf(key, sizeof key, "%.*s", (int)(dot ? dot - path : (ptrdiff_t)strlen(path)), path);
    struct fr_json member = fr_json_member(root, key);
    if (dot && strcmp(key, "text_config") == 0)
        return fr_family_check_set(&member, dot + 1, err);
    if (fr_json_present(&member) || among(settable, key) ||
        fr_json_key_find(fr_kind_transformer.keys, key))
        return FR_OK;
    const char *near = fr_suggest(key, settable);
    return fr_fail(err, FR_ERR_USAGE, "--set",
                   "\"model.%s\": the config has no such key, and none is read%s%s%s", path,
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* torch's spellings, then ours.  torch_dtype is what the weights are stored in; a model is trained in
 * bf16 today, whatever that is, unless `dtype` says otherwise. */
static fr_status read_dtype(const struct fr_json *root, const struct fr_json *config,
                            bool modern, fr_dtype *dtype, bool *stated, struct fr_error *err) {
    static const fr_dtype torch[] = {FR_FP64, FR_FP32, FR_BF16, FR_FP16};
    const char *names[4 + FR_DTYPE_COUNT + 1] = {"float64", "float32", "bfloat16", "float16"};
    const struct fr_json *objects[] = {root, config};
    static const char *const keys[] = {"dtype", "torch_dtype"};
    for (int i = 0; i < FR_DTYPE_COUNT; i++) names[4 + i] = fr_dtype_names[i];
    *dtype = modern ? FR_BF16 : FR_FP32;
    *stated = false;
    for (int i = 0; i < 4 && !*stated; i++) {
        int which = 0;
        if (!given(objects[i / 2], keys[i % 2])) continue;
        FR_TRY(fr_json_get_choice(objects[i / 2], keys[i % 2], true, names, &which, err));
        if (modern && i % 2 == 1) continue;
        *dtype = which < 4 ? torch[which] : (fr_dtype)(which - 4);
        *stated = true;
    }
    return FR_OK;
}

/* Name: ours, else the last part of _name_or_path where it fits, else the family's. */
static fr_status read_name(const struct fr_json *root, const struct fr_json *config,
                           const struct fr_family *family, struct fr_workload *workload,
                           struct fr_error *err) {
    const struct fr_json *from = given(root, "_name_or_path") ? root : config;
    struct fr_json node = fr_json_member(from, "_name_or_path");
    const char *path = "";
    if (fr_json_is_string(&node)) FR_TRY(fr_json_text(&node, &path, err));
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    bool fits = *last && *last != '.' && strlen(last) < sizeof workload->name;
    snprintf(workload->name, sizeof workload->name, "%s", fits ? last : family->name);
    if (!given(root, "name")) return FR_OK;
    return fr_json_get_string(root, "name", true, workload->name, sizeof workload->name, err);
}

/* Weights of 16 bits are trained with fp32 gradients, master weights and two moments. */
static fr_status read_training(const struct fr_json *root, struct fr_workload *workload,
                               const struct fr_family *family, struct fr_error *err) {
    struct fr_transformer *t = &workload->transformer;
    bool mixed = fr_dtype_size_B(workload->dtype) < 4;
    int gradient = mixed ? (int)FR_FP32 : (int)workload->dtype;
    workload->optimizer_state_B = mixed ? 12 : 8;
    workload->global_batch = 256;
    FR_TRY(fr_json_get_choice(root, "gradient_dtype", false, fr_dtype_names, &gradient, err));
    workload->gradient_dtype = (fr_dtype)gradient;
    FR_TRY(fr_workload_read_weights(root, workload, err));
    FR_TRY(fr_optimizer_read_state(root, workload, err));
    int64_t usual = family->sequence;
    workload->sequence_assumed = !given(root, "sequence");
    if (workload->sequence_assumed && usual && usual < t->sequence) t->sequence = usual;
    FR_TRY(fr_json_get_integer(root, "sequence", false, 1, t->positions ? t->sequence : MOST,
                               &t->sequence, err));
    return fr_json_get_integer(root, "global_batch", false, 1, (int64_t)1 << 40,
                               &workload->global_batch, err);
}

/* Add the parts that the file has and the answer has not: towers, modules that predict further tokens. */
static void add_left_out(const struct fr_json *root, const struct fr_json *config,
                         const struct fr_workload *workload, const char *name,
                         struct fr_text *text) {
    static const char *const towers[] = {"vision_config", "audio_config", "speech_config",
                                         "vision_tower", "vision_tower_config"};
    static const char *const modules[] = {"num_nextn_predict_layers", "num_mtp_modules",
                                          "mtp_num_hidden_layers", "num_mtp_layers"};
    for (int i = 0; i < 5; i++)
        if (given(root, towers[i])) fr_text_addf(text, ", without its %s", towers[i]);
    for (int i = 0; i < 4 && workload->transformer.predicted == 0; i++) {
        double n = fr_json_number_at(config, modules[i]);
        if (i == 3 && !(n > 0) && strcmp(name, "qwen3_next") == 0) n = 1; /* no key says it */
        if (n > 0)
            fr_text_addf(text,
                         ", without its %g modules of further tokens (--set "
                         "model.predicted_tokens=%g)",
                         n, n);
    }
}

static fr_status read_config(const struct fr_json *root, const struct fr_json *config,
                             const struct fr_family *family, struct fr_workload *workload,
                             struct fr_error *err) {
    struct fr_transformer *t = &workload->transformer;
    bool stated = false;
    workload->kind = &fr_kind_transformer;
    workload->modern = true;
    FR_TRY(fr_workload_read_defaults(root, workload, err));
    FR_TRY(refuse_ours(root, err));
    FR_TRY(family->read ? family->read(config, t, err)
                        : fr_config_read(config, family, root != config, t, err));
    if (!given(config, "tie_word_embeddings"))
        FR_TRY(fr_family_bool(root, "tie_word_embeddings", &t->tied, err));
    FR_TRY(read_dtype(root, config, workload->modern, &workload->dtype, &stated, err));
    FR_TRY(fr_adapters_read(root, t, err));
    FR_TRY(fr_predicted_read(root, t, err));
    FR_TRY(fr_cache_read(root, t, err));
    FR_TRY(fr_document_read(root, t, err));
    FR_TRY(fr_routing_read(root, t, err));
    FR_TRY(fr_workload_read_store(root, t, err));
    FR_TRY(fr_hybrid_check(root, t, err));
    FR_TRY(read_name(root, config, family, workload, err));
    FR_TRY(read_training(root, workload, family, err));
    struct fr_text left_out = {0};
    add_left_out(root, config, workload, family->name, &left_out);
    snprintf(workload->source, sizeof workload->source,
             "Hugging Face config.json, family %s%s%s%s%s%s, sequence %" PRId64 ", %s%s",
             family->name, family->note ? family->note : "", root == config ? "" : ", its ",
             root == config ? "" : config->key, root == config ? "" : " only",
             fr_text_get(&left_out), t->sequence, fr_dtype_names[workload->dtype],
             stated             ? ""
             : workload->modern ? " with fp32 master weights, as is usual"
                                : " as it names no torch_dtype");
    fr_text_free(&left_out);
    return FR_OK;
}

/* Read a model of no known family, which has layers. */
static fr_status read_unknown(const struct fr_json *root, const struct fr_json *config,
                              struct fr_workload *workload, struct fr_error *err) {
    const char *type = NULL;
    const struct fr_family *like = fr_config_nearest(config);
    FR_TRY(type_of(config, &type, err));
    struct fr_family own = *like;
    char note[128];
    snprintf(note, sizeof note, " (not known, read like %s by its keys)", like->name);
    own.name = type ? type : "unnamed";
    own.note = note;
    FR_TRY(read_config(root, config, &own, workload, err));
    snprintf(workload->read_like, sizeof workload->read_like, "%s", like->name);
    return FR_OK;
}

fr_status fr_family_read(const struct fr_json *root, struct fr_workload *workload,
                         struct fr_error *err) {
    static const char *const inner[] = {"text_config", "llm_config", "language_config",
                                        "thinker_config"};
    const struct fr_family *family = NULL;
    FR_TRY(family_of(root, &family, err));
    if (family) return read_config(root, root, family, workload, err);
    for (int i = 0; i < 4; i++) {
        struct fr_json text = fr_json_member(root, inner[i]),
                       deeper = fr_json_member(&text, "text_config");
        if (!fr_json_is_object(&text)) continue;
        const struct fr_json *config = fr_json_is_object(&deeper) ? &deeper : &text;
        FR_TRY(family_of(config, &family, err));
        return family ? read_config(root, config, family, workload, err)
                      : read_unknown(root, config, workload, err);
    }
    return read_unknown(root, root, workload, err);
}
