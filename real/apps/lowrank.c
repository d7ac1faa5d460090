#include "real/apps/lowrank.h"

#include <math.h>
#include <stdlib.h>

#include "real/apps/random.h"

static void *q_of(const struct fr_kernels *k, const struct fr_lowrank *c, const void *factors) {
    return fr_at(k, factors, (size_t)c->rank * (size_t)c->m);
}

bool fr_lowrank_open(const struct fr_kernels *k, int m, int n, int rank, bool lazy,
                     uint64_t seed, uint64_t stream, struct fr_lowrank *c) {
    *c = (struct fr_lowrank){.m = m, .n = n, .rank = rank, .lazy = lazy};
    c->factors = fr_real_alloc(k, fr_lowrank_size(c));
    c->error = lazy ? fr_real_alloc(k, (int64_t)m * n) : NULL;
    if (!c->factors || (lazy && !c->error)) return false;
    fr_fill_normal(k, seed, stream, 0, rank, 0, n, n, 1, q_of(k, c, c->factors));
    return true;
}

void fr_lowrank_close(struct fr_lowrank *c) {
    free(c->factors);
    free(c->error);
    *c = (struct fr_lowrank){0};
}

void fr_lowrank_add_error(struct fr_real *real, struct fr_lowrank *c, void *matrix) {
    if (c->lazy) FR_COMPUTE(real, real->k->add((size_t)c->m * (size_t)c->n, c->error, matrix));
}

void fr_lowrank_project(struct fr_real *real, struct fr_lowrank *c, const void *matrix) {
    const struct fr_kernels *k = real->k;
    FR_COMPUTE(real, k->gemm(false, true, c->rank, c->m, c->n, 1, q_of(k, c, c->factors), c->n,
                             matrix, c->n, 0, c->factors, c->m));
}

/* Modified Gram-Schmidt: row i is made orthogonal to those before it.  A row that vanishes, as
 * where the matrix has a lower rank, stays zero. */
static void orthonormalise(const struct fr_kernels *k, const struct fr_lowrank *c) {
    size_t m = (size_t)c->m;
    double largest = 0;
    for (size_t i = 0; i < (size_t)c->rank; i++) {
        void *row = fr_at(k, c->factors, i * m);
        double before = k->dot(m, row, row);
        if (before > largest) largest = before;
        for (size_t j = 0; j < i; j++) {
            const void *other = fr_at(k, c->factors, j * m);
            k->axpy(m, -k->dot(m, other, row), other, row);
        }
        double norm = k->dot(m, row, row);
        k->scale(m, norm > 1e-24 * largest && norm > 0 ? 1 / sqrt(norm) : 0, row, row);
    }
}

void fr_lowrank_back_project(struct fr_real *real, struct fr_lowrank *c, const void *matrix) {
    const struct fr_kernels *k = real->k;
    FR_COMPUTE(real, orthonormalise(k, c));
    FR_COMPUTE(real, k->gemm(false, false, c->rank, c->n, c->m, 1, c->factors, c->m, matrix,
                             c->n, 0, q_of(k, c, c->factors), c->n));
}

void fr_lowrank_keep_error(struct fr_real *real, struct fr_lowrank *c, const void *matrix) {
    if (!c->lazy) return;
    fr_lowrank_decode(real, c, c->factors, 1, c->error);
    FR_COMPUTE(real, real->k->subtract((size_t)c->m * (size_t)c->n, matrix, c->error));
}

void fr_lowrank_encode(struct fr_real *real, struct fr_lowrank *c, void *matrix) {
    fr_lowrank_add_error(real, c, matrix);
    fr_lowrank_project(real, c, matrix);
    fr_lowrank_back_project(real, c, matrix);
    fr_lowrank_keep_error(real, c, matrix);
}

void fr_lowrank_decode(struct fr_real *real, const struct fr_lowrank *c, const void *factors,
                       double scale, void *matrix) {
    const struct fr_kernels *k = real->k;
    FR_COMPUTE(real, k->gemm(true, false, c->m, c->n, c->rank, scale, factors, c->m,
                             q_of(k, c, factors), c->n, 0, matrix, c->n));
}
