/* Fused attention of a trace.  cuDNN's kernels are today's; PyTorch's own "flash" is FlashAttention-2.  The outer and
 * the inner operation of a call both have its shapes, and its kernels have the inner one's id. */
#include <string.h>

#include "calibrate/samples/trace.h"

/* Queries are argument `first`, then keys and values, in the order batch, heads, tokens, width, or with heads after
 * tokens. */
static const struct row {
    const char *name;
    int kernel, pass, first, causal;
    bool heads_last;
} rows[] = {
    {"aten::_scaled_dot_product_flash_attention", FR_SAMPLE_FLASH_2, 0, 0, 4, false},
    {"aten::_scaled_dot_product_flash_attention_backward", FR_SAMPLE_FLASH_2, 1, 1, 11, false},
    {"aten::_flash_attention_forward", FR_SAMPLE_FLASH_2, 0, 0, 8, true},
    {"aten::_flash_attention_backward", FR_SAMPLE_FLASH_2, 1, 1, 11, true},
    {"aten::_scaled_dot_product_cudnn_attention", FR_SAMPLE_FLASH, 0, 0, 6, false},
    {"aten::_scaled_dot_product_cudnn_attention_backward", FR_SAMPLE_FLASH, 1, 1, 14, false},
    {"aten::_cudnn_attention_forward", FR_SAMPLE_FLASH, 0, 0, 10, false},
    {"aten::_cudnn_attention_backward", FR_SAMPLE_FLASH, 1, 1, 14, false},
    {"flash_attn::_flash_attn_forward", FR_SAMPLE_FLASH_2, 0, 0, 5, true},
};

static bool take(const struct fr_json *event, const struct row *row,
                 struct fr_sample_attention *s) {
    const struct fr_trace_tensor q = fr_trace_tensor(event, row->first),
                                 k = fr_trace_tensor(event, row->first + 1);
    const char *causal = fr_trace_argument(event, row->causal);
    int heads = row->heads_last ? 2 : 1, tokens = row->heads_last ? 1 : 2;
    bool yes = strcmp(causal, "True") == 0 || strcmp(causal, "true") == 0,
         no = strcmp(causal, "False") == 0 || strcmp(causal, "false") == 0;
    if (q.n != 4 || k.n != 4 || q.dtype == FR_DTYPE_COUNT || (!yes && !no)) return false;
    if (q.size[0] != k.size[0] || q.size[tokens] != k.size[tokens]) return false;
    *s = (struct fr_sample_attention){.kernel = row->kernel,
                                      .dtype = q.dtype,
                                      .batch = q.size[0],
                                      .sequence = q.size[tokens],
                                      .heads = q.size[heads],
                                      .kv_heads = k.size[heads],
                                      .width = q.size[3],
                                      .causal = yes,
                                      .pass = row->pass};
    return s->heads % s->kv_heads == 0;
}

bool fr_trace_attention(const struct fr_json *event, struct fr_trace_call *call) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fr_trace_is(event, "name", rows[i].name)) {
            call->kind = FR_TRACE_ATTENTION;
            return take(event, &rows[i], &call->attention);
        }
    return false;
}
