/* Yang et al. 2024 (Qwen2-MoE): an expert that all tokens share, beside those that they choose. */
#include "models/workload/family.h"

const struct fr_family fr_family_qwen2_moe = {
    .name = "qwen2_moe",
    .architecture = "Qwen2MoeForCausalLM",
    .summary = "known, not priced: a shared expert beside those chosen",
    .refused = "a shared expert beside those chosen",
    .refused_at = "shared_expert_intermediate_size",
};
