/* Jiang et al. 2024: Mistral with a choice of experts in the MLP's place of every layer. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    static const struct fr_family_experts keys = {"num_local_experts", "num_experts_per_tok",
                                                  "intermediate_size"};
    *t = (struct fr_transformer){.kv_heads = 8, .experts_per_token = 2};
    FR_TRY(fr_family_refuse_biases(config, err));
    FR_TRY(fr_family_read_rotary(config, t, err));
    return fr_family_read_experts(config, &keys, t, err);
}

const struct fr_family fr_family_mixtral = {
    .name = "mixtral",
    .sequence = 4096,
    .architecture = "MixtralForCausalLM",
    .summary = "as mistral, a choice of experts in every layer",
    .read = read,
    .experts = true,
};
