/* Which layers of a config.json have experts, how many, how wide, and what they share. */
#include <inttypes.h>
#include <string.h>

#include "models/workload/config/config.h"

static const char *const count[] = {"num_experts",     "num_local_experts",  "n_routed_experts",
                                    "moe_num_experts", "num_routed_experts", NULL};
static const char *const chosen[] = {
    "num_experts_per_tok", "num_experts_per_token", "top_k_experts",        "moe_topk", "moe_k",
    "moe_top_k",           "moe_router_topk",       "num_selected_experts", NULL};
static const char *const width[] = {"moe_intermediate_size", "expert_ffn_hidden_size",
                                    "moe_ffn_hidden_size",   "expert_intermediate_size",
                                    "expert_ffn_dim",        "ffn_hidden_size",
                                    "intermediate_size",     NULL};
static const char *const shares[] = {"n_shared_experts",  "num_shared_experts",
                                     "num_shared_expert", "moe_num_shared_experts",
                                     "_shared",           NULL};
static const char *const shared_width[] = {
    "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
    "share_expert_dim", "shared_intermediate_size", NULL};
static const char *const dense_first[] = {"first_k_dense_replace", "num_dense_layers",
                                          "n_dense_layers",        "moe_layer_start_index",
                                          "first_k_dense",         NULL};

/* A number a layer is the first one's, as published files have them all alike. */
static fr_status first_of(const struct fr_config *c, const char *const *keys, bool required,
                          int64_t least, int64_t *out, struct fr_error *err) {
    struct fr_json node = fr_config_find(c, keys), one = fr_json_element(&node, 0);
    if (fr_json_is_array(&node))
        return fr_json_integer(&one, least, FR_FAMILY_SIZE_MAX, out, err);
    return fr_config_integer(c, keys, required, least, out, err);
}

static fr_status read_groups(const struct fr_config *c, struct fr_transformer *t,
                             struct fr_error *err) {
    struct fr_json node = fr_config_at(c, "n_group");
    int64_t groups = 1, most = 1;
    FR_TRY(fr_config_integer(c, FR_KEYS("n_group"), false, 0, &groups, err));
    if (groups <= 1) return FR_OK;
    if (t->experts % groups != 0)
        return fr_json_fail(&node, err, "does not divide %" PRId64 " experts", t->experts);
    FR_TRY(fr_config_integer(c, FR_KEYS("topk_group"), true, 1, &most, err));
    t->expert_groups = groups;
    t->groups_per_token = most < groups ? most : groups;
    return FR_OK;
}

static fr_status read_experts(const struct fr_config *c, struct fr_transformer *t,
                              struct fr_error *err) {
    struct fr_json of_chosen = fr_config_find(c, chosen);
    int64_t shared = 0, idle = 0;
    bool beside = false;
    FR_TRY(first_of(c, chosen, true, 1, &t->experts_per_token, err));
    FR_TRY(first_of(c, width, true, 1, &t->expert_ffn, err));
    FR_TRY(first_of(c, shares, false, 0, &shared, err));
    if (t->experts_per_token > t->experts)
        return fr_json_fail(&of_chosen, err,
                            "a token cannot go to more than %" PRId64 " experts", t->experts);
    t->shared_ffn = shared * t->expert_ffn;
    FR_TRY(first_of(c, shared_width, false, 0, &t->shared_ffn, err));
    FR_TRY(fr_config_bool(c, "parallel_attn_mlp_res", &beside, err));
    if (beside) t->shared_ffn += t->hidden; /* Arctic's, beside the experts of each layer */
    FR_TRY(fr_config_integer(c, FR_KEYS("zero_expert_num"), false, 0, &idle, err));
    if (idle > 0) /* a token's share of experts that pass it on as it is */
        t->experts_per_token =
            (t->experts_per_token * t->experts + t->experts + idle - 1) / (t->experts + idle);
    return read_groups(c, t, err);
}

/* "dense" or "sparse" a layer, or 0 or 1. */
static fr_status sparse_at(const struct fr_json *list, int64_t i, bool *sparse,
                           struct fr_error *err) {
    struct fr_json one = fr_json_element(list, i);
    const char *word = NULL;
    int64_t value = 0;
    if (fr_json_is_string(&one)) {
        FR_TRY(fr_json_text(&one, &word, err));
        *sparse = strcmp(word, "dense") != 0 && strcmp(word, "mlp") != 0;
    } else if (fr_json_is_number(&one)) {
        FR_TRY(fr_json_integer(&one, 0, 1, &value, err));
        *sparse = value == 1;
    }
    return FR_OK;
}

