/* Sizes that all layers of a config.json have, their biases and norms, and their attention. */
#include <inttypes.h>
#include <string.h>

#include "models/workload/config/config.h"
#include "models/workload/hybrid.h"

static const char *const layers[] = {"num_hidden_layers", "num_layers", "n_layer", "n_layers",
                                     NULL};
static const char *const hidden[] = {"hidden_size", "n_embd", "d_model",
                                     "n_embed",     "dim",    NULL};
static const char *const heads[] = {"num_attention_heads", "n_head", "n_heads", "num_heads",
                                    NULL};
static const char *const kv_heads[] = {
    "num_key_value_heads",   "num_kv_heads",         "n_head_kv",  "n_kv_heads",
    "multi_query_group_num", "num_attention_groups", "kv_n_heads", NULL};
static const char *const head_dim[] = {"head_dim", "attention_head_dim", "kv_channels", NULL};
static const char *const ffn[] = {"intermediate_size_mlp",
                                  "dense_intermediate_size",
                                  "intermediate_size",
                                  "ffn_hidden_size",
                                  "ffn_dim",
                                  "n_inner",
                                  "d_ff",
                                  "block_ff_dim",
                                  "hidden_dim",
                                  "ff_intermediate_size",
                                  "mlp_hidden_size",
                                  NULL};
static const char *const vocabulary[] = {"vocab_size", "padded_vocab_size", NULL};
static const char *const sequence[] = {"max_position_embeddings",
                                       "max_sequence_length",
                                       "seq_length",
                                       "n_positions",
                                       "max_seq_len",
                                       "n_ctx",
                                       "max_seq_length",
                                       "seq_len",
                                       "model_max_length",
                                       NULL};

/* Liquid's files state the width before it is adjusted: two thirds of it, in steps. */
static fr_status adjust_ffn(const struct fr_config *c, struct fr_transformer *t,
                            struct fr_error *err) {
    struct fr_json times = fr_config_at(c, "block_ffn_dim_multiplier");
    bool adjusts = false;
    int64_t step = 256;
    double factor = 1;
    FR_TRY(fr_config_bool(c, "block_auto_adjust_ff_dim", &adjusts, err));
    if (!adjusts) return FR_OK;
    FR_TRY(fr_config_integer(c, FR_KEYS("block_multiple_of"), false, 1, &step, err));
    if (fr_json_is_number(&times)) FR_TRY(fr_json_number(&times, 1e-3, 1e3, &factor, err));
    const int64_t width = (int64_t)(factor * (double)(2 * t->ffn / 3));
    t->ffn = (width + step - 1) / step * step;
    return FR_OK;
}

/* A list of a width a layer: their mean, as sums over the layers count it. */
static fr_status read_ffn(const struct fr_config *c, bool required, struct fr_transformer *t,
                          struct fr_error *err) {
    struct fr_json list = fr_config_find(c, ffn);
    int64_t n = fr_json_array_length(&list), sum = 0, one = 0, times = 0;
    FR_TRY(fr_config_integer(c, FR_KEYS("_ffn_times"), false, 1, &times, err));
    if (!fr_json_present(&list) && times > 0) return t->ffn = times * t->hidden, FR_OK;
    if (!fr_json_present(&list)) /* of experts in all layers */
        FR_TRY(fr_config_integer(c, FR_KEYS("moe_intermediate_size", "expert_ffn_hidden_size"),
                                 false, 1, &t->ffn, err));
    if (!fr_json_present(&list) && t->ffn > 1) return FR_OK;
    if (!fr_json_present(&list) && required)
        return fr_json_get_integer(c->file, "intermediate_size", true, 1, FR_FAMILY_SIZE_MAX,
                                   &t->ffn, err);
    if (!fr_json_is_array(&list) || n < t->layers) {
        FR_TRY(fr_config_integer(c, ffn, required, 1, &t->ffn, err));
        return adjust_ffn(c, t, err);
    }
    for (int64_t i = 0; i < t->layers; i++) {
        struct fr_json node = fr_json_element(&list, i);
        FR_TRY(fr_json_integer(&node, 1, FR_FAMILY_SIZE_MAX, &one, err));
        sum += one;
    }
    t->ffn = (sum + t->layers / 2) / t->layers;
    return FR_OK;
}

