/* Parts of a config.json that are not priced, by their keys: the part, and a way round it. */
#include "models/workload/config/config.h"

/* Found where the key has a value that is neither 0 nor false; one of a list. */
static const struct {
    const char *key, *part;
} parts[] = {
    {"hidden_size_per_layer_input", "embeddings of each layer's own (Gemma 3n, Gemma 4 E)"},
    {"altup_num_inputs", "alternating updates of several streams (Gemma 3n)"},
    {"block_configs", "layers of different widths (Nemotron-NAS)"},
    {"num_query_heads", "layers with different numbers of heads (OpenELM)"},
    {"num_mem_blocks", "attention blocks that layers share (Zamba)"},
    {"hybrid_layer_ids", "attention blocks that layers share (Zamba)"},
    {"moe_latent_size", "experts of narrowed tokens"},
    {"compress_ratios", "attention to compressed keys (DeepSeek-V4)"},
    {"hc_mult", "hyper-connections of several streams (DeepSeek-V4)"},
    {"o_lora_rank", "an output made by way of narrower values (DeepSeek-V4)"},
    {"attention_hidden_size", "time mixing of RWKV"},
    {"num_heads_per_layer", "layers with different numbers of heads"},
    {"share_q_dim", "queries by way of shared projections (Step-3)"},
    {"blocksparse_block_size", "block-sparse attention (Phi-3-small)"},
    {"attention_experts", "attention that is a choice of experts (JetMoE)"},
    {"cross_attention_layers", "cross-attention to images among the layers (Llama 3.2 Vision)"},
};

/* The value of a number or truth: is it more than 0? */
static bool stated(const struct fr_json *node) {
    double value = 1;
    bool truth = true;
    if (fr_json_is_number(node))
        return fr_json_number(node, -1e300, 1e300, &value, NULL) != FR_OK || value > 0;
    if (fr_json_get_bool(node->parent, node->key, true, &truth, NULL) == FR_OK) return truth;
    return !fr_json_is_array(node) || fr_json_array_length(node) > 0;
}

fr_status fr_config_refuse_unpriced(const struct fr_config *c, struct fr_error *err) {
    struct fr_json encodes = fr_json_member(c->file, "is_encoder_decoder");
    const char *within = c->file->key ? "text_config." : "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct fr_json node = fr_config_at(c, parts[i].key),
                       place = fr_json_member(c->file, parts[i].key);
        if (!fr_json_present(&node) || !stated(&node)) continue;
        return fr_json_fail(&place, err,
                            "%s: this part is not priced yet; --set model.%s%s=null prices the "
                            "model without it",
                            parts[i].part, within, parts[i].key);
    }
    if (fr_json_present(&encodes) && !fr_json_is_null(&encodes) && stated(&encodes))
        return fr_json_fail(
            &encodes, err,
            "encoder and decoder of such a family are not priced yet; --set "
            "model.%sis_encoder_decoder=null prices layers of the decoder's sizes "
            "without cross-attention",
            within);
    return FR_OK;
}
