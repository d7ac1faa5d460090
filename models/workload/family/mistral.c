/* Jiang et al. 2023: LLaMA with a sliding window in every layer (null in later files). */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    *t = (struct fr_transformer){.kv_heads = 8};
    FR_TRY(fr_family_refuse_biases(config, err));
    FR_TRY(fr_family_read_rotary(config, t, err));
    return fr_family_read_window(config, 0, t->layers, t, err);
}

const struct fr_family fr_family_mistral = {
    .name = "mistral",
    .sequence = 8192,
    .architecture = "MistralForCausalLM",
    .summary = "as llama, with a sliding window",
    .read = read,
};
