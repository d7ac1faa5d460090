/* Which mixer stands in each layer of a config.json: attention, all or with a window, or a recurrent block. */
#include <inttypes.h>
#include <string.h>

#include "models/workload/config/config.h"
#include "models/workload/ssm.h"

/* ---- words of a list ------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    char letter;
    bool sliding;
} words[] = {
    {"full_attention", '*', false},
    {"attention", '*', false},
    {"global_attention", '*', false},
    {"global", '*', false},
    {"sliding_attention", '*', true},
    {"sliding_window", '*', true},
    {"chunked_attention", '*', true},
    {"local_attention", '*', true},
    {"local", '*', true},
    {"deepseek_sparse_attention", '*', false},
    {"linear_attention", 'M', false},
    {"mamba", 'M', false},
    {"mamba2", 'M', false},
    {"conv", 'M', false},
    {"recurrent", 'M', false},
    {"kda", 'M', false},
    {"gated_delta_net", 'M', false},
    {"lightning_attention", 'M', false},
};

static fr_status take_word(const struct fr_json *node, int64_t i, struct fr_config_layers *l,
                           struct fr_error *err) {
    const char *word = NULL;
    FR_TRY(fr_json_text(node, &word, err));
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        if (strcmp(word, words[k].word) != 0) continue;
        l->mixer[i] = words[k].letter;
        l->sliding[i] = words[k].sliding;
        return FR_OK;
    }
    return fr_json_fail(node, err,
                        "layers of \"%.40s\" are not priced yet; known are full_attention, "
                        "sliding_attention, linear_attention, mamba, conv: --set the list, or "
                        "null for attention in all",
                        word);
}

/* A list of words, a layer each: layers that it does not name attend to all, and what is no word ends it; of
 * @p repeated ones it begins again. */
static fr_status read_words(const struct fr_json *list, bool repeated,
                            const struct fr_transformer *t, struct fr_config_layers *l,
                            struct fr_error *err) {
    FR_TRY(fr_json_array(list, 1, FR_FAMILY_SIZE_MAX, err));
    int64_t n = fr_json_array_length(list);
    for (int64_t i = 0; i < t->layers; i++) {
        struct fr_json one = fr_json_element(list, repeated ? i % n : i);
        if (!fr_json_is_string(&one)) break;
        FR_TRY(take_word(&one, i, l, err));
    }
    return FR_OK;
}

/* ---- rules ----------------------------------------------------------------------------------------- */

/* All recurrent but each @p interval-th, and what is behind the last whole group (@p rest). */
static void by_interval(int64_t interval, bool rest, const struct fr_transformer *t,
                        struct fr_config_layers *l) {
    for (int64_t i = 0; i < t->layers; i++) {
        bool attends =
            (i + 1) % interval == 0 || (rest && i >= t->layers / interval * interval);
        l->mixer[i] = attends ? '*' : 'M';
    }
}

static void by_list(const struct fr_json *attending, int64_t first,
                    const struct fr_transformer *t, struct fr_config_layers *l) {
    for (int64_t i = 0; i < t->layers; i++)
        l->mixer[i] = fr_config_lists(attending, i + first) ? '*' : 'M';
}

/* A list of numbers, a layer each, @p attends for attention. */
static fr_status by_number(const struct fr_json *list, int64_t attends,
                           const struct fr_transformer *t, struct fr_config_layers *l,
                           struct fr_error *err) {
    for (int64_t i = 0; i < t->layers && i < fr_json_array_length(list); i++) {
        struct fr_json one = fr_json_element(list, i);
        int64_t value = 0;
        FR_TRY(fr_json_integer(&one, 0, 1, &value, err));
        l->mixer[i] = value == attends ? '*' : 'M';
    }
    return FR_OK;
}

static fr_status by_period(const struct fr_config *c, const struct fr_transformer *t,
                           struct fr_config_layers *l, struct fr_error *err) {
    int64_t period = 1, offset = 0;
    FR_TRY(fr_config_integer(c, FR_KEYS("attn_layer_period"), true, 1, &period, err));
    FR_TRY(fr_config_integer(c, FR_KEYS("attn_layer_offset"), false, 0, &offset, err));
    for (int64_t i = 0; i < t->layers; i++) l->mixer[i] = i % period == offset ? '*' : 'M';
    return FR_OK;
}

/* Letters that the layers repeat. */
static fr_status read_letters(const struct fr_json *node, const char **letters,
                              struct fr_error *err) {
    FR_TRY(fr_json_text(node, letters, err));
    return **letters ? FR_OK : fr_json_fail(node, err, "has no letters");
}

