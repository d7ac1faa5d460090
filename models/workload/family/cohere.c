/* Cohere 2024 (Command R): attention and MLP side by side after one LayerNorm without biases, where two
 * are priced; tied embedding. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    *t = (struct fr_transformer){.tied = true};
    FR_TRY(fr_family_refuse_biases(config, err));
    return fr_family_read_rotary(config, t, err);
}

const struct fr_family fr_family_cohere = {
    .name = "cohere",
    .sequence = 8192,
    .architecture = "CohereForCausalLM",
    .summary = "as llama, tied embedding; attention and MLP side by side are priced in turn",
    .read = read,
};
