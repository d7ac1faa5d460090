/* Dao and Gu 2024: state-space blocks alone, RMSNorm, no positions.  Files have no longest sequence; the published
 * models were trained on 2048 tokens (section 9 there). */
#include "models/workload/family.h"

static fr_status refuse_biases(const struct fr_json *config, struct fr_error *err) {
    struct fr_json biases = fr_json_member(config, "use_bias"),
                   none = fr_json_member(config, "use_conv_bias");
    bool products = false, convolution = true;
    FR_TRY(fr_family_bool(config, "use_bias", &products, err));
    FR_TRY(fr_family_bool(config, "use_conv_bias", &convolution, err));
    if (products) return fr_json_fail(&biases, err, "such biases are not priced yet");
    if (convolution) return FR_OK;
    return fr_json_fail(&none, err, "a convolution without biases is not priced yet");
}

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    const int64_t most = FR_FAMILY_SIZE_MAX;
    *t = (struct fr_transformer){.heads = 1,
                                 .kv_heads = 1,
                                 .ffn = 1,
                                 .sequence = 2048,
                                 .pattern = "M",
                                 .ssm_head_dim = 64,
                                 .ssm_groups = 8,
                                 .ssm_conv = 4,
                                 .ssm_chunk = 256};
    FR_TRY(refuse_biases(config, err));
    FR_TRY(fr_family_integer(config, "num_hidden_layers", true, 100000, &t->layers, err));
    FR_TRY(fr_family_integer(config, "hidden_size", true, most, &t->hidden, err));
    FR_TRY(fr_family_integer(config, "vocab_size", true, most, &t->vocabulary, err));
    FR_TRY(fr_family_integer(config, "num_heads", true, most, &t->ssm_heads, err));
    FR_TRY(fr_family_integer(config, "head_dim", false, most, &t->ssm_head_dim, err));
    FR_TRY(fr_family_integer(config, "state_size", true, most, &t->ssm_state, err));
    FR_TRY(fr_family_read_scan(config, t, err));
    FR_TRY(fr_family_bool(config, "tie_word_embeddings", &t->tied, err));
    t->head_dim = t->hidden;
    return FR_OK;
}

const struct fr_family fr_family_mamba2 = {
    .name = "mamba2",
    .architecture = "Mamba2ForCausalLM",
    .summary = "state-space (Mamba-2) blocks, RMSNorm",
    .read = read,
};
