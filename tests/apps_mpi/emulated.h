/** @file
 *  Compressed training by one processor in plain loops and double, beside serial.h.  Networks are divided into parts
 *  whose messages and gradients go through a codec, which has its state from one matrix to the next.  Only the random
 *  numbers are shared with the real programs. */
#ifndef FR_TESTS_APPS_EMULATED_H
#define FR_TESTS_APPS_EMULATED_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "real/apps/random.h"

/* A codec of m x n matrices: PowerSGD, whose Q is r x n and stays from one to the next; or top-k, (m + n) r values. */
struct emulated_codec {
    int m, n, rank;
    bool lazy, topk;
    double *q, *error;
};

static inline void emulated_open(struct emulated_codec *c, int m, int n, int rank, bool lazy,
                                 uint64_t seed, uint64_t stream) {
    *c = (struct emulated_codec){.m = m, .n = n, .rank = rank, .lazy = lazy};
    c->q = malloc((size_t)(rank * n) * sizeof *c->q);
    c->error = calloc((size_t)(m * n), sizeof *c->error);
    for (int i = 0; i < rank * n; i++) c->q[i] = fr_normal_at(seed, stream, (uint64_t)i);
}

static inline void emulated_close(struct emulated_codec *c) {
    free(c->q);
    free(c->error);
}

static inline double emulated_dot(const double *x, const double *y, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Rows of p (rank x m), one made orthogonal to those before it, and of length one; one of which only
 * rounding is left, as of a matrix of a lower rank, is zero. */
static inline void emulated_orthonormalise(double *p, int rank, int m) {
    double longest = 0;
    for (int i = 0; i < rank; i++) {
        double *row = p + i * m;
        longest = fmax(longest, emulated_dot(row, row, m));
        for (int j = 0; j < i; j++) {
            double share = emulated_dot(p + j * m, row, m);
            for (int x = 0; x < m; x++) row[x] -= share * p[j * m + x];
        }
        double length = emulated_dot(row, row, m);
        if (length <= 1e-24 * longest) length = 0;
        for (int x = 0; x < m; x++) row[x] = length > 0 ? row[x] / sqrt(length) : 0;
    }
}

/* Magnitude by which top-k chooses: the upper half of a double, without its sign. */
static inline uint32_t emulated_magnitude(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint32_t)(bits >> 32) & 0x7fffffffu;
}

struct emulated_value {
    uint32_t magnitude;
    int at;
};
static inline int emulated_by_magnitude(const void *x, const void *y) {
    const struct emulated_value *a = x, *b = y;
    if (a->magnitude != b->magnitude) return a->magnitude < b->magnitude ? 1 : -1;
    return b->at - a->at;
}

/* sent[i]: is value i among the largest, of equal ones the last? */
static inline void emulated_choose(const double *x, int n, int saved, bool *sent) {
    struct emulated_value *all = malloc((size_t)n * sizeof *all);
    for (int i = 0; i < n; i++)
        all[i] = (struct emulated_value){emulated_magnitude(x[i]), i}, sent[i] = false;
    qsort(all, (size_t)n, sizeof *all, emulated_by_magnitude);
    for (int i = 0; i < saved; i++) sent[all[i].at] = true;
    free(all);
}

static inline void emulated_topk(struct emulated_codec *codec, int replicas, double **in) {
    int n = codec->m * codec->n, saved = (codec->m + codec->n) * codec->rank;
    double *sum = calloc((size_t)n, sizeof *sum);
    bool *sent = malloc((size_t)n * sizeof *sent);
    for (int d = 0; d < replicas; d++) {
        for (int i = 0; i < n; i++) in[d][i] += codec[d].lazy ? codec[d].error[i] : 0;
        emulated_choose(in[d], n, saved, sent);
        for (int i = 0; i < n; i++) {
            sum[i] += sent[i] ? in[d][i] : 0;
            codec[d].error[i] = sent[i] ? 0 : in[d][i];
        }
    }
    free(sent);
    for (int d = 0; d < replicas; d++) memcpy(in[d], sum, (size_t)n * sizeof *sum);
    free(sum);
}

/* The matrices of several replicas, in[replica] of m x n, become in place what all of them decode:
 * their sum, or, of one alone, the message.  @p codec has one for each replica. */
static inline void emulated_code(struct emulated_codec *codec, int replicas, double **in) {
    int m = codec->m, n = codec->n, rank = codec->rank;
    if (codec->topk) {
        emulated_topk(codec, replicas, in);
        return;
    }
    double *p = calloc((size_t)(rank * m), sizeof *p),
           *q = calloc((size_t)(rank * n), sizeof *q);
    for (int d = 0; d < replicas; d++)
        for (int x = 0; x < m * n; x++) in[d][x] += codec[d].lazy ? codec[d].error[x] : 0;
    for (int d = 0; d < replicas; d++)
        for (int i = 0; i < rank; i++)
            for (int x = 0; x < m; x++)
                p[i * m + x] += emulated_dot(codec[d].q + i * n, in[d] + x * n, n);
    emulated_orthonormalise(p, rank, m);
    for (int d = 0; d < replicas; d++) {
        memset(codec[d].q, 0, (size_t)(rank * n) * sizeof *q);
        for (int i = 0; i < rank; i++)
            for (int x = 0; x < m; x++)
                for (int y = 0; y < n; y++)
                    codec[d].q[i * n + y] += p[i * m + x] * in[d][x * n + y];
        for (int x = 0; x < m; x++)
            for (int y = 0; y < n; y++) {
                double saved = 0;
                for (int i = 0; i < rank; i++) saved += p[i * m + x] * codec[d].q[i * n + y];
                codec[d].error[x * n + y] = in[d][x * n + y] - saved;
            }
        for (int i = 0; i < rank * n; i++) q[i] += codec[d].q[i];
    }
    for (int d = 0; d < replicas; d++) {
        for (int i = 0; i < rank * n; i++) codec[d].q[i] = q[i] / replicas;
        for (int x = 0; x < m; x++)
            for (int y = 0; y < n; y++) {
                in[d][x * n + y] = 0;
                for (int i = 0; i < rank; i++) in[d][x * n + y] += p[i * m + x] * q[i * n + y];
            }
    }
    free(p);
    free(q);
}

#endif
