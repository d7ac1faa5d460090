/* Gemma Team 2025 (Gemma 3), the language model of a multimodal file too, which leaves out what is the
 * class's default: norms of queries and keys, and after attention and MLP; five layers in six have a
 * sliding window, of 4096 tokens where the file does not say. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    *t = (struct fr_transformer){.heads = 8,
                                 .kv_heads = 4,
                                 .head_dim = 256,
                                 .vocabulary = 262208,
                                 .sequence = 131072,
                                 .qk_norms = true,
                                 .tied = true};
    FR_TRY(fr_family_refuse_biases(config, err));
    FR_TRY(fr_family_read_rotary(config, t, err));
    return fr_family_read_window(config, 4096, t->layers - t->layers / 6, t, err);
}

const struct fr_family fr_family_gemma3_text = {
    .name = "gemma3_text",
    .sequence = 32768,
    .architecture = "Gemma3ForCausalLM",
    .summary = "as gemma2, with norms of queries and keys",
    .read = read,
};
