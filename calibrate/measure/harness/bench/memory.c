/* Traffic of one rank while all ranks have theirs, by working set: what is in use in turn, from a
 * share of a private cache to more than the last-level cache holds.
 *      stream       a[i] = b[i] + s c[i], counted as two reads and one write, as STREAM counts
 *                   (McCalpin 1995); the read that a write allocates is not, since models count a
 *                   kernel's own traffic
 *      elementwise  bias with activation, forward and backward: FR_ELEMENTWISE_PASSES
 *      norm         normalisation of each of 128 tokens over its features, forward and backward
 *      softmax      of rows of 128 scores, forward and backward
 *      update       Adam over weights, gradients and both moments in fp32: four reads and three
 *                   writes, 28 B a parameter of 16 B
 *      select       the eighth of all values that is largest, by FR_TOPK_PASSES of a sort, each of which
 *                   reads and writes a value and its place
 * These are the programs' own loops (kernels.h).  Out of a private cache the arithmetic of all but
 * the first takes longer than the data do. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "calibrate/measure/harness/bench.h"
#include "calibrate/measure/harness/kernels.h"
#include "calibrate/measure/harness/pages.h"
#include "calibrate/measure/harness/streams.h"
#include "models/plan/compression.h"
#include "models/work/method.h"

extern const struct fr_bench_row fr_bench_memory; /* below */

enum { COLUMNS = 128, VECTORS = 6 };
static const double MIN_B = 64 << 20, MAX_B = 512 << 20, SMALLEST_B = 64 << 10,
                    OCTAVES_FROM_B = 1 << 20;

/* Arrays of n values each, one after the other at x, and vectors of as many values as an array has
 * rows, or COLUMNS. */
struct arrays {
    const struct fr_kernels *k;
    float *x;
    size_t n;
    float *vector[VECTORS];
};

static float *array(const struct arrays *a, size_t i) { return a->x + i * a->n; }
static int rows(const struct arrays *a) { return (int)(a->n / COLUMNS); }

static void stream(const struct arrays *a) {
    fr_stream_triad(array(a, 0), array(a, 1), array(a, 2), 0.5f, a->n);
}

static void elementwise(const struct arrays *a) {
    a->k->bias_relu(rows(a), COLUMNS, a->vector[0], array(a, 0));
    a->k->relu_backward(rows(a), COLUMNS, array(a, 0), array(a, 1), a->vector[1]);
}

static void norm(const struct arrays *a) {
    float *const *v = a->vector;
    a->k->norm(rows(a), COLUMNS, array(a, 0), v[0], v[1], v[2], v[3], array(a, 1));
    a->k->norm_backward(rows(a), COLUMNS, array(a, 0), v[0], v[2], v[3], array(a, 2),
                        array(a, 3), v[4], v[5]);
}

/* A gradient through equal weights, times their number, is itself less its mean: it stays as large
 * however often that is done. */
static void softmax(const struct arrays *a) {
    a->k->softmax(rows(a), COLUMNS, false, 1, array(a, 0));
    a->k->softmax_backward(rows(a), COLUMNS, COLUMNS, array(a, 0), array(a, 1));
}

static void update(const struct arrays *a) {
    static const struct fr_update late = {1e-3, 0.9, 0.999, 1e-8, 1000000};
    a->k->adam(a->n, &late, array(a, 0), array(a, 1), array(a, 2), array(a, 3));
}

static void select_largest(const struct arrays *a) {
    size_t selected = a->n / 8;
    float *values = array(a, 5);
    a->k->select_largest(a->n, selected, array(a, 0), (uint32_t *)(void *)array(a, 1), values,
                         (uint32_t *)(void *)(values + selected));
}

/* By fr_traffic; what is no loop over memory has none. */
static const struct loop {
    void (*run)(const struct arrays *arrays);
    size_t arrays;
    double passes;    /* over one array, as models count them */
    double largest_B; /* beyond it is as slow as a stream */
} loops[FR_TRAFFIC_COUNT] = {
    [FR_TRAFFIC_STREAM] = {stream, 3, 3, 1e18},
    [FR_TRAFFIC_ELEMENTWISE] = {elementwise, 2, FR_ELEMENTWISE_PASSES, 64 << 20},
    [FR_TRAFFIC_NORM] = {norm, 4, 3 * FR_NORM_PASSES, 16 << 20},
    [FR_TRAFFIC_SOFTMAX] = {softmax, 2, 3 * FR_SOFTMAX_PASSES, 16 << 20},
    [FR_TRAFFIC_UPDATE] = {update, 4, 7, 1e18},
    [FR_TRAFFIC_SELECT] = {select_largest, 6, FR_TOPK_PASSES * 2 * 2, 16 << 20},
};

struct block {
    float *values, *vectors;
    double size_B;
    const struct fr_point *filled; /* for this one */
};

/* Bytes of the largest set: twice the rank's share of the last-level cache, at most an eighth of
 * memory.  Virtual machines report the cache of a whole socket, hence the upper bound. */
