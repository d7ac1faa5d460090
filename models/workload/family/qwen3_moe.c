/* Yang et al. 2025 (Qwen3): Qwen3 with a choice of experts in every layer.  A file may name layers without,
 * which a layer of ours cannot be. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    static const struct fr_family_experts keys = {"num_experts", "num_experts_per_tok",
                                                  "moe_intermediate_size"};
    *t = (struct fr_transformer){
        .kv_heads = 4, .head_dim = 128, .qk_norms = true, .experts_per_token = 8};
    FR_TRY(fr_family_refuse_biases(config, err));
    FR_TRY(fr_family_refuse_dense(config, err));
    FR_TRY(fr_family_read_rotary(config, t, err));
    return fr_family_read_experts(config, &keys, t, err);
}

const struct fr_family fr_family_qwen3_moe = {
    .name = "qwen3_moe",
    .sequence = 4096,
    .architecture = "Qwen3MoeForCausalLM",
    .summary = "as qwen3, a choice of experts in every layer",
    .read = read,
    .experts = true,
};
