/* DeepSeek-AI 2024: queries, keys and values by way of narrow latent vectors; dense first layers. */
#include "models/workload/family.h"

const struct fr_family fr_family_deepseek_v2 = {
    .name = "deepseek_v2",
    .architecture = "DeepseekV2ForCausalLM",
    .summary = "known, not priced: latent attention, dense first layers and shared experts",
    .refused = "latent attention, dense first layers and shared experts",
    .refused_at = "kv_lora_rank",
};
