/* The cost of operands of a product that were not used just before.  Rows gemm and gemm_fp64
 * measure every shape on one set of operands; a training step comes back to a matrix only when
 * it has been through all the others.  Five shapes go through one set of operands after
 * another, out of a working set of 4 MiB to 128 MiB,
 *     and through one set alone: how much of the way to memory a working set is.
 *   A grid of shapes, thin ones too, goes through 128 MiB: what the whole way costs each of them.  Bytes do
 *     not tell: a long product hides them behind its arithmetic, a thin one waits, the longer its rows
 *     are the more.  Where all three dimensions are large nothing is left to see, and nothing is measured.
 *   Weight gradients that add to what is there go through it too: some libraries clear a result before they
 *     add to it, and have nothing to do then. */
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/measure/harness/gemm_points.h"

static const double SMALLEST_B = 4 << 20, LARGEST_B = 128 << 20;
/* Forward, weight-gradient and wider products of a layer, each of a few hundred KiB. */
static const struct {
    int m, n, k;
} shapes[] = {{256, 32, 256}, {256, 256, 32}, {256, 128, 256}, {512, 32, 512}, {512, 512, 32}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

struct rotation {
    char *pool;
    int at; /* set whose turn it is */
};

static void close_rotation(void *state) {
    struct rotation *rotation = state;
    if (rotation) free(rotation->pool);
    free(rotation);
}

static fr_status open_rotation(struct fr_bench *bench, void **state, struct fr_error *err) {
    struct rotation *rotation = *state = fr_calloc(1, sizeof *rotation);
    (void)bench;
    if (rotation) rotation->pool = fr_bench_pool((size_t)LARGEST_B);
    return rotation && rotation->pool
               ? FR_OK
               : fr_fail(err, FR_ERR_NOMEM, NULL, "the operands do not fit");
}

static double set_B(const struct fr_point *p) {
    return (double)fr_bench_operands_B(p->dtype, p->m, p->n, p->k);
}

static bool among_shapes(const struct fr_point *p) {
    for (int s = 0; s < SHAPES; s++)
        if (p->m == shapes[s].m && p->n == shapes[s].n && p->k == shapes[s].k) return true;
    return false;
}

static bool skips(const struct fr_point *p) {
    return fr_gemm_is_large(p, FR_SAMPLE_LARGE) || among_shapes(p);
}

/* Where the result is small it does not matter, where k is long neither. */
static bool adds_little(const struct fr_point *p) {
    enum { RESULT = 32, LONG = 256 };
    return p->m < RESULT || p->n < RESULT || p->k > LONG;
}

/* A point's part is its working set in KiB; 0: one set of operands.  With B transposed it adds to its result. */
static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    struct fr_point point = {
        .row = row, .team = &bench->teams.team[0], .dtype = FR_FP32, .batch = 1};
    for (int s = 0; s < SHAPES; s++) {
        point.m = shapes[s].m;
        point.n = shapes[s].n;
        point.k = shapes[s].k;
        point.part = 0;
        FR_TRY(fr_bench_add(bench, &point, err));
        for (double size_B = SMALLEST_B; size_B <= LARGEST_B; size_B *= 2) {
            point.part = (int)(size_B / 1024);
            FR_TRY(fr_bench_add(bench, &point, err));
        }
    }
    point.part = (int)(LARGEST_B / 1024);
    FR_TRY(fr_gemm_plan_coarse(bench, point, skips, err));
    point.transposed = FR_TRANSPOSED_B;
    return fr_gemm_plan_coarse(bench, point, adds_little, err);
}

static void head(const struct fr_bench *bench, const struct fr_point *p, struct fr_text *text) {
    (void)bench;
    fr_sample_head_memory(
        &(struct fr_sample_memory){.kernel = FR_TRAFFIC_OPERANDS,
                                   .size_B = p->part ? 1024.0 * p->part : set_B(p),
                                   .moved_B = set_B(p),
                                   .m = p->m,
                                   .n = p->n,
                                   .k = p->k,
                                   .adds = p->transposed == FR_TRANSPOSED_B},
        text);
}

static fr_status run(void *context, int calls, struct fr_error *err) {
    const struct fr_work *work = context;
    const struct fr_point *p = work->point;
    struct rotation *rotation = work->state;
    int n_sets = p->part ? (int)(1024.0 * p->part / set_B(p)) : 1;
    (void)err;
    for (int i = 0; i < calls; i++) {
        rotation->at = (rotation->at + 1) % n_sets;
        if (p->transposed == FR_TRANSPOSED_B)
            fr_bench_add_product(rotation->pool, p->m, p->n, p->k, rotation->at);
        else
            fr_bench_multiply(rotation->pool, p->dtype, p->m, p->n, p->k, rotation->at,
                              FR_TRANSPOSED_NONE);
    }
    return FR_OK;
}

const struct fr_bench_row fr_bench_operands = {
    .name = "operands",
    .measures = "fp32 products whose operands come from sets of 4 MiB to 128 MiB",
    .feeds = "device.working_sets, device.gemm.fp32.from_memory and .adds",
    .call_s = 2e-3,
    .by_node = true,
    .shared_out = true,
    .needs_processor = true,
    .open = open_rotation,
    .close = close_rotation,
    .step = 1,
    .plan = plan,
    .head = head,
    .run = run,
};
