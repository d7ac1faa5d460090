/** @file
 *  A phantom product as one processor sees it: the dense matrix that its blocks, compressors and
 *  decompressors make, and from that one's gradients those of a rank's parts. */
#ifndef FR_TESTS_APPS_SERIAL_PHANTOM_H
#define FR_TESTS_APPS_SERIAL_PHANTOM_H

#include "tests/apps_mpi/serial.h"

/* Where a rank's matrices are among its values. */
struct serial_matrix {
    int at, m, n;
};

/* m x n over p ranks with k ghost neurons each: compressors [j][k][n/p], decompressors [i][j][m/p][k]. */
struct serial_phantom {
    int m, n, p, k;
    double *c, *d;
};

/* The blocks on the diagonal of @p w stay; the others become those of ghost neurons. */
static inline void serial_phantom_open(struct serial_phantom *s, uint64_t seed, uint64_t stream,
                                       int m, int n, int p, int k, double *w) {
    int in = n / p, out = m / p;
    *s = (struct serial_phantom){.m = m, .n = n, .p = p, .k = k};
    s->c = serial_normal(seed, stream + 1, (int64_t)p * k * in, 1 / sqrt(in), false);
    s->d = serial_normal(seed, stream + 2, (int64_t)p * p * out * k, sqrt(1.0 / 3 / (p * k)),
                         false);
    for (int j = 0; j < p; j++)
        for (int i = 0; i < p; i++)
            for (int o = 0; o < out && i != j; o++)
                for (int x = 0; x < in; x++) {
                    double sum = 0;
                    for (int g = 0; g < k; g++)
                        sum +=
                            s->d[((i * p + j) * out + o) * k + g] * s->c[(i * k + g) * in + x];
                    w[(j * out + o) * n + i * in + x] = sum;
                }
}

static inline void serial_phantom_close(struct serial_phantom *s) {
    free(s->c);
    free(s->d);
    *s = (struct serial_phantom){0};
}

/* Gradients of rank @p j's matrices from @p dw of the dense one; where they are, from value @p at on.
 * @return how many values. */
static inline int serial_phantom_part(const struct serial_phantom *s, int j, const double *dw,
                                      double *out, int at, struct serial_matrix *matrix,
                                      int *n_matrices) {
    int p = s->p, k = s->k, in = s->n / p, rows = s->m / p, n = 0;
    matrix[(*n_matrices)++] = (struct serial_matrix){at, rows, in};
    for (int o = 0; o < rows; o++)
        for (int x = 0; x < in; x++) out[n++] = dw[(j * rows + o) * s->n + j * in + x];
    matrix[(*n_matrices)++] = (struct serial_matrix){at + n, k, in};
    for (int g = 0; g < k; g++) /* dC_j = sum over others of D_ji^T dM_ij */
        for (int x = 0; x < in; x++, n++) {
            out[n] = 0;
            for (int to = 0; to < p; to++)
                for (int o = 0; o < rows && to != j; o++)
                    out[n] += s->d[((j * p + to) * rows + o) * k + g] *
                              dw[(to * rows + o) * s->n + j * in + x];
        }
    for (int i = 0; i < p; i++) { /* dD_ij = dM_ji C_i^T */
        if (i == j) continue;
        matrix[(*n_matrices)++] = (struct serial_matrix){at + n, rows, k};
        for (int o = 0; o < rows; o++)
            for (int g = 0; g < k; g++, n++) {
                out[n] = 0;
                for (int x = 0; x < in; x++)
                    out[n] +=
                        dw[(j * rows + o) * s->n + i * in + x] * s->c[(i * k + g) * in + x];
            }
    }
    return n;
}

#endif
