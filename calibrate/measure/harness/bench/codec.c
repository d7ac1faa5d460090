/* PowerSGD of an m x n matrix at rank r, as models/plan/compression/powersgd.c counts its work:
 *      encode  P = M Q, P orthogonalised column by column, Q = M^T P
 *      decode  P Q^T
 * Vogels, Karimireddy, Jaggi, NeurIPS 2019, algorithm 1. */
#include <cblas.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/random.h"
#include "calibrate/measure/harness/bench.h"
#include "calibrate/measure/harness/pages.h"

enum { ENCODE, DECODE, LARGEST = 2048, RANK_MAX = 64 };

struct matrices {
    float *m, *p, *q, *out;
};

static void close_matrices(void *state) {
    struct matrices *x = state;
    if (!x) return;
    free(x->m);
    free(x->p);
    free(x->q);
    free(x->out);
    free(x);
}

static fr_status open_matrices(struct fr_bench *bench, void **state, struct fr_error *err) {
    size_t large = (size_t)LARGEST * LARGEST, thin = (size_t)LARGEST * RANK_MAX;
    uint64_t random = 1;
    struct matrices *x = *state = fr_calloc(1, sizeof *x);
    (void)bench;
    if (x) {
        x->m = fr_pages_alloc(large * sizeof *x->m);
        x->p = fr_pages_alloc(thin * sizeof *x->p);
        x->q = fr_pages_alloc(thin * sizeof *x->q);
        x->out = fr_pages_alloc(large * sizeof *x->out);
    }
    if (!x || !x->m || !x->p || !x->q || !x->out)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the matrices of codec do not fit in memory");
    for (size_t i = 0; i < large; i++)
        x->m[i] = (float)(fr_random_uniform(fr_random_next(&random)) - 0.5);
    for (size_t i = 0; i < thin; i++) x->p[i] = x->q[i] = x->m[i];
    return FR_OK;
}

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    struct fr_point point = {.row = row, .team = &bench->teams.team[0]};
    int largest = bench->options.quick ? LARGEST / 2 : LARGEST;
    for (point.m = 512; point.m <= largest; point.m *= 2)
        for (point.n = 512; point.n <= point.m; point.n *= 2)
            for (point.k = 4; point.k <= RANK_MAX; point.k *= 4)
                for (point.part = ENCODE; point.part <= DECODE; point.part++)
                    FR_TRY(fr_bench_add(bench, &point, err));
    return FR_OK;
}

static void head(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text) {
    const struct fr_sample_codec sample = {
        .part = point->part, .m = point->m, .n = point->n, .rank = point->k};
    (void)bench;
    fr_sample_head_codec(&sample, text);
}

/* Modified Gram-Schmidt on the columns of the row-major m x r matrix P; a column that vanishes
 * is left at zero. */
static void orthogonalise(float *p, int m, int r) {
    for (int j = 0; j < r; j++) {
        float norm = cblas_snrm2(m, p + j, r);
        cblas_sscal(m, norm > 0 ? 1 / norm : 0, p + j, r);
        for (int i = j + 1; i < r; i++)
            cblas_saxpy(m, -cblas_sdot(m, p + j, r, p + i, r), p + j, r, p + i, r);
    }
}

static fr_status run(void *context, int calls, struct fr_error *err) {
    const struct fr_work *work = context;
    const struct matrices *x = work->state;
    int m = work->point->m, n = work->point->n, r = work->point->k;
    (void)err;
    for (int i = 0; i < calls; i++) {
        if (work->point->part == DECODE) {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, r, 1, x->p, r, x->q, r,
                        0, x->out, n);
            continue;
        }
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, r, n, 1, x->m, n, x->q, r, 0,
                    x->p, r);
        orthogonalise(x->p, m, r);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, r, m, 1, x->m, n, x->p, r, 0,
                    x->q, r);
    }
    return FR_OK;
}

const struct fr_bench_row fr_bench_codec = {
    .name = "codec",
    .measures = "PowerSGD encode and decode of 512 to 2048 squares and halves, ranks 4, 16, 64",
    .feeds = "reported: the codec's price against what device.gemm and device.launch give it",
    .call_s = 0.3e-3,
    .by_node = true,
    .shared_out = true,
    .needs_processor = true,
    .open = open_matrices,
    .close = close_matrices,
    .step = 3,
    .plan = plan,
    .head = head,
    .run = run,
};
