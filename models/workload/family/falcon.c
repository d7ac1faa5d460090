/* Almazrouei et al. 2023: one or a few key-value heads, attention and MLP side by side after one or two
 * LayerNorms (priced in turn, after two), rotary positions or ALiBi, tied embedding. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    static const struct fr_family_sizes keys = {.layers = {"num_hidden_layers", "n_layer"},
                                                .hidden = {"hidden_size"},
                                                .heads = {"num_attention_heads", "n_head"},
                                                .ffn = "ffn_hidden_size",
                                                .sequence = {"max_position_embeddings"}};
    *t = (struct fr_transformer){.norm_biases = true, .tied = true, .sequence = 2048};
    FR_TRY(fr_family_read_sizes(config, &keys, t, err));
    static const char *const groups[] = {"num_kv_heads", "n_head_kv"};
    bool grouped = false, single = true;
    FR_TRY(fr_family_bool(config, "bias", &t->biases, err));
    FR_TRY(fr_family_bool(config, "new_decoder_architecture", &grouped, err));
    FR_TRY(fr_family_bool(config, "multi_query", &single, err));
    for (int i = 0; i < 2 && grouped; i++)
        FR_TRY(fr_family_integer(config, groups[i], false, t->heads, &t->kv_heads, err));
    if (!grouped && single) t->kv_heads = 1;
    return fr_family_check_heads(config, groups[0], t, err);
}

const struct fr_family fr_family_falcon = {
    .name = "falcon",
    .architecture = "FalconForCausalLM",
    .summary = "LayerNorm, few key-value heads, tied embedding; attention and MLP in turn",
    .read = read,
};
