/* OpenAI 2025: a choice of experts in every layer, biases of queries, keys and values (of experts too: 0.03 %
 * of the parameters, not counted), windows of 128 tokens in every second layer. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    static const struct fr_family_experts keys = {"num_local_experts", "num_experts_per_tok",
                                                  "intermediate_size"};
    *t = (struct fr_transformer){
        .kv_heads = 8, .head_dim = 64, .qkv_biases = true, .experts_per_token = 4};
    FR_TRY(fr_family_bool(config, "attention_bias", &t->qkv_biases, err));
    FR_TRY(fr_family_read_rotary(config, t, err));
    FR_TRY(fr_family_read_window(config, 128, (t->layers + 1) / 2, t, err));
    return fr_family_read_experts(config, &keys, t, err);
}

const struct fr_family fr_family_gpt_oss = {
    .name = "gpt_oss",
    .sequence = 8192,
    .architecture = "GptOssForCausalLM",
    .summary = "as mixtral, with biases and windows",
    .read = read,
    .experts = true,
};