static fr_status by_letters(const struct fr_json *node, const struct fr_transformer *t,
                            struct fr_config_layers *l, struct fr_error *err) {
    const char *letters = NULL;
    FR_TRY(read_letters(node, &letters, err));
    for (int64_t i = 0; i < t->layers; i++) l->mixer[i] = letters[(size_t)i % strlen(letters)];
    return FR_OK;
}

/* Layers are attention unless a rule says otherwise. */
static fr_status read_rules(const struct fr_config *c, const struct fr_transformer *t,
                            struct fr_config_layers *l, struct fr_error *err) {
    struct fr_json named = fr_config_find(c, FR_KEYS("layer_types", "layers_block_type")),
                   cycle = fr_config_find(c, FR_KEYS("block_types", "_block_types")),
                   letters = fr_config_at(c, "_mixers"),
                   attending =
                       fr_config_find(c, FR_KEYS("attn_layer_indices", "full_attn_idxs")),
                   counted = fr_config_at(c, "full_attn_layers"),
                   numbers = fr_config_at(c, "attn_type_list");
    int64_t interval = 0, group = 0;
    memset(l->mixer, '*', sizeof l->mixer);
    if (fr_json_is_string(&letters)) return by_letters(&letters, t, l, err);
    if (fr_json_present(&named)) return read_words(&named, false, t, l, err);
    if (fr_json_present(&cycle)) return read_words(&cycle, true, t, l, err);
    if (fr_json_is_array(&attending)) by_list(&attending, 0, t, l);
    if (fr_json_is_array(&counted)) by_list(&counted, 1, t, l);
    if (fr_json_is_array(&numbers)) FR_TRY(by_number(&numbers, 1, t, l, err));
    if (fr_config_given(c, "attn_layer_period")) FR_TRY(by_period(c, t, l, err));
    FR_TRY(fr_config_integer(c, FR_KEYS("full_attention_interval"), false, 1, &interval, err));
    if (interval) by_interval(interval, false, t, l);
    FR_TRY(fr_config_integer(c, FR_KEYS("layer_group_size"), false, 1, &group, err));
    if (group > 1) by_interval(group, true, t, l);
    return FR_OK;
}

/* ---- windows --------------------------------------------------------------------------------------- */

static fr_status slide(const struct fr_config *c, const struct fr_transformer *t,
                       struct fr_config_layers *l, struct fr_error *err) {
    struct fr_json named = fr_config_find(c, FR_KEYS("layer_types")),
                   numbers = fr_config_at(c, "hybrid_layer_pattern"),
                   pattern = fr_config_find(c, FR_KEYS("sliding_window_pattern", "_sliding"));
    const char *letters = NULL;
    int64_t nth = 0, first = -1, global = 0;
    if (fr_json_is_array(&named)) return FR_OK; /* they say it */
    FR_TRY(fr_config_integer(c, FR_KEYS("global_attn_every_n_layers"), false, 1, &global, err));
    FR_TRY(fr_config_integer(c, FR_KEYS("max_window_layers"), false, 0, &first, err));
    if (fr_json_is_string(&pattern))
        FR_TRY(read_letters(&pattern, &letters, err));
    else if (fr_json_is_number(&pattern))
        FR_TRY(fr_json_integer(&pattern, 0, 1000, &nth, err));
    for (int64_t i = 0; i < t->layers; i++) {
        struct fr_json one = fr_json_element(&numbers, i);
        int64_t number = 0;
        if (fr_json_is_number(&one)) FR_TRY(fr_json_integer(&one, 0, 1, &number, err));
        l->sliding[i] = fr_json_is_array(&numbers) ? number == 1
                        : letters                  ? letters[(size_t)i % strlen(letters)] == 'L'
                        : nth > 1                  ? (i + 1) % nth != 0
                        : global > 0               ? i % global != 0
                        : first >= 0               ? i >= first
                                                   : true;
    }
    return FR_OK;
}

static fr_status read_window(const struct fr_config *c, struct fr_transformer *t,
                             struct fr_config_layers *l, struct fr_error *err) {
    static const char *const keys[] = {"sliding_window",       "attention_window_size",
                                       "sliding_window_size",  "local_attention",
                                       "attention_chunk_size", NULL};
    int64_t window = 0;
    bool slides = true;
    FR_TRY(fr_config_bool(c, "use_sliding_window", &slides, err));
    struct fr_json node = fr_config_find(c, keys);
    if (fr_json_is_number(&node))
        FR_TRY(fr_json_integer(&node, 0, FR_FAMILY_SIZE_MAX, &window, err));
    if (!slides || window == 0) return FR_OK;
    FR_TRY(slide(c, t, l, err));
    for (int64_t i = 0; i < t->layers; i++)
        t->window_layers += l->mixer[i] == '*' && l->sliding[i];
    t->window = t->window_layers ? window : 0;
    t->window_chunks = strcmp(node.key, "attention_chunk_size") == 0;
    return FR_OK;
}