/* Numbers that rules are made of. */
struct rule {
    int64_t first, every, step, interleave, interval, end, period, offset;
};

static fr_status read_rule(const struct fr_config *c, const struct fr_transformer *t,
                           struct rule *r, struct fr_error *err) {
    struct fr_json every = fr_config_at(c, "moe_layer_freq");
    *r = (struct rule){.every = 1,
                       .step = 1,
                       .interleave = 1,
                       .interval = 1,
                       .end = t->layers - 1,
                       .period = 1};
    FR_TRY(first_of(c, dense_first, false, 0, &r->first, err));
    if (fr_json_is_number(&every)) FR_TRY(fr_json_integer(&every, 1, 1000, &r->every, err));
    FR_TRY(fr_config_integer(c, FR_KEYS("decoder_sparse_step"), false, 0, &r->step, err));
    FR_TRY(fr_config_integer(c, FR_KEYS("interleave_moe_layer_step"), false, 1, &r->interleave,
                             err));
    FR_TRY(first_of(c, FR_KEYS("moe_layer_interval", "moe_layer_frequency"), false, 1,
                    &r->interval, err));
    struct fr_json end = fr_config_at(c, "moe_layer_end_index");
    if (fr_json_is_number(&end)) /* -1: the last */
        FR_TRY(fr_json_integer(&end, -1, FR_FAMILY_SIZE_MAX, &r->end, err));
    if (r->end < 0) r->end = t->layers - 1;
    FR_TRY(fr_config_integer(c, FR_KEYS("expert_layer_period"), false, 1, &r->period, err));
    return fr_config_integer(c, FR_KEYS("expert_layer_offset"), false, 0, &r->offset, err);
}

/* Has layer @p i experts?  Each rule is that of the configuration class that has the key. */
static bool by_rule(const struct rule *r, int64_t i) {
    return i >= r->first && i <= r->end && i % r->every == 0 && r->step > 0 &&
           (i + 1) % r->step == 0 && (i + 1) % r->interleave == 0 &&
           (i + 1) % r->interval == 0 && i % r->period == r->offset % r->period;
}

static fr_status place_experts(const struct fr_config *c, const struct fr_transformer *t,
                               struct fr_config_layers *l, struct fr_error *err) {
    struct fr_json dense = fr_config_at(c, "mlp_only_layers"),
                   mixed = fr_config_find(c, FR_KEYS("moe_layers", "moe_layers_enum")),
                   each = fr_config_find(c, FR_KEYS("mlp_layer_types", "moe_layer_freq"));
    struct rule rule;
    FR_TRY(read_rule(c, t, &rule, err));
    for (int64_t i = 0; i < t->layers; i++) {
        bool sparse = by_rule(&rule, i) && !fr_config_lists(&dense, i);
        if (fr_json_is_array(&mixed) || fr_json_is_string(&mixed))
            sparse = fr_config_lists(&mixed, i);
        if (fr_json_is_array(&each)) FR_TRY(sparse_at(&each, i, &sparse, err));
        l->mlp[i] = sparse ? 'E' : '-';
    }
    return FR_OK;
}

fr_status fr_config_read_mixture(const struct fr_config *c, struct fr_transformer *t,
                                 struct fr_config_layers *l, struct fr_error *err) {
    bool mlp = true, any = false, enabled = true;
    int64_t experts = 0;
    FR_TRY(fr_config_bool(c, "_mlp", &mlp, err));
    FR_TRY(fr_config_bool(c, "enable_moe_block", &enabled, err));
    memset(l->mlp, mlp ? '-' : '\0', sizeof l->mlp);
    FR_TRY(first_of(c, count, false, 0, &experts, err));
    if (!enabled || experts <= 1) {
        int64_t most = 1;
        struct fr_json alone = fr_config_at(c, "_alone"), node = fr_config_find(c, chosen);
        if (enabled && experts == 1) FR_TRY(first_of(c, chosen, false, 1, &most, err));
        if (most > 1)
            return fr_json_fail(&node, err, "a token cannot go to more than 1 experts");
        /* A single MLP of another name: what all tokens share. */
        if (!fr_json_present(&alone)) return FR_OK;
        return fr_config_integer(c, shared_width, false, 1, &t->ffn, err);
    }
    t->experts = experts;
    FR_TRY(place_experts(c, t, l, err));
    for (int64_t i = 0; i < t->layers; i++) any = any || l->mlp[i] == 'E';
    if (any) return read_experts(c, t, err);
    t->experts = 0;
    return FR_OK;
}
