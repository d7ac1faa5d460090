/* Products of a device as transformers have them: by tokens, and by rows and columns of their weights; a forward
 * pass (B transposed), an input gradient (none) and a weight gradient (A). */
#include "calibrate/measure/harness/bench.h"
#include "calibrate/measure/harness/gemm_points.h"

/* Columns and inner dimension of weights, by hidden size: queries, keys and values; projection; both of an MLP; logits. */
static const struct shape {
    int n, k;
    bool first; /* decides most */
} shapes[] = {
    {6144, 4096, true},   {4096, 4096, true},   {28672, 4096, true}, {4096, 14336, true},
    {3072, 2048, true},   {2048, 2048, false},  {16384, 2048, true}, {2048, 8192, false},
    {10240, 8192, false}, {8192, 28672, false}, {32768, 4096, true}, {1536, 1024, false},
    {1024, 3072, false},  {4096, 1792, false},  {2560, 5120, false},
};
static const int squares[] = {4096, 1024, 8192, 2048};
enum {
    TOKENS = 8192,
    FEW_TOKENS = 2048,
    N_SHAPES = sizeof shapes / sizeof *shapes,
    N_SQUARES = sizeof squares / sizeof *squares
};

static fr_status add(struct fr_bench *bench, const struct fr_point *point, bool *added,
                     struct fr_error *err) {
    const struct fr_device_task task = fr_gemm_device_task(point);
    return fr_bench_device_add(bench, point, &task, added, err);
}

/* Which directions a dtype has, which of the shapes, and whether of those that decide most also with few tokens. */
static const struct format {
    fr_dtype dtype;
    bool backward, few_tokens;
    int stride;
    bool blocks;
} formats[] = {{FR_BF16, true, true, 1, false},  {FR_FP8, false, true, 1, false},
               {FR_FP8, false, false, 3, true},  {FR_FP4, false, true, 1, false},
               {FR_FP16, true, false, 4, false}, {FR_TF32, true, false, 4, false},
               {FR_FP32, false, false, 7, false}};

static fr_status plan_shapes(struct fr_bench *bench, const struct format *f,
                             struct fr_point point, bool few, struct fr_error *err) {
    const int last = f->backward ? FR_TRANSPOSED_NONE : FR_TRANSPOSED_B;
    bool added = false;
    point.m = few ? FEW_TOKENS : TOKENS;
    for (int i = 0; i < N_SHAPES; i += f->stride)
        for (int way = FR_TRANSPOSED_B; way >= last; way--) {
            if (few && !shapes[i].first) continue;
            point.n = shapes[i].n;
            point.k = shapes[i].k;
            point.transposed = (fr_transposed)way;
            point.step = f->dtype != FR_BF16 ? 2 : shapes[i].first && !few ? 0 : 1;
            FR_TRY(add(bench, &point, &added, err));
        }
    return FR_OK;
}

/* A dtype whose largest square this device or its libraries cannot do is left out. */
static fr_status plan_format(struct fr_bench *bench, const struct fr_bench_row *row,
                             const struct format *f, struct fr_error *err) {
    struct fr_point point = {.row = row,
                             .team = &bench->teams.team[0],
                             .dtype = f->dtype,
                             .batch = 1,
                             .blocks = f->blocks};
    bool main = f->dtype == FR_BF16, added = true;
    point.transposed = FR_TRANSPOSED_B;
    for (int i = 0; i < (main ? N_SQUARES : 1) && added; i++) {
        point.m = point.n = point.k = squares[i];
        point.step = main ? FR_STEP_NEEDED : 1;
        FR_TRY(add(bench, &point, &added, err));
    }
    if (!added) return FR_OK;
    FR_TRY(plan_shapes(bench, f, point, false, err));
    return f->few_tokens && !bench->options.quick ? plan_shapes(bench, f, point, true, err)
                                                  : FR_OK;
}

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        FR_TRY(plan_format(bench, row, &formats[i], err));
    return FR_OK;
}

const struct fr_bench_row fr_bench_device_gemm = {
    .name = "device_gemm",
    .measures =
        "products of transformers on a GPU, three directions, bf16, fp8 (a scale a tensor, a "
        "scale a block), fp4, fp16, tf32, fp32 (--device)",
    .feeds = "device.gemm",
    .call_s = 10e-3,
    .shared_out = true,
    .needs_processor = true,
    .on_device = true,
    .plan = plan,
    .head = fr_gemm_head,
    .run = fr_gemm_device_run,
};