/* ---- sizes of recurrent blocks ---------------------------------------------------------------------- */

static fr_status read_delta(const struct fr_config *c, struct fr_transformer *t,
                            struct fr_error *err) {
    t->ssm_conv = 4;
    t->ssm_chunk = 64;
    FR_TRY(
        fr_config_integer(c, FR_KEYS("linear_num_value_heads"), true, 1, &t->ssm_heads, err));
    FR_TRY(
        fr_config_integer(c, FR_KEYS("linear_value_head_dim"), true, 1, &t->ssm_head_dim, err));
    FR_TRY(fr_config_integer(c, FR_KEYS("linear_num_key_heads"), true, 1, &t->ssm_groups, err));
    FR_TRY(fr_config_integer(c, FR_KEYS("linear_key_head_dim"), true, 1, &t->ssm_state, err));
    return fr_config_integer(c, FR_KEYS("linear_conv_kernel_dim"), false, 1, &t->ssm_conv, err);
}

static fr_status read_channel_delta(const struct fr_config *c, struct fr_transformer *t,
                                    struct fr_error *err) {
    struct fr_json own = fr_json_member(c->file, "linear_attn_config");
    const struct fr_config inner = {.file = &own};
    t->ssm_conv = 4;
    t->ssm_chunk = 64;
    FR_TRY(fr_config_integer(&inner, FR_KEYS("num_heads"), true, 1, &t->ssm_heads, err));
    FR_TRY(fr_config_integer(&inner, FR_KEYS("head_dim"), true, 1, &t->ssm_head_dim, err));
    FR_TRY(fr_config_integer(&inner, FR_KEYS("short_conv_kernel_size"), false, 1, &t->ssm_conv,
                             err));
    t->ssm_groups = t->ssm_heads;
    t->ssm_state = t->ssm_rank = t->ssm_head_dim;
    return FR_OK;
}

static fr_status read_linear(const struct fr_config *c, struct fr_transformer *t,
                             struct fr_error *err) {
    (void)c;
    (void)err;
    t->ssm_heads = t->ssm_groups = t->heads;
    t->ssm_head_dim = t->ssm_state = t->head_dim;
    t->ssm_chunk = 256;
    return FR_OK;
}

static fr_status read_mamba(const struct fr_config *c, struct fr_transformer *t,
                            struct fr_error *err) {
    static const char *const state[] = {"mamba_d_state", "state_size", NULL},
                             *const conv[] = {"mamba_d_conv", "conv_kernel", NULL},
                             *const expand[] = {"mamba_expand", "expand", NULL},
                             *const ranks[] = {"mamba_dt_rank", "time_step_rank", NULL};
    int64_t twice = 2;
    struct fr_json rank = fr_config_find(c, ranks);
    t->ssm_state = 16;
    t->ssm_conv = 4;
    t->ssm_chunk = 256;
    t->ssm_rank = (t->hidden + 15) / 16; /* "auto" */
    FR_TRY(fr_config_integer(c, state, false, 1, &t->ssm_state, err));
    FR_TRY(fr_config_integer(c, conv, false, 1, &t->ssm_conv, err));
    FR_TRY(fr_config_integer(c, expand, false, 1, &twice, err));
    if (fr_json_is_number(&rank))
        FR_TRY(fr_json_integer(&rank, 1, FR_FAMILY_SIZE_MAX, &t->ssm_rank, err));
    t->ssm_heads = t->ssm_groups = twice * t->hidden;
    t->ssm_head_dim = 1;
    return FR_OK;
}

