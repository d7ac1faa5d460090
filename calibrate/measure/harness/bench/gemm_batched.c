/* Batches of equal small products, as attention makes them: scores (s x d by d x s) and their
 * weighted sums (s x s by s x d), a batch being the heads.  CBLAS has no batched call, so a
 * batch is a loop, as a library without one runs it. */
#include <stdlib.h>

#include "calibrate/measure/harness/gemm_points.h"

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    struct fr_point point = {.row = row, .team = &bench->teams.team[0]};
    for (int dtype = 0; dtype < 2; dtype++)
        for (int batch = 4; batch <= 16; batch *= 4)
            for (int s = 64; s <= 256; s *= 2)
                for (int d = 32; d <= 64; d *= 2)
                    for (int scores = 0; scores < (s == d ? 1 : 2); scores++) {
                        point.dtype = dtype ? FR_FP64 : FR_FP32;
                        point.batch = batch;
                        point.m = s;
                        point.n = scores ? s : d;
                        point.k = scores ? d : s;
                        FR_TRY(fr_bench_add(bench, &point, err));
                    }
    return FR_OK;
}

const struct fr_bench_row fr_bench_gemm_batched = {
    .name = "gemm_batched",
    .measures = "batches of 4 and 16 products of attention's shapes, fp32 and fp64",
    .feeds = "reported: a batch against as many single products of the table",
    .call_s = FR_GEMM_CALL_S,
    .by_node = true,
    .shared_out = true,
    .needs_processor = true,
    .open = fr_gemm_open,
    .close = free,
    .step = 3,
    .plan = plan,
    .head = fr_gemm_head,
    .run = fr_gemm_run,
};
