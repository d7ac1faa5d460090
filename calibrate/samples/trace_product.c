/* Matrix products of a trace: one, or a batch of equal ones. */
#include "calibrate/samples/trace.h"

/* Operations, the place of the first operand, and dimensions of an operand. */
static const struct {
    const char *name;
    int first, dimensions;
} rows[] = {{"aten::mm", 0, 2},
            {"aten::addmm", 1, 2},
            {"aten::_scaled_mm", 0, 2},
            {"aten::bmm", 0, 3},
            {"aten::baddbmm", 1, 3}};

/* Columns that move on by more than one value lie in a transposed matrix. */
static int transposed(const struct fr_trace_tensor *a, const struct fr_trace_tensor *b) {
    if (a->pitch[a->n - 1] < 1) return FR_TRANSPOSED_MIXED;
    if (a->pitch[a->n - 1] > 1) return FR_TRANSPOSED_A;
    return b->pitch[b->n - 1] > 1 ? FR_TRANSPOSED_B : FR_TRANSPOSED_NONE;
}

bool fr_trace_product(const struct fr_json *event, struct fr_trace_call *call) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!fr_trace_is(event, "name", rows[i].name)) continue;
        const struct fr_trace_tensor a = fr_trace_tensor(event, rows[i].first),
                                     b = fr_trace_tensor(event, rows[i].first + 1);
        int d = rows[i].dimensions;
        if (a.n != d || b.n != d || a.dtype == FR_DTYPE_COUNT) return false;
        if (a.size[d - 1] != b.size[d - 2] || (d == 3 && a.size[0] != b.size[0])) return false;
        call->kind = FR_TRACE_PRODUCT;
        call->product = (struct fr_sample_gemm){.dtype = a.dtype,
                                                .m = a.size[d - 2],
                                                .n = b.size[d - 1],
                                                .k = a.size[d - 1],
                                                .batch = d == 3 ? a.size[0] : 1,
                                                .transposed = transposed(&a, &b)};
        return true;
    }
    return false;
}
