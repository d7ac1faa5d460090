/* Memory bandwidth of one rank while all ranks stream: a[i] = b[i] + s c[i] over arrays larger
 * than the caches.  Counted as two reads and one write, as STREAM counts (McCalpin 1995); the
 * read that a write allocates is not counted, since models count a kernel's own traffic. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "calibrate/harness/bench.h"

enum { ARRAYS = 3 };
static const double MIN_B = 64 << 20, MAX_B = 512 << 20;

struct arrays {
    double *block;
    size_t n; /* of each */
};

/* Bytes of one rank's arrays: together twice the last-level cache, at most an eighth of memory.
 * Virtual machines report the cache of a whole socket, hence the upper bound. */
static double arrays_B(const struct fr_bench *bench) {
    double cache_B = 0, ranks = (double)bench->provenance.ranks_per_node;
#ifdef _SC_LEVEL3_CACHE_SIZE
    cache_B = fmax(0, (double)sysconf(_SC_LEVEL3_CACHE_SIZE));
#endif
    double wanted_B = fmin(fmax(MIN_B, 2 * cache_B / ranks), MAX_B);
    return fmin(wanted_B, bench->provenance.memory_B / (8 * ranks));
}

static void close_arrays(void *state) {
    struct arrays *arrays = state;
    if (arrays) free(arrays->block);
    free(arrays);
}

/* All ranks must have arrays of one size, or they would not stream at once. */
static fr_status open_arrays(struct fr_bench *bench, void **state, struct fr_error *err) {
    double size_B = arrays_B(bench);
    FR_MPI_TRY(MPI_Bcast(&size_B, 1, MPI_DOUBLE, 0, bench->world));
    struct arrays *arrays = *state = calloc(1, sizeof *arrays);
    if (!arrays) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    arrays->n = (size_t)(size_B / (ARRAYS * sizeof(double)));
    arrays->block = malloc(ARRAYS * arrays->n * sizeof *arrays->block);
    if (!arrays->block)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "%.0f B to stream over", size_B);
    for (size_t i = 0; i < ARRAYS * arrays->n; i++) arrays->block[i] = 1.0;
    return FR_OK;
}

static fr_status plan(struct fr_bench *bench, struct fr_error *err) {
    return fr_bench_add(
        bench, &(struct fr_point){.row = &fr_bench_memory, .team = &bench->teams.team[0]}, err);
}

static size_t row_index(void) {
    size_t i = 0;
    while (fr_bench_rows[i] != &fr_bench_memory) i++;
    return i;
}

static void head(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text) {
    const struct arrays *arrays = bench->state[row_index()];
    (void)point;
    fr_sample_head_memory(
        &(struct fr_sample_memory){.size_B = (double)(ARRAYS * arrays->n * sizeof(double))},
        text);
}

static void triad(double *restrict a, const double *restrict b, const double *restrict c,
                  double s, size_t n) {
    for (size_t i = 0; i < n; i++) a[i] = b[i] + s * c[i];
}

static fr_status run(void *context, int calls, struct fr_error *err) {
    const struct fr_work *work = context;
    const struct arrays *arrays = work->state;
    double *a = arrays->block, *b = a + arrays->n, *c = b + arrays->n;
    (void)err;
    for (int i = 0; i < calls; i++) triad(a, b, c, i & 1 ? 0.5 : 2.0, arrays->n);
    return FR_OK;
}

const struct fr_bench_row fr_bench_memory = {
    .name = "memory",
    .measures = "triad over arrays larger than the caches, all ranks at once",
    .feeds = "device.memory_bandwidth",
    .by_node = true,
    .needs_processor = true,
    .open = open_arrays,
    .close = close_arrays,
    .plan = plan,
    .head = head,
    .run = run,
};
