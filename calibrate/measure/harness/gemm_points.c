/* Matrix products on all ranks at once, as training runs them: row-major C = A B with A m x k,
 * B k x n, one thread a rank.  In fp32 each shape is timed as its operands are (a layer's
 * output).  On a coarser grid it is also timed with A transposed (its input gradient) and with
 * B (its weight gradient): libraries take up to three times as long over thin transposed ones.
 * For the other types the calls of a sample take turns.  They use one set of operands, so that
 * small ones are in cache.  A training step pays more, since its operands come from a larger
 * working set; that is measured apart (calibrate/measure/harness/bench/operands.c).  The sets
 * of a batch are different. */
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

void fr_bench_multiply(void *pool, fr_dtype dtype, int m, int n, int k, int i,
                       fr_transposed transposed) {
    bool a = transposed == FR_TRANSPOSED_A, b = transposed == FR_TRANSPOSED_B;
    CBLAS_TRANSPOSE ta = a ? CblasTrans : CblasNoTrans, tb = b ? CblasTrans : CblasNoTrans;
    int lda = a ? m : k, ldb = b ? k : n;
    size_t a_B = (size_t)m * (size_t)k * item_B(dtype),
           b_B = (size_t)k * (size_t)n * item_B(dtype);
    char *base = (char *)pool + (size_t)i * fr_bench_operands_B(dtype, m, n, k);
    void *pa = base, *pb = base + a_B, *pc = base + a_B + b_B;
    if (dtype == FR_FP64)
        cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1.0, pa, lda, pb, ldb, 0.0, pc, n);
    else
        cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0f, pa, lda, pb, ldb, 0.0f, pc, n);
}

void fr_bench_add_product(void *pool, int m, int n, int k, int i) {
    float *a = (float *)(void *)((char *)pool +
                                 (size_t)i * fr_bench_operands_B(FR_FP32, m, n, k)),
          *b = a + (size_t)m * (size_t)k, *c = b + (size_t)k * (size_t)n;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1.0f, a, k, b, k, 1.0f, c, n);
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

static fr_transposed transposed_of(const struct fr_point *p, int turn) {
    return p->transposed ? p->transposed : (fr_transposed)(FR_TRANSPOSED_NONE + turn % 3);
}

fr_status fr_gemm_run(void *context, int calls, struct fr_error *err) {
    const struct fr_work *work = context;
    const struct fr_point *p = work->point;
    (void)err;
    for (int i = 0; i < calls * p->batch; i++)
        fr_bench_multiply(work->state, p->dtype, p->m, p->n, p->k, i % p->batch,
                          transposed_of(p, i / p->batch));
    return FR_OK;
}

struct fr_device_task fr_gemm_device_task(const struct fr_point *point) {
    return (struct fr_device_task){.kind = FR_DEVICE_PRODUCT,
                                   .dtype = point->dtype,
                                   .m = point->m,
                                   .n = point->n,
                                   .k = point->k,
                                   .batch = point->batch,
                                   .transposed = point->transposed,
                                   .blocks = point->blocks};
}

fr_status fr_gemm_device_run(void *context, int calls, struct fr_error *err) {
    struct fr_work *work = context;
    const struct fr_device_task task = fr_gemm_device_task(work->point);
    return fr_bench_device_run_hot(work, &task, calls, err);
}

void fr_gemm_head(const struct fr_bench *bench, const struct fr_point *point,
                  struct fr_text *text) {
    const struct fr_sample_gemm sample = {.dtype = point->dtype,
                                          .m = point->m,
                                          .n = point->n,
                                          .k = point->k,
                                          .batch = point->batch,
                                          .transposed = (int)point->transposed,
                                          .blocks = point->blocks};
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

fr_status fr_gemm_plan_grid(struct fr_bench *bench, struct fr_point point, int largest,
                            struct fr_error *err) {
    int last = exponent(largest);
    point.team = &bench->teams.team[0];
    point.batch = 1;
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

/* The thinnest, the middle and the largest first. */
static int coarse_step(int i, int last) { return i == 0 || i == 2 || i == last ? 0 : 1; }

fr_status fr_gemm_plan_coarse(struct fr_bench *bench, struct fr_point point,
                              bool (*skips)(const struct fr_point *), struct fr_error *err) {
    static const int sizes[] = {4, 32, 256, 512, 1024, 2048};
    enum { SIZES = sizeof sizes / sizeof *sizes, QUICK = 1024 };
    int count = SIZES;
    point.team = &bench->teams.team[0];
    point.batch = 1;
    while (bench->options.quick && sizes[count - 1] > QUICK) count--;
    for (int i = 0; i < count * count * count; i++) {
        const int at[] = {i / (count * count), i / count % count, i % count};
        point.m = sizes[at[0]];
        point.n = sizes[at[1]];
        point.k = sizes[at[2]];
        point.step = 0;
        for (int axis = 0; axis < 3; axis++) point.step += coarse_step(at[axis], SIZES - 1);
        if (!skips(&point)) FR_TRY(fr_bench_add(bench, &point, err));
    }
    return FR_OK;
}
