/* A transformer from a config.json's keys: sizes, mixers and experts, put together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/workload/attention.h"
#include "models/workload/config/config.h"
#include "models/workload/hybrid.h"

/* Words "key value key value" as members of @p document. */
static fr_status set_words(const char *words, struct fr_json_document *document,
                           struct fr_error *err) {
    char key[64], value[128];
    int used = 0;
    for (const char *at = words; at && sscanf(at, " %63s %127s%n", key, value, &used) == 2;
         at += used)
        FR_TRY(fr_json_set(document, key, value, "its family's default", err));
    return FR_OK;
}

/* ---- layers ---------------------------------------------------------------------------------------- */

enum { TWICE = 4 }; /* blocks of a layer with two attentions besides its experts */

/* The layers as letters, @p blocks each. */
static int64_t letters_of(const struct fr_transformer *t, const struct fr_config_layers *l,
                          char *out) {
    int64_t blocks =
        (l->mixer[0] == '2' ? 2 : 1) + (l->mlp[0] ? 1 : 0) + (l->twice ? TWICE - 1 : 0);
    char *at = out;
    for (int64_t i = 0; i < t->layers; i++) {
        if (l->twice) { /* LongCat's: experts beside two attentions and two MLPs */
            memcpy(at, "*-*-", TWICE);
            at += TWICE;
            *at++ = l->mlp[i];
            continue;
        }
        if (l->mixer[i] == '2') *at++ = 'M';
        *at++ = l->mixer[i] == '2' ? '*' : l->mixer[i];
        if (l->mlp[i]) *at++ = l->mlp[i];
    }
    *at = '\0';
    return blocks;
}

/* Layers after which the letters are those from the beginning on, as far as a pattern can hold them. */
static int64_t period_of(const char *letters, int64_t blocks, int64_t layers) {
    int64_t all = layers * blocks;
    for (int64_t p = 1; p < layers && p * blocks < FR_PATTERN_MAX; p++) {
        bool repeats = true;
        for (int64_t i = p * blocks; i < all && repeats; i++)
            repeats = letters[i] == letters[i - p * blocks];
        if (repeats) return p;
    }
    return layers;
}

/* Attention in all layers, then an MLP in the first ones and experts behind: a plain transformer. */
static bool is_plain(const struct fr_transformer *t, const struct fr_config_layers *l,
                     int64_t *dense) {
    *dense = 0;
    for (int64_t i = 0; i < t->layers; i++) {
        if (l->mixer[i] != '*' || !l->mlp[i]) return false;
        if (l->mlp[i] == '-' && i > *dense) return false;
        *dense += l->mlp[i] == '-';
    }
    if (*dense == t->layers) *dense = 0;
    return true;
}

static fr_status arrange(const struct fr_config *c, struct fr_transformer *t,
                         const struct fr_config_layers *l, struct fr_error *err) {
    if (!l->twice && is_plain(t, l, &t->dense_layers)) return FR_OK;
    char *letters = fr_calloc((size_t)((TWICE + 1) * t->layers + 1), 1);
    if (!letters) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    int64_t blocks = letters_of(t, l, letters), period = period_of(letters, blocks, t->layers);
    struct fr_json place = fr_json_member(c->file, "layer_types");
    t->dense_layers = 0;
    t->blocks = blocks > 1 ? blocks : 0;
    snprintf(t->pattern, sizeof t->pattern, "%s", letters);
    if (period * blocks < (int64_t)sizeof t->pattern) t->pattern[period * blocks] = '\0';
    free(letters);
    if (period * blocks >= (int64_t)sizeof t->pattern)
        return fr_json_fail(
            &place, err,
            "the order of %d layers' blocks does not repeat, and %d letters are "
            "the most that are priced",
            (int)t->layers, (int)sizeof t->pattern - 1);
    return FR_OK;
}

