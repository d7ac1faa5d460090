/* MosaicML 2023: LayerNorm without biases, ALiBi or learned positions, tied embedding. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    static const struct fr_family_sizes keys = {.layers = {"n_layers"},
                                                .hidden = {"d_model"},
                                                .heads = {"n_heads"},
                                                .sequence = {"max_seq_len"}};
    *t = (struct fr_transformer){.tied = true, .positions = true};
    FR_TRY(fr_family_read_sizes(config, &keys, t, err));
    struct fr_json attention = fr_json_member(config, "attn_config");
    bool alibi = true, without = true;
    int64_t expansion = 4, kv_heads = t->heads;
    FR_TRY(fr_family_bool(config, "no_bias", &without, err));
    FR_TRY(fr_family_bool(config, "learned_pos_emb", &t->positions, err));
    FR_TRY(fr_family_integer(config, "expansion_ratio", false, 64, &expansion, err));
    if (fr_json_is_object(&attention)) {
        FR_TRY(fr_family_bool(&attention, "alibi", &alibi, err));
        FR_TRY(fr_family_integer(&attention, "kv_n_heads", false, t->heads, &kv_heads, err));
    }
    t->biases = t->norm_biases = !without;
    t->positions = t->positions && !alibi;
    t->ffn = expansion * t->hidden;
    t->kv_heads = kv_heads;
    return fr_family_check_heads(config, "attn_config", t, err);
}

const struct fr_family fr_family_mpt = {
    .name = "mpt",
    .architecture = "MPTForCausalLM",
    .summary = "LayerNorm, no biases, ALiBi, tied embedding",
    .read = read,
};
