/* OLMo Team 2025: LLaMA with norms after attention and MLP in place of before, and of all queries and
 * keys together, which are counted as of one head. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    *t = (struct fr_transformer){.qk_norms = true};
    FR_TRY(fr_family_refuse_biases(config, err));
    return fr_family_read_rotary(config, t, err);
}

const struct fr_family fr_family_olmo2 = {
    .name = "olmo2",
    .sequence = 4096,
    .architecture = "Olmo2ForCausalLM",
    .summary = "as llama, norms after the products, and of queries and keys",
    .read = read,
};
