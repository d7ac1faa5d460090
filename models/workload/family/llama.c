/* Touvron et al. 2023; Grattafiori et al. 2024. */
#include "models/workload/family.h"

/* attention_bias adds to q, k, v and o, mlp_bias to all three matrices: together they are what
 * struct fr_transformer calls biases; one alone it cannot say. */
static fr_status read_biases(const struct fr_json *config, bool *biases, struct fr_error *err) {
    bool attention = false, mlp = false;
    FR_TRY(fr_family_bool(config, "attention_bias", &attention, err));
    FR_TRY(fr_family_bool(config, "mlp_bias", &mlp, err));
    *biases = attention && mlp;
    return *biases ? FR_OK : fr_family_refuse_biases(config, err);
}

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    *t = (struct fr_transformer){0};
    FR_TRY(read_biases(config, &t->biases, err));
    return fr_family_read_rotary(config, t, err);
}

const struct fr_family fr_family_llama = {
    .name = "llama",
    .sequence = 8192,
    .architecture = "LlamaForCausalLM",
    .summary = "gated MLP, RMSNorm, rotary positions, grouped key-value heads",
    .read = read,
};
