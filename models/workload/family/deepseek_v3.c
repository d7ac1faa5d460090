/* DeepSeek-AI 2024 (V3, R1): as V2.  The class leaves out the module that predicts a further token. */
#include "models/workload/family.h"

const struct fr_family fr_family_deepseek_v3 = {
    .name = "deepseek_v3",
    .sequence = 4096,
    .architecture = "DeepseekV3ForCausalLM",
    .summary = "as deepseek_v2; without the prediction of a further token",
    .read = fr_family_read_deepseek,
    .experts = true,
};
