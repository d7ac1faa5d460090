/* Raffel et al. 2020 (T5, and 1.1): an encoder and a decoder with cross-attention, RMSNorm, no biases, relative
 * positions (32 values a head, not counted).  Source and target are taken to be equally long. */
#include <string.h>

#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    static const struct fr_family_sizes keys = {.layers = {"num_layers"},
                                                .hidden = {"d_model"},
                                                .heads = {"num_heads"},
                                                .head_dim = "d_kv",
                                                .ffn = "d_ff",
                                                .sequence = {"n_positions"}};
    char act[32] = "relu";
    *t = (struct fr_transformer){.tied = true, .dropout = true, .sequence = 512};
    FR_TRY(fr_family_read_sizes(config, &keys, t, err));
    t->cross_layers = t->layers;
    FR_TRY(
        fr_family_integer(config, "num_decoder_layers", false, 100000, &t->cross_layers, err));
    FR_TRY(fr_json_get_string(config, "feed_forward_proj", false, act, sizeof act, err));
    t->gated = strncmp(act, "gated", 5) == 0;
    t->layers += t->cross_layers;
    return FR_OK;
}

const struct fr_family fr_family_t5 = {
    .name = "t5",
    .architecture = "T5ForConditionalGeneration",
    .summary = "encoder and decoder with cross-attention, RMSNorm",
    .read = read,
};
