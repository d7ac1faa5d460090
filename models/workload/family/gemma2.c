/* Gemma Team 2024 (Gemma 2): norms after attention and MLP too, and in every second layer a sliding
 * window, of 4096 tokens where the file does not say; the norms are priced as if they were not there. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    *t = (struct fr_transformer){.kv_heads = 4, .head_dim = 256, .tied = true};
    FR_TRY(fr_family_refuse_biases(config, err));
    FR_TRY(fr_family_read_rotary(config, t, err));
    return fr_family_read_window(config, 4096, (t->layers + 1) / 2, t, err);
}

const struct fr_family fr_family_gemma2 = {
    .name = "gemma2",
    .sequence = 8192,
    .architecture = "Gemma2ForCausalLM",
    .summary = "as gemma, with windows; its further norms are not priced",
    .read = read,
};
