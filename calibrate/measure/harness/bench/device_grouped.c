/* Equal products of a device at once, as the experts of a mixture make them: so many experts of a rank, the rows of each,
 * and both matrices of its MLP; a forward pass (B transposed) and an input gradient (none).  One call of the library
 * makes them all.  Heads of an attention without a fused kernel are batches too: scores and their weighted sums. */
#include "calibrate/measure/harness/bench.h"
#include "calibrate/measure/harness/gemm_points.h"

/* Experts or heads, rows, columns, inner dimension. */
static const struct shape {
    int batch, m, n, k;
    bool first; /* decides most */
} shapes[] = {
    {8, 1024, 14336, 4096, true},  {8, 1024, 4096, 7168, true},   {32, 256, 4096, 7168, true},
    {32, 256, 7168, 2048, true},   {16, 512, 2816, 2048, false},  {16, 512, 2048, 1408, false},
    {4, 2048, 4096, 4096, false},  {64, 128, 1536, 2048, false},  {8, 4096, 4096, 7168, false},
    {128, 1024, 1024, 128, false}, {128, 1024, 128, 1024, false},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* A dtype whose first shape this device or its libraries cannot do is left out. */
static fr_status plan_dtype(struct fr_bench *bench, const struct fr_bench_row *row,
                            fr_dtype dtype, int last, struct fr_error *err) {
    bool added = true;
    for (int i = 0; i < N_SHAPES; i++)
        for (int way = FR_TRANSPOSED_B; way >= last;
             way -= FR_TRANSPOSED_B - FR_TRANSPOSED_NONE) {
            const struct fr_point point = {.row = row,
                                           .team = &bench->teams.team[0],
                                           .dtype = dtype,
                                           .m = shapes[i].m,
                                           .n = shapes[i].n,
                                           .k = shapes[i].k,
                                           .batch = shapes[i].batch,
                                           .transposed = (fr_transposed)way,
                                           .step = shapes[i].first ? 0 : 1};
            const struct fr_device_task task = fr_gemm_device_task(&point);
            if (bench->options.quick && !shapes[i].first) continue;
            FR_TRY(fr_bench_device_add(bench, &point, &task, &added, err));
            if (!added && i == 0) return FR_OK;
        }
    return FR_OK;
}

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    FR_TRY(plan_dtype(bench, row, FR_BF16, FR_TRANSPOSED_NONE, err));
    return plan_dtype(bench, row, FR_FP8, FR_TRANSPOSED_B, err);
}

const struct fr_bench_row fr_bench_device_grouped = {
    .name = "device_grouped",
    .measures = "equal products of a GPU at once, of experts and of heads, bf16 and fp8 "
                "(--device)",
    .feeds = "device.gemm, grouped",
    .call_s = 10e-3,
    .shared_out = true,
    .needs_processor = true,
    .on_device = true,
    .step = 1,
    .plan = plan,
    .head = fr_gemm_head,
    .run = fr_gemm_device_run,
};
