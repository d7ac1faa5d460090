/* DeepSeek's blocks in Hugging Face files: latent attention, dense first layers, shared experts. */
#include <inttypes.h>
#include <stddef.h>

#include "models/workload/family.h"

static fr_status read_attention(const struct fr_json *config, struct fr_transformer *t,
                                struct fr_error *err) {
    int64_t nope = 0, most = FR_FAMILY_SIZE_MAX;
    FR_TRY(fr_family_integer(config, "q_lora_rank", false, most, &t->q_latent, err));
    FR_TRY(fr_family_integer(config, "kv_lora_rank", true, most, &t->kv_latent, err));
    FR_TRY(fr_family_integer(config, "qk_nope_head_dim", true, most, &nope, err));
    FR_TRY(fr_family_integer(config, "qk_rope_head_dim", true, most, &t->rope_dim, err));
    FR_TRY(fr_family_integer(config, "v_head_dim", true, most, &t->value_dim, err));
    t->head_dim = nope + t->rope_dim;
    t->kv_heads = t->heads; /* every head has keys of its own, whatever the file says */
    return FR_OK;
}

/* Groups of experts, of which a token goes to some; one group is no limit. */
static fr_status read_groups(const struct fr_json *config, struct fr_transformer *t,
                             struct fr_error *err) {
    struct fr_json node = fr_json_member(config, "n_group");
    int64_t groups = 1, most = 1;
    FR_TRY(fr_family_integer(config, "n_group", false, t->experts, &groups, err));
    if (groups == 1) return FR_OK;
    if (t->experts % groups != 0)
        return fr_json_fail(&node, err, "does not divide %" PRId64 " experts", t->experts);
    FR_TRY(fr_family_integer(config, "topk_group", true, groups, &most, err));
    t->expert_groups = groups;
    t->groups_per_token = most;
    return FR_OK;
}

static fr_status read_mixture(const struct fr_json *config, struct fr_transformer *t,
                              struct fr_error *err) {
    static const struct fr_family_experts keys = {"n_routed_experts", "num_experts_per_tok",
                                                  "moe_intermediate_size"};
    struct fr_json dense = fr_json_member(config, "first_k_dense_replace"),
                   every = fr_json_member(config, "moe_layer_freq");
    int64_t shared = 0, frequency = 1;
    FR_TRY(fr_family_integer(config, "moe_layer_freq", false, 1000, &frequency, err));
    if (frequency > 1)
        return fr_json_fail(&every, err, "dense layers between mixtures are not priced yet");
    FR_TRY(fr_family_read_experts(config, &keys, t, err));
    if (fr_json_is_number(&dense))
        FR_TRY(fr_json_get_integer(config, "first_k_dense_replace", false, 0, t->layers - 1,
                                   &t->dense_layers, err));
    struct fr_json some = fr_json_member(config, "n_shared_experts");
    if (fr_json_is_number(&some))
        FR_TRY(
            fr_json_get_integer(config, "n_shared_experts", false, 0, 1 << 20, &shared, err));
    t->shared_ffn = shared * t->expert_ffn;
    return read_groups(config, t, err);
}

fr_status fr_family_read_deepseek(const struct fr_json *config, struct fr_transformer *t,
                                  struct fr_error *err) {
    *t = (struct fr_transformer){.head_dim = 1}; /* not hidden / heads */
    FR_TRY(fr_family_refuse_biases(config, err));
    FR_TRY(fr_family_read_rotary(config, t, err));
    FR_TRY(read_attention(config, t, err));
    return read_mixture(config, t, err);
}
