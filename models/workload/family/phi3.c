/* Abdin et al. 2024 (Phi-3, Phi-4): LLaMA whose first products are fused, which changes no size. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    *t = (struct fr_transformer){0};
    FR_TRY(fr_family_refuse_biases(config, err));
    FR_TRY(fr_family_read_rotary(config, t, err));
    return fr_family_read_window(config, 0, t->layers, t, err);
}

const struct fr_family fr_family_phi3 = {
    .name = "phi3",
    .sequence = 4096,
    .architecture = "Phi3ForCausalLM",
    .summary = "as llama, with a sliding window",
    .read = read,
};