/* Layers with a window, or those without, have heads of other sizes. */
static fr_status read_others(const struct fr_config *c, struct fr_transformer *t,
                             const struct fr_config_layers *l, struct fr_error *err) {
    static const char *const global_dim[] = {"global_head_dim", NULL},
                             *const global_kv[] = {"num_global_key_value_heads", NULL},
                             *const swa_heads[] = {"swa_num_attention_heads", NULL},
                             *const swa_kv[] = {"swa_num_key_value_heads", NULL},
                             *const swa_dim[] = {"swa_head_dim", NULL},
                             *const swa_value[] = {"swa_v_head_dim", NULL};
    bool global = fr_config_given(c, "global_head_dim") ||
                  fr_config_given(c, "num_global_key_value_heads"),
         slides = fr_config_given(c, "swa_num_key_value_heads") ||
                  fr_config_given(c, "swa_head_dim"),
         same = false;
    if ((!global && !slides) || t->window == 0) return FR_OK;
    t->other_heads = t->heads;
    t->other_kv_heads = t->kv_heads;
    t->other_head_dim = t->head_dim;
    t->other_value_dim = fr_attention_value_dim(t);
    for (int64_t i = 0; i < t->layers; i++)
        t->other_layers += l->mixer[i] == '*' && l->sliding[i] == slides;
    if (slides) {
        FR_TRY(fr_config_integer(c, swa_heads, false, 1, &t->other_heads, err));
        FR_TRY(fr_config_integer(c, swa_kv, false, 1, &t->other_kv_heads, err));
        FR_TRY(fr_config_integer(c, swa_dim, false, 1, &t->other_head_dim, err));
        t->other_value_dim = t->value_dim ? t->value_dim : t->other_head_dim;
        return fr_config_integer(c, swa_value, false, 1, &t->other_value_dim, err);
    }
    FR_TRY(fr_config_integer(c, global_dim, false, 1, &t->other_head_dim, err));
    t->other_value_dim = t->other_head_dim;
    FR_TRY(fr_config_bool(c, "attention_k_eq_v", &same, err));
    if (same) FR_TRY(fr_config_integer(c, global_kv, false, 1, &t->other_kv_heads, err));
    t->other_keys_only = same; /* values are the keys */
    return FR_OK;
}

/* An MLP beside the experts of each layer is an expert that all share. */
static fr_status read_beside(const struct fr_config *c, struct fr_transformer *t,
                             struct fr_error *err) {
    bool beside = false;
    FR_TRY(fr_config_bool(c, "_beside", &beside, err));
    if (beside && t->experts > 0) t->shared_ffn += t->ffn;
    return FR_OK;
}

static fr_status read_layers(const struct fr_config *c, struct fr_transformer *t,
                             struct fr_config_layers *layers, struct fr_error *err) {
    FR_TRY(fr_config_refuse_unpriced(c, err));
    FR_TRY(fr_config_read_sizes(c, t, err));
    FR_TRY(fr_config_read_mixers(c, t, layers, err));
    FR_TRY(fr_config_read_mixture(c, t, layers, err));
    FR_TRY(read_others(c, t, layers, err));
    FR_TRY(read_beside(c, t, err));
    FR_TRY(fr_config_bool(c, "_twice", &layers->twice, err));
    return arrange(c, t, layers, err);
}

static fr_status read_all(const struct fr_config *c, struct fr_transformer *t,
                          struct fr_error *err) {
    struct fr_config_layers *layers = fr_calloc(1, sizeof *layers);
    if (!layers) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = read_layers(c, t, layers, err);
    free(layers);
    return status;
}

/* By what the keys say of its blocks. */
const struct fr_family *fr_config_nearest(const struct fr_json *config) {
    static const struct {
        const char *key, *like;
    } signs[] = {
        {"type_vocab_size", "bert"},
        {"index_topk", "deepseek_v32"},
        {"linear_attn_config", "kimi_linear"},
        {"kv_lora_rank", "deepseek_v3"},
        {"linear_num_value_heads", "qwen3_next"},
        {"ssm_cfg", "mamba"},
        {"mamba_n_heads", "bamba"},
        {"mamba_dt_rank", "jamba"},
        {"hybrid_override_pattern", "nemotron_h"},
        {"conv_L_cache", "lfm2"},
        {"num_experts_per_tok", "qwen3_moe"},
        {"num_experts", "qwen3_moe"},
        {"num_local_experts", "mixtral"},
        {"n_routed_experts", "dots1"},
        {"moe_num_experts", "ernie4_5_moe"},
        {"n_embd", "gpt2"},
        {"layer_norm_eps", "stablelm"},
        {"layer_norm_epsilon", "stablelm"},
    };
    const char *like = "llama";
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        struct fr_json node = fr_json_member(config, signs[i].key);
        if (!fr_json_present(&node) || fr_json_is_null(&node)) continue;
        like = signs[i].like;
        break;
    }
    for (const struct fr_family *const *f = fr_families;; f++)
        if (strcmp((*f)->name, like) == 0) return *f;
}

fr_status fr_config_read(const struct fr_json *config, const struct fr_family *family,
                         bool nested, struct fr_transformer *t, struct fr_error *err) {
    static const char *const inner[FR_CONFIG_INNER] = {"ffn_config", "attn_config",
                                                       "linear_attn_config"};
    struct fr_json_document *document = NULL;
    struct fr_config c = {.file = config};
    *t = (struct fr_transformer){0};
    FR_TRY(fr_json_parse("{}", 2, "defaults", &document, err));
    fr_status status = nested ? set_words(family->sizes, document, err) : FR_OK;
    if (status == FR_OK) status = set_words(family->defaults, document, err);
    c.defaults = fr_json_root(document);
    for (int i = 0; i < FR_CONFIG_INNER; i++) c.inner[i] = fr_json_member(config, inner[i]);
    if (status == FR_OK) status = read_all(&c, t, err);
    fr_json_free(document);
    return status;
}
