/* The table of fp32 products: every m, n, k of powers of two, skinny ones too. */
#include <stdlib.h>

#include "calibrate/measure/harness/gemm_points.h"

static fr_status plan(struct fr_bench *bench, struct fr_error *err) {
    return fr_gemm_plan_grid(bench, &fr_bench_gemm, FR_FP32, bench->options.quick ? 1024 : 2048,
                             err);
}

const struct fr_bench_row fr_bench_gemm = {
    .name = "gemm",
    .measures =
        "fp32 products of every m, n, k in 2, 4, 8, ... 2048 (quick: 1024), all ranks at once",
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
