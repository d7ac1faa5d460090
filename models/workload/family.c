#include "models/workload/family.h"

#include "base/json/key.h"
#include "models/workload/ssm.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "models/workload/adapters.h"
#include "models/workload/hybrid.h"
#include "models/workload/optimizer.h"
#include "models/workload/packing.h"
#include "models/workload/predicted.h"

enum { MOST = FR_FAMILY_SIZE_MAX };

#define FR_FAMILY(name) extern const struct fr_family fr_family_##name;
#include "models/workload/family_list.h"
#undef FR_FAMILY

const struct fr_family *const fr_families[] = {
#define FR_FAMILY(name) &fr_family_##name,
#include "models/workload/family_list.h"
#undef FR_FAMILY
    NULL};

/* Present and not null. */
static bool given(const struct fr_json *parent, const char *key) {
    struct fr_json member = fr_json_member(parent, key);
    bool truth;
    return fr_json_is_number(&member) || fr_json_is_string(&member) ||
           fr_json_is_object(&member) || fr_json_is_array(&member) ||
           (fr_json_present(&member) &&
            fr_json_get_bool(parent, key, true, &truth, NULL) == FR_OK);
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

/* `layer_types`, where the file has it, names each layer's. */
static fr_status count_sliding(const struct fr_json *config, const struct fr_transformer *t,
                               int64_t *layers, struct fr_error *err) {
    struct fr_json types = fr_json_member(config, "layer_types");
    if (!given(config, "layer_types")) return FR_OK;
    FR_TRY(fr_json_array(&types, 1, MOST, err));
    *layers = 0;
    for (int64_t i = 0; i < t->layers; i++) {
        struct fr_json one = fr_json_element(&types, (size_t)i);
        const char *type = "";
        if (!fr_json_is_string(&one)) break;
        FR_TRY(fr_json_text(&one, &type, err));
        *layers += strcmp(type, "sliding_attention") == 0;
    }
    return FR_OK;
}

fr_status fr_family_read_window(const struct fr_json *config, int64_t absent, int64_t layers,
                                struct fr_transformer *t, struct fr_error *err) {
    int64_t window = absent;
    FR_TRY(fr_family_integer(config, "sliding_window", false, MOST, &window, err));
    FR_TRY(count_sliding(config, t, &layers, err));
    if (window == 0 || layers <= 0) return FR_OK;
    t->window = window;
    t->window_layers = layers < t->layers ? layers : t->layers;
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

fr_status fr_family_refuse_dense(const struct fr_json *config, struct fr_error *err) {
    struct fr_json dense = fr_json_member(config, "mlp_only_layers"),
                   step = fr_json_member(config, "decoder_sparse_step");
    int64_t every = 1;
    FR_TRY(fr_family_integer(config, "decoder_sparse_step", false, 1000, &every, err));
    if (every == 1 && fr_json_array_length(&dense) <= 0) return FR_OK;
    return fr_json_fail(every > 1 ? &step : &dense, err,
                        "dense layers among mixtures of experts are not priced yet");
}

bool fr_family_is_config(const struct fr_json *root) {
    struct fr_json kind = fr_json_member(root, "kind");
    return !fr_json_present(&kind) &&
           (given(root, "model_type") || given(root, "architectures"));
}

static fr_status refuse_experts(const struct fr_json *config, struct fr_error *err) {
    static const char *const keys[] = {"num_experts", "num_local_experts", "n_routed_experts"};
    for (int i = 0; i < 3; i++) {
        struct fr_json member = fr_json_member(config, keys[i]);
        int64_t experts = 0;
        if (!given(config, keys[i])) continue;
        FR_TRY(fr_json_integer(&member, 0, MOST, &experts, err));
        if (experts > 1)
            return fr_json_fail(&member, err, "mixture of experts is not priced yet");
    }
    return FR_OK;
}

/* What the file calls itself; NULL: nothing. */
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
    return *family && (*family)->experts ? FR_OK : refuse_experts(config, err);
}

static fr_status refuse_unknown(const struct fr_json *root, struct fr_error *err) {
    struct fr_json place =
        fr_json_member(root, given(root, "model_type") ? "model_type" : "architectures");
    struct fr_text known = {0};
    const char *type = NULL;
    FR_TRY(type_of(root, &type, err));
    for (int i = 0; fr_families[i]; i++)
        fr_text_addf(&known, "%s%s", i ? ", " : "", fr_families[i]->name);
    fr_status status = fr_json_fail(&place, err, "family \"%.40s\" is not known; known: %s",
                                    type ? type : "", fr_text_get(&known));
    fr_text_free(&known);
    return status;
}

static bool among(const char *const *keys, const char *key) {
    while (*keys && strcmp(*keys, key) != 0) keys++;
    return *keys != NULL;
}

/* --set model.layers=8 must not be ignored as a stranger's key would be.  Some of our names are theirs. */
static fr_status refuse_ours(const struct fr_json *root, struct fr_error *err) {
    static const char *const theirs[] = {
        "sequence",      "head_dim", "experts_per_token", "lora_rank",        "lora_on",
        "lora_exchange", "document", "predicted_tokens",  "activation_store", NULL};
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
                                       "optimizer",
                                       "optimizer_state",
                                       "global_batch",
                                       "iterations",
                                       "defaults",
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
                            bool modern, fr_dtype *dtype, bool *said, struct fr_error *err) {
    static const fr_dtype torch[] = {FR_FP64, FR_FP32, FR_BF16, FR_FP16};
    const char *names[4 + FR_DTYPE_COUNT + 1] = {"float64", "float32", "bfloat16", "float16"};
    const struct fr_json *objects[] = {root, config};
    static const char *const keys[] = {"dtype", "torch_dtype"};
    for (int i = 0; i < FR_DTYPE_COUNT; i++) names[4 + i] = fr_dtype_names[i];
    *dtype = modern ? FR_BF16 : FR_FP32;
    *said = false;
    for (int i = 0; i < 4 && !*said; i++) {
        int which = 0;
        if (!given(objects[i / 2], keys[i % 2])) continue;
        FR_TRY(fr_json_get_choice(objects[i / 2], keys[i % 2], true, names, &which, err));
        if (modern && i % 2 == 1) continue;
        *dtype = which < 4 ? torch[which] : (fr_dtype)(which - 4);
        *said = true;
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
    workload->gradient_said = given(root, "gradient_dtype");
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

static fr_status read_config(const struct fr_json *root, const struct fr_json *config,
                             const struct fr_family *family, struct fr_workload *workload,
                             struct fr_error *err) {
    struct fr_transformer *t = &workload->transformer;
    bool said = false;
    workload->kind = &fr_kind_transformer;
    workload->modern = true;
    FR_TRY(fr_workload_read_defaults(root, workload, err));
    FR_TRY(refuse_ours(root, err));
    FR_TRY(family->read(config, t, err));
    if (!given(config, "tie_word_embeddings"))
        FR_TRY(fr_family_bool(root, "tie_word_embeddings", &t->tied, err));
    FR_TRY(read_dtype(root, config, workload->modern, &workload->dtype, &said, err));
    FR_TRY(fr_adapters_read(root, t, err));
    FR_TRY(fr_predicted_read(root, t, err));
    FR_TRY(fr_document_read(root, t, err));
    FR_TRY(fr_workload_read_store(root, t, err));
    FR_TRY(fr_hybrid_check(root, t, err));
    FR_TRY(read_name(root, config, family, workload, err));
    FR_TRY(read_training(root, workload, family, err));
    snprintf(workload->source, sizeof workload->source,
             "Hugging Face config.json, family %s%s, sequence %" PRId64 ", %s%s", family->name,
             root == config ? "" : ", its text_config only", t->sequence,
             fr_dtype_names[workload->dtype],
             said               ? ""
             : workload->modern ? " with fp32 master weights, as is usual"
                                : " as it names no torch_dtype");
    return FR_OK;
}

fr_status fr_family_read(const struct fr_json *root, struct fr_workload *workload,
                         struct fr_error *err) {
    struct fr_json text = fr_json_member(root, "text_config");
    const struct fr_family *family = NULL;
    FR_TRY(family_of(root, &family, err));
    if (family) return read_config(root, root, family, workload, err);
    if (fr_json_is_object(&text)) FR_TRY(family_of(&text, &family, err));
    if (family) return read_config(root, &text, family, workload, err);
    return refuse_unknown(root, err);
}
