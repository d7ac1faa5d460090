/* Megatron-LM's options for blocks that not every model has: windows, narrow attention; its other rows are in the shared
 * table.  window_size counts the tokens before a token, and every window_attn_skip_freq-th layer has no window
 * (megatron/core/transformer/transformer_config.py). */
#include "answer/emit/framework/megatron.h"

#define REST(where, ...) {0, FR_EMIT_MODEL, where, FR_EMIT_##__VA_ARGS__},
#define S "", /* of a sentence */

/* clang-format off */
const struct fr_emit_row fr_emit_megatron_rows[] = {
    REST("windows=all,some", OPTION, "--window-size", "{window_before},0")
    REST("windows=some full_layers!=0", OPTION, "--window-attn-skip-freq", "{full_layers}")
    REST("windows=some full_layers=0", LACK, S "windows: layers without one do not come at equal distances")
    REST("narrow_attention=true", OPTION, "--fp8-dot-product-attention", "")
    REST("narrow_logits=true", OPTION, "--fp8-output-proj", "")
    REST("both_ways=true", LACK, S "causal: pretrain_gpt.py attends to tokens before alone")
    {0, 0, NULL, FR_EMIT_NOTE, NULL, NULL}};
/* clang-format on */
