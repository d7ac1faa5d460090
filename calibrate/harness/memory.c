/* Memory bandwidth of one rank while all ranks stream: a[i] = b[i] + s c[i] over arrays larger
 * than the caches.  Counted as two reads and one write, as STREAM counts (McCalpin 1995); the
 * read that a write allocates is not counted, since models count a kernel's own traffic. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "calibrate/harness/bench.h"

enum { ARRAYS = 3, PASSES = 11 };
static const double MIN_B = 64 << 20, MAX_B = 512 << 20;

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

static void triad(double *restrict a, const double *restrict b, const double *restrict c,
                  double s, size_t n) {
    for (size_t i = 0; i < n; i++) a[i] = b[i] + s * c[i];
}

static fr_status record(struct fr_bench *bench, double size_B, int rep, double time_s,
                        struct fr_error *err) {
    struct fr_sample_memory sample = {.size_B = size_B, .rep = rep, .time_s = time_s};
    struct fr_text line = {0};
    if (bench->rank != 0) return FR_OK;
    fr_sample_line_memory(&sample, &line);
    return fr_sample_put(bench->fd, bench->options.samples, &line, err);
}

static fr_status stream(struct fr_bench *bench, double *block, size_t n, double budget_s,
                        struct fr_error *err) {
    double *a = block, *b = a + n, *c = b + n, end_s = fr_now_s() + budget_s;
    int go_on = 1;
    for (int rep = -1; go_on && rep < PASSES; rep++) { /* -1: warm-up */
        double span_s = 0;
        fr_bench_progress(bench, "memory bandwidth", rep + 1, PASSES);
        FR_TRY(fr_mpi_barrier(bench->world, err));
        double start_s = fr_now_s();
        triad(a, b, c, rep & 1 ? 0.5 : 2.0, n);
        FR_TRY(fr_bench_span(bench, start_s, fr_now_s(), &span_s, err));
        if (rep >= 0) FR_TRY(record(bench, (double)(ARRAYS * n * sizeof *a), rep, span_s, err));
        go_on = rep < 2 || fr_now_s() < end_s;
        FR_MPI_TRY(MPI_Bcast(&go_on, 1, MPI_INT, 0, bench->world));
    }
    fr_bench_progress(bench, "memory bandwidth", PASSES, PASSES);
    return FR_OK;
}

fr_status fr_bench_memory(struct fr_bench *bench, double budget_s, struct fr_error *err) {
    double size_B = arrays_B(bench);
    /* All ranks must have arrays of one size, or they would not stream at once. */
    FR_MPI_TRY(MPI_Bcast(&size_B, 1, MPI_DOUBLE, 0, bench->world));
    size_t n = (size_t)(size_B / (ARRAYS * sizeof(double)));
    double *block = malloc(ARRAYS * n * sizeof *block);
    if (!block) return fr_fail(err, FR_ERR_NOMEM, NULL, "%.0f bytes to stream over", size_B);
    for (size_t i = 0; i < ARRAYS * n; i++) block[i] = 1.0;
    fr_status status = stream(bench, block, n, budget_s, err);
    free(block);
    return status;
}
