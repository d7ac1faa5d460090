/* Zhang et al. 2022: LayerNorm, biases, learned positions, tied embedding.  The 350M has an embedding narrower than
 * the layers, with a product between; that is not priced. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    static const struct fr_family_sizes keys = {.layers = {"num_hidden_layers"},
                                                .hidden = {"hidden_size"},
                                                .heads = {"num_attention_heads"},
                                                .ffn = "ffn_dim",
                                                .sequence = {"max_position_embeddings"}};
    *t = (struct fr_transformer){
        .biases = true, .norm_biases = true, .tied = true, .positions = true, .dropout = true};
    FR_TRY(fr_family_read_sizes(config, &keys, t, err));
    int64_t projected = t->hidden;
    FR_TRY(fr_family_integer(config, "word_embed_proj_dim", false, FR_FAMILY_SIZE_MAX,
                             &projected, err));
    struct fr_json node = fr_json_member(config, "word_embed_proj_dim");
    if (projected != t->hidden)
        return fr_json_fail(&node, err, "a projection of the embedding is not priced yet");
    return FR_OK;
}

const struct fr_family fr_family_opt = {
    .name = "opt",
    .architecture = "OPTForCausalLM",
    .summary = "LayerNorm, biases, learned positions, tied embedding",
    .read = read,
};
