/* Radford et al. 2019: LayerNorm, biases everywhere, learned positions, tied embedding. */
#include <inttypes.h>

#include "models/workload/family.h"

enum { MOST = FR_FAMILY_SIZE_MAX };

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    struct fr_json heads = fr_json_member(config, "n_head");
    struct fr_json cross = fr_json_member(config, "add_cross_attention");
    bool cross_attention = false;
    *t = (struct fr_transformer){
        .tied = true, .biases = true, .norm_biases = true, .positions = true};
    FR_TRY(fr_family_integer(config, "n_layer", true, 100000, &t->layers, err));
    FR_TRY(fr_family_integer(config, "n_embd", true, MOST, &t->hidden, err));
    FR_TRY(fr_family_integer(config, "n_head", true, MOST, &t->heads, err));
    FR_TRY(fr_family_integer(config, "vocab_size", true, MOST, &t->vocabulary, err));
    FR_TRY(fr_family_integer(config, "n_ctx", false, MOST, &t->sequence, err));
    FR_TRY(fr_family_integer(config, "n_positions", t->sequence == 0, MOST, &t->sequence, err));
    FR_TRY(fr_family_bool(config, "tie_word_embeddings", &t->tied, err));
    FR_TRY(fr_family_bool(config, "add_cross_attention", &cross_attention, err));
    t->ffn = 4 * t->hidden;
    FR_TRY(fr_family_integer(config, "n_inner", false, MOST, &t->ffn, err));
    FR_TRY(fr_family_dropout(config, "attn_pdrop", "resid_pdrop", &t->dropout, err));
    if (cross_attention) return fr_json_fail(&cross, err, "cross-attention is not priced yet");
    if (t->hidden % t->heads != 0)
        return fr_json_fail(&heads, err, "%" PRId64 " does not divide n_embd = %" PRId64,
                            t->heads, t->hidden);
    t->kv_heads = t->heads;
    t->head_dim = t->hidden / t->heads;
    return FR_OK;
}

const struct fr_family fr_family_gpt2 = {
    .name = "gpt2",
    .architecture = "GPT2LMHeadModel",
    .summary = "LayerNorm, biases, learned positions, tied embedding",
    .read = read,
};
