/* DeepSeek-AI 2024: queries, keys and values by way of narrow latent vectors; dense first layers, then
 * choices of experts beside what all tokens share. */
#include "models/workload/family.h"

const struct fr_family fr_family_deepseek_v2 = {
    .name = "deepseek_v2",
    .sequence = 4096,
    .architecture = "DeepseekV2ForCausalLM",
    .summary = "latent attention, dense first layers, shared experts",
    .read = fr_family_read_deepseek,
    .experts = true,
};