static double largest_B(const struct fr_bench *bench) {
    double cache_B = 0, ranks = (double)bench->provenance.ranks_per_node;
#ifdef _SC_LEVEL3_CACHE_SIZE
    cache_B = fmax(0, (double)sysconf(_SC_LEVEL3_CACHE_SIZE));
#endif
    double wanted_B = fmin(fmax(MIN_B, 2 * cache_B / ranks), MAX_B);
    return fmin(wanted_B, bench->provenance.memory_B / (8 * ranks));
}

static void close_block(void *state) {
    struct block *block = state;
    if (block) {
        free(block->values);
        free(block->vectors);
    }
    free(block);
}

/* Values of all magnitudes up to 1e-3: roots and quotients of equal numbers, or of zeros, are
 * faster than a training step's. */
static void fill(struct block *block, size_t n) {
    for (size_t i = 0; i < n; i++)
        block->values[i] = 1e-6f * (float)((uint32_t)i * 2654435761u % 1000 + 1);
}

/* All ranks must have sets of one size, or they would not stream at once. */
static fr_status open_block(struct fr_bench *bench, void **state, struct fr_error *err) {
    double size_B = largest_B(bench);
    FR_MPI_TRY(MPI_Bcast(&size_B, 1, MPI_DOUBLE, 0, bench->world));
    struct block *block = *state = fr_calloc(1, sizeof *block);
    if (!block) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    size_t n = (size_t)(size_B / sizeof *block->values);
    block->values = fr_pages_alloc(n * sizeof *block->values);
    block->vectors = fr_calloc(VECTORS * (n / COLUMNS), sizeof *block->vectors);
    if (!block->values || !block->vectors)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "%.0f B to stream over", size_B);
    fill(block, n);
    block->size_B = (double)n * sizeof *block->values;
    return FR_OK;
}

static size_t row_index(void) {
    size_t i = 0;
    while (fr_bench_rows[i] != &fr_bench_memory) i++;
    return i;
}

/* Two sizes within a private cache, every octave above, and the largest, which is what
 * memory_bandwidth is. */
static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    const struct block *block = bench->state[row_index()];
    struct fr_point point = {.row = row, .team = &bench->teams.team[0]};
    for (point.part = 0; point.part < FR_TRAFFIC_COUNT; point.part++) {
        const struct loop *loop = &loops[point.part];
        int decades = 0;
        if (!loop->run) continue;
        for (double size_B = SMALLEST_B;
             size_B < block->size_B * 0.75 && size_B <= loop->largest_B;
             size_B *= size_B < OCTAVES_FROM_B ? 4 : 2) {
            point.count = (int)(size_B / sizeof(float));
            point.step = decades == 0 ? FR_STEP_NEEDED : decades % 3 != 0; /* a decade apart */
            decades++;
            FR_TRY(fr_bench_add(bench, &point, err));
        }
        if (block->size_B > loop->largest_B) continue;
        point.count = (int)(block->size_B / sizeof(float));
        point.step = FR_STEP_NEEDED;
        FR_TRY(fr_bench_add(bench, &point, err));
    }
    return FR_OK;
}

/* Values of each array, in whole rows. */
static size_t array_length(const struct fr_point *point) {
    return (size_t)point->count / loops[point->part].arrays / COLUMNS * COLUMNS;
}

static void head(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text) {
    double n_B = (double)array_length(point) * sizeof(float);
    (void)bench;
    fr_sample_head_memory(
        &(struct fr_sample_memory){.kernel = point->part,
                                   .size_B = (double)point->count * sizeof(float),
                                   .moved_B = loops[point->part].passes * n_B},
        text);
}

static fr_status run(void *context, int calls, struct fr_error *err) {
    const struct fr_work *work = context;
    struct block *block = work->state;
    const struct loop *loop = &loops[work->point->part];
    struct arrays arrays = {
        .k = fr_kernels_of(FR_FP32), .x = block->values, .n = array_length(work->point)};
    (void)err;
    size_t longest = arrays.n / COLUMNS > COLUMNS ? arrays.n / COLUMNS : COLUMNS;
    for (size_t i = 0; i < VECTORS; i++) arrays.vector[i] = block->vectors + i * longest;
    /* Values that another loop left may be zeros, and moments that decay towards them become
     * denormal numbers, at a fifth of the speed.  A visit's first call is not among its
     * samples. */
    if (block->filled != work->point) fill(block, loop->arrays * arrays.n);
    block->filled = work->point;
    for (int i = 0; i < calls; i++) loop->run(&arrays);
    return FR_OK;
}

const struct fr_bench_row fr_bench_memory = {
    .name = "memory",
    .measures = "triad, layers' loops and Adam over 64 KiB to more than the caches hold, all "
                "ranks at once",
    .feeds = "device.memory_bandwidth, device.working_sets",
    .call_s = 0.5e-3,
    .by_node = true,
    .needs_processor = true,
    .open = open_block,
    .close = close_block,
    .plan = plan,
    .head = head,
    .run = run,
};