static fr_status read_mamba2(const struct fr_config *c, struct fr_transformer *t,
                             struct fr_error *err) {
    static const char *const heads[] = {"mamba_n_heads", "mamba_num_heads", NULL},
                             *const groups[] = {"mamba_n_groups", "n_groups", "mamba_ngroups",
                                                NULL},
                             *const state[] = {"mamba_d_state", "ssm_state_size", "state_size",
                                               NULL},
                             *const conv[] = {"mamba_d_conv", "conv_kernel", NULL},
                             *const chunk[] = {"mamba_chunk_size", "chunk_size", NULL};
    struct fr_json dim = fr_config_find(
                       c, FR_KEYS("mamba_d_head", "mamba_head_dim", "mamba_headdim")),
                   at = fr_config_find(c, heads);
    int64_t twice = 2, inner = 0;
    t->ssm_groups = 1;
    t->ssm_state = 128;
    t->ssm_conv = 4;
    t->ssm_chunk = 256;
    FR_TRY(fr_config_integer(c, heads, true, 1, &t->ssm_heads, err));
    FR_TRY(fr_config_integer(c, groups, false, 1, &t->ssm_groups, err));
    FR_TRY(fr_config_integer(c, state, false, 1, &t->ssm_state, err));
    FR_TRY(fr_config_integer(c, conv, false, 1, &t->ssm_conv, err));
    FR_TRY(fr_config_integer(c, chunk, false, 1, &t->ssm_chunk, err));
    FR_TRY(fr_config_integer(c, FR_KEYS("mamba_expand", "expand"), false, 1, &twice, err));
    inner = twice * t->hidden;
    FR_TRY(fr_config_integer(c, FR_KEYS("mamba_d_ssm"), false, 1, &inner, err));
    t->ssm_head_dim = inner / t->ssm_heads; /* "auto" */
    if (t->ssm_head_dim == 0) return fr_json_fail(&at, err, "is more than %" PRId64, inner);
    if (fr_json_is_number(&dim))
        FR_TRY(fr_json_integer(&dim, 1, FR_FAMILY_SIZE_MAX, &t->ssm_head_dim, err));
    return fr_ssm_check(&at, t, err);
}

static fr_status read_convolution(const struct fr_config *c, struct fr_transformer *t,
                                  struct fr_error *err) {
    t->ssm_heads = t->ssm_groups = t->hidden;
    t->ssm_head_dim = t->ssm_state = 1;
    t->ssm_chunk = 256;
    t->ssm_conv = 3;
    return fr_config_integer(c, FR_KEYS("conv_L_cache"), false, 1, &t->ssm_conv, err);
}

static fr_status read_gated(const struct fr_config *c, struct fr_transformer *t,
                            struct fr_error *err) {
    int64_t width = t->hidden;
    FR_TRY(fr_config_integer(c, FR_KEYS("lru_width"), false, 1, &width, err));
    t->ssm_heads = t->ssm_groups = t->heads;
    t->ssm_head_dim = width / t->heads;
    t->ssm_state = 1;
    t->ssm_chunk = 256;
    t->ssm_conv = 4;
    return fr_config_integer(c, FR_KEYS("conv1d_width"), false, 1, &t->ssm_conv, err);
}

/* By which key a file has one. */
static const struct {
    const char *key;
    fr_status (*read)(const struct fr_config *c, struct fr_transformer *t,
                      struct fr_error *err);
} recurrent[FR_SSM_KINDS] = {
    [FR_SSM_MAMBA2] = {"mamba_n_heads", read_mamba2},
    [FR_SSM_DELTA] = {"linear_num_value_heads", read_delta},
    [FR_SSM_CHANNEL_DELTA] = {"linear_attn_config", read_channel_delta},
    [FR_SSM_LINEAR] = {"attn_type_list", read_linear},
    [FR_SSM_MAMBA] = {"mamba_dt_rank", read_mamba},
    [FR_SSM_CONVOLUTION] = {"conv_L_cache", read_convolution},
    [FR_SSM_GATED] = {"lru_width", read_gated},
};

static fr_status read_recurrent(const struct fr_config *c, struct fr_transformer *t,
                                struct fr_error *err) {
    int64_t kind = -1;
    for (int k = 0; k < FR_SSM_KINDS && kind < 0; k++)
        if (fr_config_given(c, recurrent[k].key)) kind = k;
    FR_TRY(fr_config_integer(c, FR_KEYS("_recurrent"), false, 0, &kind, err));
    struct fr_json place = fr_json_member(c->file, "layer_types");
    if (kind < 0)
        return fr_json_fail(&place, err,
                            "names recurrent layers, and no key says which; priced are those "
                            "with linear_num_value_heads, linear_attn_config, mamba_n_heads, "
                            "mamba_dt_rank, conv_L_cache, lru_width or attn_type_list");
    t->ssm_kind = kind;
    return recurrent[kind].read(c, t, err);
}

fr_status fr_config_read_mixers(const struct fr_config *c, struct fr_transformer *t,
                                struct fr_config_layers *l, struct fr_error *err) {
    bool attends = false, recurs = false, both = false;
    FR_TRY(read_rules(c, t, l, err));
    FR_TRY(fr_config_bool(c, "_parallel", &both, err));
    for (int64_t i = 0; i < t->layers; i++) {
        if (both) l->mixer[i] = '2';
        attends = attends || l->mixer[i] != 'M';
        recurs = recurs || l->mixer[i] != '*';
    }
    if (attends) FR_TRY(fr_config_read_attention(c, t, err));
    if (!attends) t->heads = t->kv_heads = t->head_dim = 1;
    if (recurs) FR_TRY(read_recurrent(c, t, err));
    return attends ? read_window(c, t, l, err) : FR_OK;
}
