/* BigScience 2022: LayerNorm, biases, ALiBi, tied embedding.  Newer files leave out the sequence; it is then the one
 * of the training. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    static const struct fr_family_sizes keys = {.layers = {"num_hidden_layers", "n_layer"},
                                                .hidden = {"hidden_size", "n_embed"},
                                                .heads = {"num_attention_heads", "n_head"},
                                                .sequence = {"seq_length"}};
    *t = (struct fr_transformer){
        .biases = true, .norm_biases = true, .tied = true, .sequence = 2048};
    FR_TRY(fr_family_read_sizes(config, &keys, t, err));
    return FR_OK;
}

const struct fr_family fr_family_bloom = {
    .name = "bloom",
    .architecture = "BloomForCausalLM",
    .summary = "LayerNorm, biases, ALiBi, tied embedding",
    .read = read,
};
