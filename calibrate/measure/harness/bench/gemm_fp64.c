/* The table of fp64 products, smaller than that of fp32 since training uses few. */
#include <stdlib.h>

#include "calibrate/measure/harness/gemm_points.h"

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    const struct fr_point point = {.row = row, .dtype = FR_FP64};
    return fr_gemm_plan_grid(bench, point, bench->options.quick ? 256 : 512, err);
}

const struct fr_bench_row fr_bench_gemm_fp64 = {
    .name = "gemm_fp64",
    .measures =
        "fp64 products of every m, n, k in 2, 4, 8, ... 512 (quick: 256), all ranks at once",
    .feeds = "device.gemm.fp64",
    .call_s = FR_GEMM_CALL_S,
    .by_node = true,
    .shared_out = true,
    .needs_processor = true,
    .open = fr_gemm_open,
    .close = free,
    .step = 2,
    .plan = plan,
    .head = fr_gemm_head,
    .run = fr_gemm_run,
};
