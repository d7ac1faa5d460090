/* The table of fp32 products: every m, n, k of powers of two, skinny ones too; and those with an operand
 * transposed. */
#include <stdlib.h>

#include "calibrate/measure/harness/gemm_points.h"

static bool skips(const struct fr_point *p) { return fr_gemm_is_large(p, FR_SAMPLE_PLAIN); }

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    struct fr_point point = {.row = row, .dtype = FR_FP32};
    point.transposed = FR_TRANSPOSED_NONE;
    FR_TRY(fr_gemm_plan_grid(bench, point, bench->options.quick ? 1024 : 2048, err));
    point.transposed = FR_TRANSPOSED_A;
    FR_TRY(fr_gemm_plan_coarse(bench, point, skips, err));
    point.transposed = FR_TRANSPOSED_B;
    return fr_gemm_plan_coarse(bench, point, skips, err);
}

const struct fr_bench_row fr_bench_gemm = {
    .name = "gemm",
    .measures = "fp32 products of every m, n, k in 2, 4, 8, ... 2048 (quick: 1024), all ranks "
                "at once; on "
                "a coarser grid with an operand transposed",
    .feeds = "device.gemm.fp32",
    .call_s = FR_GEMM_CALL_S,
    .by_node = true,
    .shared_out = true,
    .needs_processor = true,
    .open = fr_gemm_open,
    .close = free,
    .plan = plan,
    .head = fr_gemm_head,
    .run = fr_gemm_run,
};