/* Read the biases of the products, by the names that families have for them. */
static fr_status read_biases(const struct fr_config *c, struct fr_transformer *t,
                             struct fr_error *err) {
    static const char *const of_qkv[] = {"attention_bias", "qkv_bias",      "use_qkv_bias",
                                         "add_qkv_bias",   "attn_qkv_bias", "_qkv_bias"};
    static const char *const of_all[] = {"use_bias", "bias", "add_bias_linear", "_all_biases"};
    static const char *const of_mlp[] = {"mlp_bias", "use_mlp_bias"};
    bool all = false, mlp = false, out = false;
    for (int i = 0; i < 4; i++) {
        bool here = false;
        FR_TRY(fr_config_bool(c, of_all[i], &here, err));
        all = all || here;
    }
    for (int i = 0; i < 6; i++) {
        bool here = false;
        FR_TRY(fr_config_bool(c, of_qkv[i], &here, err));
        t->qkv_biases = t->qkv_biases || here;
        if (i == 0) out = here;
    }
    for (int i = 0; i < 2; i++) {
        bool here = false;
        FR_TRY(fr_config_bool(c, of_mlp[i], &here, err));
        mlp = mlp || here;
    }
    FR_TRY(fr_config_bool(c, "_out_bias", &out, err));
    FR_TRY(fr_config_bool(c, "attention_out_bias", &out, err));
    t->biases = all || (t->qkv_biases && out && mlp);
    if (t->biases) return FR_OK;
    double h = (double)t->hidden, f = (double)t->ffn;
    t->vectors += (out ? h : 0) + (mlp ? (t->gated ? 2 : 1) * f + h : 0);
    return FR_OK;
}

static fr_status read_norms(const struct fr_config *c, struct fr_transformer *t,
                            struct fr_error *err) {
    static const char *const of_heads[] = {"_qk_norms",    "use_qk_norm",      "qk_norm",
                                           "qk_layernorm", "use_qk_layernorm", "norm_qk"};
    int64_t norms = 2;
    for (int i = 0; i < 6; i++) FR_TRY(fr_config_bool(c, of_heads[i], &t->qk_norms, err));
    FR_TRY(fr_config_bool(c, "_layer_norm", &t->norm_biases, err));
    FR_TRY(fr_config_integer(c, FR_KEYS("_norms"), false, 0, &norms, err));
    t->vectors += (double)((norms - 2) * t->hidden);
    return FR_OK;
}

/* Without a gate where the activation says so, as no gated family has squared relu or plain relu. */
static fr_status read_gate(const struct fr_config *c, struct fr_transformer *t,
                           struct fr_error *err) {
    struct fr_json act = fr_config_find(
        c, FR_KEYS("hidden_act", "activation_function", "hidden_activation", "mlp_hidden_act"));
    const char *word = "";
    t->gated = true;
    if (fr_json_is_string(&act)) FR_TRY(fr_json_text(&act, &word, err));
    if (strncmp(word, "relu", 4) == 0) t->gated = false;
    return fr_config_bool(c, "_gated", &t->gated, err);
}

static fr_status read_depth(const struct fr_config *c, struct fr_transformer *t,
                            struct fr_error *err) {
    struct fr_json node = fr_config_find(c, layers);
    if (fr_json_present(&node))
        return fr_json_integer(&node, 1, FR_CONFIG_LAYERS, &t->layers, err);
    return fr_config_integer(c, layers, true, 1, &t->layers, err);
}

