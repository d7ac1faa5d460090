/* Matrix products on all ranks at once, as training runs them: row-major C = A B with A m x k,
 * B k x n, one thread a rank.  The calls of a sample take turns: A and B as they are (a layer's
 * output), A transposed (its input gradient), B transposed (its weight gradient), since libraries
 * take up to three times as long over small transposed ones.  They use one set of operands, so that
 * small ones are in cache: what a training step pays above that, since its operands come from a
 * larger working set, is measured apart (bench/operands.c).  The sets of a batch are different. */
#include "calibrate/measure/harness/gemm_points.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/measure/harness/pages.h"

static size_t item_B(fr_dtype dtype) {
    return dtype == FR_FP64 ? sizeof(double) : sizeof(float);
}

size_t fr_bench_operands_B(fr_dtype dtype, int m, int n, int k) {
    size_t a = (size_t)m * (size_t)k, b = (size_t)k * (size_t)n, c = (size_t)m * (size_t)n;
    return ((a + b + c) * item_B(dtype) + 63) / 64 * 64;
}

void fr_bench_multiply(void *pool, fr_dtype dtype, int m, int n, int k, int i, int turn) {
    CBLAS_TRANSPOSE ta = turn % 3 == 1 ? CblasTrans : CblasNoTrans,
                    tb = turn % 3 == 2 ? CblasTrans : CblasNoTrans;
    int lda = turn % 3 == 1 ? m : k, ldb = turn % 3 == 2 ? k : n;
    size_t a_B = (size_t)m * (size_t)k * item_B(dtype),
           b_B = (size_t)k * (size_t)n * item_B(dtype);
    char *base = (char *)pool + (size_t)i * fr_bench_operands_B(dtype, m, n, k);
    void *pa = base, *pb = base + a_B, *pc = base + a_B + b_B;
    if (dtype == FR_FP64)
        cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1.0, pa, lda, pb, ldb, 0.0, pc, n);
    else
        cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0f, pa, lda, pb, ldb, 0.0f, pc, n);
}

void *fr_bench_pool(size_t size_B) {
    void *pool = fr_pages_alloc(size_B);
    if (pool) memset(pool, 0, size_B);
    openblas_set_num_threads(1);
    return pool;
}

fr_status fr_gemm_open(struct fr_bench *bench, void **state, struct fr_error *err) {
    (void)bench;
    *state = fr_bench_pool(FR_BENCH_POOL_B);
    return *state ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "the operands do not fit");
}

fr_status fr_gemm_run(void *context, int calls, struct fr_error *err) {
    const struct fr_work *work = context;
    const struct fr_point *p = work->point;
    (void)err;
    for (int i = 0; i < calls * p->batch; i++)
        fr_bench_multiply(work->state, p->dtype, p->m, p->n, p->k, i % p->batch, i / p->batch);
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

static int exponent(int dimension) {
    int i = 0;
    while (dimension >> (i + 1)) i++;
    return i;
}

int fr_bench_dimension_step(int i, int last) {
    int low = 1, high = last;
    if (i == low || i == high) return FR_STEP_NEEDED;
    for (int step = 0;; step++) {
        int middle = (low + high) / 2;
        if (i == middle) return step;
        *(i < middle ? &high : &low) = middle;
    }
}

fr_status fr_gemm_plan_grid(struct fr_bench *bench, const struct fr_bench_row *row,
                            fr_dtype dtype, int largest, struct fr_error *err) {
    int last = exponent(largest);
    struct fr_point point = {
        .row = row, .team = &bench->teams.team[0], .dtype = dtype, .batch = 1};
    for (point.m = 2; point.m <= largest; point.m *= 2)
        for (point.n = 2; point.n <= largest; point.n *= 2)
            for (point.k = 2; point.k <= largest; point.k *= 2) {
                const int at[] = {exponent(point.m), exponent(point.n), exponent(point.k)};
                point.step = FR_STEP_NEEDED; /* the corners of the grid */
                for (int i = 0; i < 3; i++) {
                    int step = fr_bench_dimension_step(at[i], last);
                    if (step > point.step) point.step = step;
                }
                FR_TRY(fr_bench_add(bench, &point, err));
            }
    return FR_OK;
}
