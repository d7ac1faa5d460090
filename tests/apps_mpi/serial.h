/** @file
 *  Feed-forward networks trained by nobody but one processor, in plain loops and double: what the
 *  parallel programs' gradients are held against.  Nothing here is shared with them but the
 *  random numbers by place. */
#ifndef FR_TESTS_APPS_SERIAL_H
#define FR_TESTS_APPS_SERIAL_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "real/apps/ffn.h"
#include "real/apps/random.h"

enum { SERIAL_LAYERS = 3, SERIAL_MOST = 8 };

struct serial {
    int n_layers, batch, width[SERIAL_MOST + 1];
    double *w[SERIAL_MOST], *dw[SERIAL_MOST], *db[SERIAL_MOST]; /* out x in, out */
    double *y[SERIAL_MOST + 1]; /* width x batch; y[0] the inputs */
    double *target, loss;
};

/* A number as the programs keep it. */
static inline double serial_round(double x, bool fp32) { return fp32 ? (double)(float)x : x; }

static inline double *serial_normal(uint64_t seed, uint64_t stream, int64_t n, double sd,
                                    bool fp32) {
    double *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++)
        x[i] = serial_round(sd * fr_normal_at(seed, stream, (uint64_t)i), fp32);
    return x;
}

static inline void serial_multiply(int m, int n, int k, const double *a, const double *b,
                                   double *c) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int l = 0; l < k; l++) sum += a[i * k + l] * b[l * n + j];
            c[i * n + j] = sum;
        }
}

/* Data and a network of random weights; biases are zero. */
static inline void serial_open(struct serial *s, uint64_t seed, const int *width, int n_layers,
                               int batch, bool fp32) {
    int in = width[0], out = width[n_layers];
    *s = (struct serial){.n_layers = n_layers, .batch = batch};
    for (int i = 0; i <= n_layers; i++) s->width[i] = width[i];
    s->y[0] = serial_normal(seed, FR_STREAM_X, (int64_t)in * batch, 1, fp32);
    double *w = serial_normal(seed, FR_STREAM_W, (int64_t)out * in, 1 / sqrt(in), fp32);
    double *x = malloc((size_t)(in * batch) * sizeof *x);
    for (int i = 0; i < in * batch; i++) x[i] = fmax(0, s->y[0][i]);
    s->target = malloc((size_t)(out * batch) * sizeof *s->target);
    serial_multiply(out, batch, in, w, x, s->target);
    for (int i = 0; i < out * batch; i++)
        s->target[i] = serial_round(fmax(0, s->target[i]), fp32);
    free(w);
    free(x);
    for (int l = 0; l < n_layers; l++) {
        int64_t n = (int64_t)width[l] * width[l + 1];
        s->w[l] = serial_normal(seed, (uint64_t)(FR_STREAM_LAYER + 64 * l), n,
                                sqrt(1.0 / 3 / width[l]), fp32);
        s->dw[l] = calloc((size_t)n, sizeof *s->dw[l]);
        s->db[l] = calloc((size_t)width[l + 1], sizeof *s->db[l]);
        s->y[l + 1] = malloc((size_t)(width[l + 1] * batch) * sizeof *s->y[l + 1]);
    }
}

static inline void serial_gradients(struct serial *s) {
    int b = s->batch, last = s->n_layers, n = s->width[last] * b;
    double *dy = malloc((size_t)n * sizeof *dy);
    for (int l = 0; l < last; l++) {
        serial_multiply(s->width[l + 1], b, s->width[l], s->w[l], s->y[l], s->y[l + 1]);
        for (int i = 0; i < s->width[l + 1] * b; i++) s->y[l + 1][i] = fmax(0, s->y[l + 1][i]);
    }
    s->loss = 0;
    for (int i = 0; i < n; i++) {
        double e = s->y[last][i] - s->target[i];
        s->loss += e * e / n;
        dy[i] = 2 * e / n;
    }
    for (int l = last - 1; l >= 0; l--) {
        int in = s->width[l], out = s->width[l + 1];
        double *dx = calloc((size_t)(in * b), sizeof *dx);
        for (int o = 0; o < out; o++)
            for (int j = 0; j < b; j++) {
                double d = s->y[l + 1][o * b + j] > 0 ? dy[o * b + j] : 0;
                s->db[l][o] += d;
                for (int i = 0; i < in; i++) {
                    s->dw[l][o * in + i] += d * s->y[l][i * b + j];
                    dx[i * b + j] += d * s->w[l][o * in + i];
                }
            }
        free(dy);
        dy = dx;
    }
    free(dy);
}

static inline void serial_close(struct serial *s) {
    for (int l = 0; l < s->n_layers; l++) {
        free(s->w[l]);
        free(s->dw[l]);
        free(s->db[l]);
        free(s->y[l + 1]);
    }
    free(s->y[0]);
    free(s->target);
}

#endif
