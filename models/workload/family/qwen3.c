/* Yang et al. 2025 (Qwen3): LLaMA with heads of a width of their own, and an RMSNorm over each
 * head's query and key. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    *t = (struct fr_transformer){.kv_heads = 32, .head_dim = 128, .qk_norms = true};
    FR_TRY(fr_family_refuse_biases(config, err));
    return fr_family_read_rotary(config, t, err);
}

const struct fr_family fr_family_qwen3 = {
    .name = "qwen3",
    .sequence = 4096,
    .architecture = "Qwen3ForCausalLM",
    .summary = "as llama, with norms of queries and keys",
    .read = read,
};
