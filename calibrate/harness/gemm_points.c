/* Matrix products on all ranks at once, as training runs them: row-major C = A B with A m x k,
 * B k x n, no transposition, one thread a rank.  The calls of a sample go through a rotating set
 * of operands, so that a small product is long against the clock's resolution and its operands
 * come from where a training step's come from, not all from the first-level cache. */
#include "calibrate/harness/gemm_points.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

/* The pool must hold one operand set of the largest shape: 3 * 2048^2 fp32 values are 48 MiB. */
void fr_bench_multiply(void *pool, fr_dtype dtype, int m, int n, int k, int i) {
    size_t a = (size_t)m * (size_t)k, b = (size_t)k * (size_t)n, c = (size_t)m * (size_t)n;
    size_t item_B = dtype == FR_FP64 ? sizeof(double) : sizeof(float);
    size_t set_B = ((a + b + c) * item_B + 63) / 64 * 64, n_sets = FR_BENCH_POOL_B / set_B;
    char *base = (char *)pool + (n_sets ? (size_t)i % n_sets : 0) * set_B;
    void *pa = base, *pb = base + a * item_B, *pc = base + (a + b) * item_B;
    if (dtype == FR_FP64)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0, pa, k, pb, n, 0.0,
                    pc, n);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, pa, k, pb, n,
                    0.0f, pc, n);
}

void *fr_bench_pool(void) {
    void *pool = aligned_alloc(64, FR_BENCH_POOL_B);
    if (pool) memset(pool, 0, FR_BENCH_POOL_B);
    openblas_set_num_threads(1);
    return pool;
}

fr_status fr_gemm_open(struct fr_bench *bench, void **state, struct fr_error *err) {
    (void)bench;
    *state = fr_bench_pool();
    return *state ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "the operands do not fit");
}

fr_status fr_gemm_run(void *context, int calls, struct fr_error *err) {
    const struct fr_work *work = context;
    const struct fr_point *p = work->point;
    (void)err;
    for (int i = 0; i < calls * p->batch; i++)
        fr_bench_multiply(work->state, p->dtype, p->m, p->n, p->k, i);
    return FR_OK;
}

void fr_gemm_head(const struct fr_bench *bench, const struct fr_point *point,
                  struct fr_text *text) {
    const struct fr_sample_gemm sample = {.dtype = point->dtype,
                                          .m = point->m,
                                          .n = point->n,
                                          .k = point->k,
                                          .batch = point->batch};
    (void)bench;
    fr_sample_head_gemm(&sample, text);
}

fr_status fr_gemm_plan_grid(struct fr_bench *bench, const struct fr_bench_row *row,
                            fr_dtype dtype, int largest, struct fr_error *err) {
    struct fr_point point = {
        .row = row, .team = &bench->teams.team[0], .dtype = dtype, .batch = 1};
    for (point.m = 2; point.m <= largest; point.m *= 2)
        for (point.n = 2; point.n <= largest; point.n *= 2)
            for (point.k = 2; point.k <= largest; point.k *= 2)
                FR_TRY(fr_bench_add(bench, &point, err));
    return FR_OK;
}
