/* GLM Team 2025 (GLM-4-0414): LLaMA with biases of queries, keys and values where attention_bias says so,
 * and norms after attention and MLP too, which are not priced. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    *t = (struct fr_transformer){.kv_heads = 2, .head_dim = 128, .qkv_biases = true};
    FR_TRY(fr_family_bool(config, "attention_bias", &t->qkv_biases, err));
    return fr_family_read_rotary(config, t, err);
}

const struct fr_family fr_family_glm4 = {
    .name = "glm4",
    .sequence = 8192,
    .architecture = "Glm4ForCausalLM",
    .summary = "as qwen2; its further norms are not priced",
    .read = read,
};
