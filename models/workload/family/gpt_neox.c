/* Black et al. 2022 (GPT-NeoX), Biderman et al. 2023 (Pythia): LayerNorm, biases, rotary positions, an
 * embedding and logits of their own. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    *t = (struct fr_transformer){.biases = true, .norm_biases = true};
    FR_TRY(fr_family_read_sizes(config, &fr_family_usual_sizes, t, err));
    return FR_OK;
}

const struct fr_family fr_family_gpt_neox = {
    .name = "gpt_neox",
    .architecture = "GPTNeoXForCausalLM",
    .summary = "LayerNorm, biases, rotary positions",
    .read = read,
};
