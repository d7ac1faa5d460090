/* What it costs that a product's operands were not used just before.  Rows gemm and gemm_fp64 measure
 * every shape on one set of operands; a training step comes back to a matrix only when it has been
 * through all the others.
 *   Five shapes go through one set of operands after another, out of a working set of 4 MiB to 128 MiB,
 *     and through one set alone: how much of the way to memory a working set is.
 *   A grid of shapes, thin ones too, goes through 128 MiB: what the whole way costs each of them.  Bytes do
 *     not tell: a long product hides them behind its arithmetic, a thin one waits, the longer its rows
 *     are the more.  Where all three dimensions are large nothing is left to see, and nothing is measured. */
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/measure/harness/gemm_points.h"

static const double SMALLEST_B = 4 << 20, LARGEST_B = 128 << 20;
/* Forward, weight-gradient and wider products of a layer, each of a few hundred KiB. */
static const struct {
    int m, n, k;
} shapes[] = {{256, 32, 256}, {256, 256, 32}, {256, 128, 256}, {512, 32, 512}, {512, 512, 32}};
enum { SHAPES = sizeof shapes / sizeof *shapes };
static const int dimensions[] = {4, 32, 256, 512, 1024, 2048};
enum { DIMENSIONS = sizeof dimensions / sizeof *dimensions, QUICK = 1024 };

struct rotation {
    char *pool;
    int at, turn; /* set whose turn it is; form of the product (gemm_points.c) */
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

/* The thinnest, the middle and the largest first. */
static int step_of_dimension(int i) { return i == 0 || i == 2 || i == DIMENSIONS - 1 ? 0 : 1; }

static fr_status plan_grid(struct fr_bench *bench, struct fr_point point,
                           struct fr_error *err) {
    int count = DIMENSIONS;
    while (bench->options.quick && dimensions[count - 1] > QUICK) count--;
    for (int i = 0; i < count * count * count; i++) {
        const int at[] = {i / (count * count), i / count % count, i % count};
        point.m = dimensions[at[0]];
        point.n = dimensions[at[1]];
        point.k = dimensions[at[2]];
        point.part = (int)(LARGEST_B / 1024);
        point.step =
            step_of_dimension(at[0]) + step_of_dimension(at[1]) + step_of_dimension(at[2]);
        bool large = point.m >= FR_SAMPLE_LARGE && point.n >= FR_SAMPLE_LARGE &&
                     point.k >= FR_SAMPLE_LARGE;
        if (!large && !among_shapes(&point)) FR_TRY(fr_bench_add(bench, &point, err));
    }
    return FR_OK;
}

/* A point's part is its working set in KiB; 0: one set of operands. */
static fr_status plan(struct fr_bench *bench, struct fr_error *err) {
    struct fr_point point = {
        .row = &fr_bench_operands, .team = &bench->teams.team[0], .dtype = FR_FP32, .batch = 1};
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
    return plan_grid(bench, point, err);
}

static void head(const struct fr_bench *bench, const struct fr_point *p, struct fr_text *text) {
    (void)bench;
    fr_sample_head_memory(
        &(struct fr_sample_memory){.kernel = FR_TRAFFIC_OPERANDS,
                                   .size_B = p->part ? 1024.0 * p->part : set_B(p),
                                   .moved_B = set_B(p),
                                   .m = p->m,
                                   .n = p->n,
                                   .k = p->k},
        text);
}

static fr_status run(void *context, int calls, struct fr_error *err) {
    const struct fr_work *work = context;
    const struct fr_point *p = work->point;
    struct rotation *rotation = work->state;
    int n_sets = p->part ? (int)(1024.0 * p->part / set_B(p)) : 1;
    (void)err;
    bool as_stored =
        among_shapes(p); /* what differs by working set is seen best on one of the forms */
    for (int i = 0; i < calls; i++) {
        rotation->at = (rotation->at + 1) % n_sets;
        fr_bench_multiply(rotation->pool, p->dtype, p->m, p->n, p->k, rotation->at,
                          as_stored ? 0 : rotation->turn++ % 3);
    }
    return FR_OK;
}

const struct fr_bench_row fr_bench_operands = {
    .name = "operands",
    .measures = "fp32 products whose operands come from sets of 4 MiB to 128 MiB",
    .feeds = "device.working_sets, device.gemm.fp32.from_memory",
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