fr_status fr_config_read_sizes(const struct fr_config *c, struct fr_transformer *t,
                               struct fr_error *err) {
    bool mlp = true, tied = false, half = false;
    FR_TRY(read_depth(c, t, err));
    FR_TRY(fr_config_integer(c, hidden, true, 1, &t->hidden, err));
    FR_TRY(fr_config_integer(c, vocabulary, true, 1, &t->vocabulary, err));
    FR_TRY(fr_config_integer(c, sequence, true, 1, &t->sequence, err));
    FR_TRY(fr_config_bool(c, "_mlp", &mlp, err));
    t->ffn = 1;
    FR_TRY(read_ffn(c, mlp, t, err));
    FR_TRY(fr_config_bool(c, "_half_ffn", &half, err));
    if (half) t->ffn = (t->ffn + 1) / 2;
    FR_TRY(fr_config_bool(c, "tie_word_embeddings", &tied, err));
    t->tied = tied;
    FR_TRY(fr_config_bool(c, "_positions", &t->positions, err));
    FR_TRY(fr_config_bool(c, "_both_ways", &t->both_ways, err));
    FR_TRY(fr_config_bool(c, "_masked_head", &t->masked_head, err));
    FR_TRY(read_gate(c, t, err));
    FR_TRY(read_biases(c, t, err));
    return read_norms(c, t, err);
}

/* ---- attention ------------------------------------------------------------------------------------- */

static fr_status read_latents(const struct fr_config *c, struct fr_transformer *t,
                              struct fr_error *err) {
    int64_t nope = 0;
    FR_TRY(fr_config_integer(c, FR_KEYS("q_lora_rank"), false, 1, &t->q_latent, err));
    FR_TRY(fr_config_integer(c, FR_KEYS("kv_lora_rank"), true, 1, &t->kv_latent, err));
    FR_TRY(fr_config_integer(c, FR_KEYS("qk_nope_head_dim"), true, 1, &nope, err));
    FR_TRY(fr_config_integer(c, FR_KEYS("qk_rope_head_dim"), true, 1, &t->rope_dim, err));
    t->value_dim = t->hidden / t->heads; /* as MiniCPM3, whose files do not say it */
    FR_TRY(
        fr_config_integer(c, FR_KEYS("v_head_dim"), t->value_dim == 0, 1, &t->value_dim, err));
    t->head_dim = nope + t->rope_dim;
    t->kv_heads = t->heads; /* every head has keys of its own, whatever the file says */
    t->qk_norms = false;    /* the latents have norms */
    if (!fr_config_given(c, "index_topk")) return FR_OK;
    FR_TRY(fr_config_integer(c, FR_KEYS("index_topk"), true, 1, &t->index_tokens, err));
    FR_TRY(fr_config_integer(c, FR_KEYS("index_n_heads"), true, 1, &t->index_heads, err));
    return fr_config_integer(c, FR_KEYS("index_head_dim"), true, 1, &t->index_dim, err);
}

static fr_status check_heads(const struct fr_config *c, const struct fr_transformer *t,
                             struct fr_error *err) {
    struct fr_json of_heads = fr_config_find(c, heads), of_kv = fr_config_find(c, kv_heads);
    if (t->head_dim == 0 && t->hidden % t->heads != 0)
        return fr_json_fail(&of_heads, err,
                            "%" PRId64 " does not divide hidden_size = %" PRId64, t->heads,
                            t->hidden);
    if (t->heads % t->kv_heads != 0)
        return fr_json_fail(&of_kv, err,
                            "%" PRId64 " does not divide num_attention_heads = %" PRId64,
                            t->kv_heads, t->heads);
    return FR_OK;
}

fr_status fr_config_read_attention(const struct fr_config *c, struct fr_transformer *t,
                                   struct fr_error *err) {
    bool single = false;
    FR_TRY(fr_config_integer(c, heads, true, 1, &t->heads, err));
    t->kv_heads = t->heads;
    FR_TRY(fr_config_bool(c, "multi_query", &single, err));
    if (single) t->kv_heads = 1;
    FR_TRY(fr_config_integer(c, kv_heads, false, 1, &t->kv_heads, err));
    if (fr_config_given(c, "kv_lora_rank")) return read_latents(c, t, err);
    FR_TRY(fr_config_integer(c, head_dim, false, 1, &t->head_dim, err));
    FR_TRY(check_heads(c, t, err));
    if (t->head_dim == 0) t->head_dim = t->hidden / t->heads;
    FR_TRY(fr_config_integer(c, FR_KEYS("v_head_dim"), false, 1, &t->value_dim, err));
    if (t->value_dim == t->head_dim) t->value_dim = 0;
    FR_TRY(fr_config_bool(c, "_gate", &t->attention_gate, err));
    return fr_config_bool(c, "attn_output_gate", &t->attention_gate, err);
}
