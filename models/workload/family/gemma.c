/* Gemma Team 2024 (Gemma): LLaMA with heads of a width of their own and a tied embedding. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    *t = (struct fr_transformer){.kv_heads = 16, .head_dim = 256, .tied = true};
    FR_TRY(fr_family_refuse_biases(config, err));
    return fr_family_read_rotary(config, t, err);
}

const struct fr_family fr_family_gemma = {
    .name = "gemma",
    .sequence = 8192,
    .architecture = "GemmaForCausalLM",
    .summary = "as llama, tied embedding, heads of 256",
    .read = read,
};
