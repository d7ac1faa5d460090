/* Yang et al. 2024 (Qwen2-MoE): an expert that all tokens share, beside those that they choose, and a gate of h
 * values for it, which is not counted.  A file may name layers without experts, which are refused. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    static const struct fr_family_experts keys = {"num_experts", "num_experts_per_tok",
                                                  "moe_intermediate_size"};
    *t = (struct fr_transformer){.kv_heads = 16, .experts_per_token = 4, .qkv_biases = true};
    FR_TRY(fr_family_refuse_biases(config, err));
    FR_TRY(fr_family_refuse_dense(config, err));
    FR_TRY(fr_family_read_rotary(config, t, err));
    FR_TRY(fr_family_read_experts(config, &keys, t, err));
    return fr_family_integer(config, "shared_expert_intermediate_size", true,
                             FR_FAMILY_SIZE_MAX, &t->shared_ffn, err);
}

const struct fr_family fr_family_qwen2_moe = {
    .name = "qwen2_moe",
    .sequence = 4096,
    .architecture = "Qwen2MoeForCausalLM",
    .summary = "as qwen2, a choice of experts and a shared one in every layer",
    .read = read,
    .experts = true,
};
