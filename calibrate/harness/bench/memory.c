/* Traffic of one rank while all ranks have theirs, by working set: what is in use in turn, from a
 * share of a private cache to more than the last-level cache holds.
 *      stream  a[i] = b[i] + s c[i], counted as two reads and one write, as STREAM counts (McCalpin
 *              1995); the read that a write allocates is not, since models count a kernel's own
 *              traffic
 *      update  Adam (Kingma, Ba, ICLR 2015) over weights, gradients and both moments in fp32:
 *              four reads and three writes, 28 B a parameter of 16 B */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "calibrate/harness/bench.h"
#include "calibrate/harness/pages.h"
#include "calibrate/harness/streams.h"

enum { STREAM_ARRAYS = 3, UPDATE_ARRAYS = 4, UPDATE_MOVES = 7, LINE = 16 };
static const double MIN_B = 64 << 20, MAX_B = 512 << 20, SMALLEST_B = 64 << 10,
                    OCTAVES_FROM_B = 1 << 20;

struct block {
    float *values;
    double size_B;
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
    if (block) free(block->values);
    free(block);
}

/* All ranks must have sets of one size, or they would not stream at once. */
static fr_status open_block(struct fr_bench *bench, void **state, struct fr_error *err) {
    double size_B = largest_B(bench);
    FR_MPI_TRY(MPI_Bcast(&size_B, 1, MPI_DOUBLE, 0, bench->world));
    struct block *block = *state = calloc(1, sizeof *block);
    if (!block) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    size_t n = (size_t)(size_B / sizeof *block->values);
    block->values = fr_pages_alloc(n * sizeof *block->values);
    if (!block->values)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "%.0f B to stream over", size_B);
    for (size_t i = 0; i < n; i++) block->values[i] = 1e-3f;
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
static fr_status plan(struct fr_bench *bench, struct fr_error *err) {
    const struct block *block = bench->state[row_index()];
    struct fr_point point = {.row = &fr_bench_memory, .team = &bench->teams.team[0]};
    for (point.part = FR_TRAFFIC_STREAM; point.part <= FR_TRAFFIC_UPDATE; point.part++) {
        for (double size_B = SMALLEST_B; size_B < block->size_B * 0.75;
             size_B *= size_B < OCTAVES_FROM_B ? 4 : 2) {
            point.count = (int)(size_B / sizeof(float));
            FR_TRY(fr_bench_add(bench, &point, err));
        }
        point.count = (int)(block->size_B / sizeof(float));
        FR_TRY(fr_bench_add(bench, &point, err));
    }
    return FR_OK;
}

/* Values of each array, a whole number of cache lines. */
static size_t array_length(const struct fr_point *point) {
    int arrays = point->part == FR_TRAFFIC_UPDATE ? UPDATE_ARRAYS : STREAM_ARRAYS;
    return (size_t)(point->count / arrays) / LINE * LINE;
}

static void head(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text) {
    bool update = point->part == FR_TRAFFIC_UPDATE;
    double n_B = (double)array_length(point) * sizeof(float);
    (void)bench;
    fr_sample_head_memory(
        &(struct fr_sample_memory){.kernel = point->part,
                                   .size_B = (double)point->count * sizeof(float),
                                   .moved_B = (update ? UPDATE_MOVES : STREAM_ARRAYS) * n_B},
        text);
}

static fr_status run(void *context, int calls, struct fr_error *err) {
    const struct fr_work *work = context;
    float *x = ((const struct block *)work->state)->values;
    size_t n = array_length(work->point);
    (void)err;
    for (int i = 0; i < calls; i++)
        if (work->point->part == FR_TRAFFIC_UPDATE)
            fr_stream_adam(x, x + n, x + 2 * n, x + 3 * n, n);
        else
            fr_stream_triad(x, x + n, x + 2 * n, i & 1 ? 0.5f : 2.0f, n);
    return FR_OK;
}

const struct fr_bench_row fr_bench_memory = {
    .name = "memory",
    .measures = "triad and Adam over 64 KiB to more than the caches hold, all ranks at once",
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
