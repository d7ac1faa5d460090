/* Matrix products on all ranks at once, as training runs them: row-major C = A B with A m x k,
 * B k x n, no transposition, one thread a rank.  A batch of calls goes through a rotating set of
 * operands, so that a small product is long against the clock's resolution and its operands come
 * from where a training step's come from, not all from the first-level cache. */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/harness/bench.h"

/* The pool must hold one operand set of the largest shape: 3 * 2048^2 fp32 values are 48 MiB. */
enum {
    POOL_B = 64 << 20,
    AXIS_MAX = 16,
    PASSES_MAX = 15,
    LARGEST = 2048,
    LARGEST_QUICK = 1024
};
static const double BATCH_S = 0.3e-3; /* aimed at: ten thousand clock ticks */

struct gemm_bench {
    fr_dtype dtype;
    const char *title;
    int n_axis;
    int axis[AXIS_MAX]; /* the same for m, n and k */
    void *pool;
    int *calls; /* of a batch, per point; 0 = not yet known */
};

/* Operand set @p i of a shape in the pool. */
static void multiply(const struct gemm_bench *g, int m, int n, int k, int i) {
    size_t a = (size_t)m * (size_t)k, b = (size_t)k * (size_t)n, c = (size_t)m * (size_t)n;
    size_t item_B = g->dtype == FR_FP64 ? sizeof(double) : sizeof(float);
    size_t set_B = ((a + b + c) * item_B + 63) / 64 * 64, n_sets = POOL_B / set_B;
    char *base = (char *)g->pool + (n_sets ? (size_t)i % n_sets : 0) * set_B;
    void *pa = base, *pb = base + a * item_B, *pc = base + (a + b) * item_B;
    if (g->dtype == FR_FP64)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0, pa, k, pb, n, 0.0,
                    pc, n);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, pa, k, pb, n,
                    0.0f, pc, n);
}

static fr_status record(struct fr_bench *bench, const struct fr_sample_gemm *sample,
                        struct fr_error *err) {
    struct fr_text line = {0};
    if (bench->rank != 0) return FR_OK;
    fr_sample_line_gemm(sample, &line);
    return fr_sample_put(bench->fd, bench->options.samples, &line, err);
}

/* Calls of a batch that lasts BATCH_S, the same on all ranks; the first call, which may fault
 * pages in, decides alone when it is long. */
static fr_status find_calls(struct gemm_bench *g, int m, int n, int k, int *calls,
                            struct fr_error *err) {
    enum { TRIAL = 4 };
    double start_s = fr_now_s(), slowest_s = 0;
    multiply(g, m, n, k, 0);
    double once_s = fr_now_s() - start_s;
    if (once_s < BATCH_S) {
        start_s = fr_now_s();
        for (int i = 0; i < TRIAL; i++) multiply(g, m, n, k, i + 1);
        once_s = (fr_now_s() - start_s) / TRIAL;
    }
    FR_MPI_TRY(MPI_Allreduce(&once_s, &slowest_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    *calls = (int)fmin(fmax(1, ceil(BATCH_S / fmax(slowest_s, 1e-8))), 20000);
    return FR_OK;
}

static fr_status visit(struct fr_bench *bench, struct gemm_bench *g, int point, int rep,
                       struct fr_error *err) {
    int m = g->axis[point / (g->n_axis * g->n_axis)],
        n = g->axis[point / g->n_axis % g->n_axis];
    int k = g->axis[point % g->n_axis], *calls = &g->calls[point];
    double span_s = 0;
    if (*calls == 0) FR_TRY(find_calls(g, m, n, k, calls, err));
    FR_TRY(fr_mpi_barrier(bench->world, err));
    double start_s = fr_now_s();
    for (int i = 0; i < *calls; i++) multiply(g, m, n, k, i);
    FR_TRY(fr_bench_span(bench, start_s, fr_now_s(), &span_s, err));
    struct fr_sample_gemm sample = {
        .dtype = g->dtype, .m = m, .n = n, .k = k, .rep = rep, .time_s = span_s / *calls};
    return record(bench, &sample, err);
}

static fr_status passes(struct fr_bench *bench, struct gemm_bench *g, int *order,
                        double budget_s, struct fr_error *err) {
    int n_points = g->n_axis * g->n_axis * g->n_axis, go_on = 1;
    int n_passes = bench->options.reps < PASSES_MAX ? bench->options.reps : PASSES_MAX;
    double end_s = fr_now_s() + budget_s;
    for (int rep = 0; go_on && rep < n_passes; rep++) {
        fr_bench_shuffle(&bench->rng, order, n_points);
        for (int i = 0; go_on && i < n_points; i++) {
            if (i % 32 == 0) {
                fr_bench_progress(bench, g->title, i, n_points);
                go_on = rep == 0 || fr_now_s() < end_s;
                FR_MPI_TRY(MPI_Bcast(&go_on, 1, MPI_INT, 0, bench->world));
            }
            if (go_on) FR_TRY(visit(bench, g, order[i], rep, err));
        }
    }
    fr_bench_progress(bench, g->title, n_points, n_points);
    return FR_OK;
}

static fr_status run(struct fr_bench *bench, fr_dtype dtype, const char *title, int largest,
                     double budget_s, struct fr_error *err) {
    struct gemm_bench g = {.dtype = dtype, .title = title};
    for (int size = 2; size <= largest; size *= 2) g.axis[g.n_axis++] = size;
    size_t n_points = (size_t)(g.n_axis * g.n_axis * g.n_axis);
    int *order = calloc(n_points, sizeof *order);
    g.calls = calloc(n_points, sizeof *g.calls);
    g.pool = aligned_alloc(64, POOL_B);
    fr_status status = FR_ERR_NOMEM;
    if (!order || !g.calls || !g.pool) {
        status = fr_fail(err, FR_ERR_NOMEM, NULL, "the operands do not fit in memory");
        goto done;
    }
    memset(g.pool, 0, POOL_B);
    openblas_set_num_threads(1);
    status = passes(bench, &g, order, budget_s, err);
done:
    free(order);
    free(g.calls);
    free(g.pool);
    return status;
}

fr_status fr_bench_gemm_fp32(struct fr_bench *bench, double budget_s, struct fr_error *err) {
    int largest = bench->options.quick ? LARGEST_QUICK : LARGEST;
    return run(bench, FR_FP32, "matrix products, fp32", largest, budget_s, err);
}

fr_status fr_bench_gemm_fp64(struct fr_bench *bench, double budget_s, struct fr_error *err) {
    return run(bench, FR_FP64, "matrix products, fp64", 512, budget_s, err);
}
