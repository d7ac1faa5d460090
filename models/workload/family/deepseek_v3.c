/* DeepSeek-AI 2024 (V3, R1): as V2, and the prediction of a further token. */
#include "models/workload/family.h"

const struct fr_family fr_family_deepseek_v3 = {
    .name = "deepseek_v3",
    .architecture = "DeepseekV3ForCausalLM",
    .summary = "known, not priced: latent attention, dense first layers and shared experts",
    .refused = "latent attention, dense first layers and shared experts",
    .refused_at = "kv_lora_rank",
};
