/** @file
 *  A transformer trained by nobody but one processor, in plain loops and double, a micro-batch at a time:
 *  what the parallel program's gradients are held against.  Nothing here is shared with it but the
 *  random numbers by place.
 *
 *  Matrices are row-major, activations features x tokens, a sample's tokens beside one another. */
#ifndef FR_TESTS_APPS_SERIAL_WORDS_H
#define FR_TESTS_APPS_SERIAL_WORDS_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/real/apps/random.h"

enum { WORDS_LAYERS = 8, WORDS_H = 16, WORDS_HEADS = 8, WORDS_D = 2, WORDS_F = 32 };
enum { WORDS_S = 8, WORDS_V = 96 };
/* Values of a layer's parts, in the order of its parameters, and where each begins. */
enum { NORM1, NORM1_BIAS, QKV, QKV_BIAS, OUT, OUT_BIAS, NORM2, NORM2_BIAS, UP, UP_BIAS, DOWN };
enum { DOWN_BIAS = DOWN + 1, WORDS_PARTS };
static const int words_rows[WORDS_PARTS] = {WORDS_H, WORDS_H, 3 * WORDS_H, 3 * WORDS_H,
                                            WORDS_H, WORDS_H, WORDS_H,     WORDS_H,
                                            WORDS_F, WORDS_F, WORDS_H,     WORDS_H};
static const int words_columns[WORDS_PARTS] = {1, 1, WORDS_H, 1, WORDS_H, 1,
                                               1, 1, WORDS_H, 1, WORDS_F, 1};
enum {
    WORDS_LAYER = 4 * WORDS_H + 3 * WORDS_H * WORDS_H + 3 * WORDS_H + WORDS_H * WORDS_H +
                  2 * WORDS_H + 2 * WORDS_H * WORDS_F + WORDS_F
};

static inline int words_at(int part) {
    int at = 0;
    for (int i = 0; i < part; i++) at += words_rows[i] * words_columns[i];
    return at;
}

/* Parameters, or their gradients. */
struct words {
    double layer[WORDS_LAYERS][WORDS_LAYER];
    double table[WORDS_V * WORDS_H], logits[WORDS_V * WORDS_H], positions[WORDS_H * WORDS_S],
        norm[2 * WORDS_H];
};

static inline void words_normal(uint64_t seed, uint64_t stream, int n, double sd, double *out) {
    for (int i = 0; i < n; i++) out[i] = sd * fr_normal_at(seed, stream, (uint64_t)i);
}

static inline void words_open(struct words *w, uint64_t seed, bool tied) {
    static const int matrices[] = {QKV, OUT, UP, DOWN};
    memset(w, 0, sizeof *w);
    for (int l = 0; l < WORDS_LAYERS; l++) {
        for (int i = 0; i < WORDS_H; i++)
            w->layer[l][words_at(NORM1) + i] = w->layer[l][words_at(NORM2) + i] = 1;
        for (int i = 0; i < 4; i++) {
            int part = matrices[i], n = words_rows[part] * words_columns[part];
            words_normal(seed, (uint64_t)(64 + 64 * l + i), n, 1 / sqrt(words_columns[part]),
                         w->layer[l] + words_at(part));
        }
    }
    for (int i = 0; i < WORDS_H; i++) w->norm[i] = 1;
    words_normal(seed, 4, WORDS_V * WORDS_H, 1 / sqrt(WORDS_H), w->table);
    words_normal(seed, tied ? 4 : 1004, WORDS_V * WORDS_H, 1 / sqrt(WORDS_H), w->logits);
    words_normal(seed, 5, WORDS_H * WORDS_S, 0.1, w->positions);
}

/* Word @p i of sample @p sample; its target is the word after it. */
static inline int words_word(uint64_t seed, int sample, int i) {
    return (int)(fr_random_at(seed, 3, (uint64_t)(sample * (WORDS_S + 1) + i)) % WORDS_V);
}

/* ---- parts of a layer ---------------------------------------------------------------------------- */

/* y (m x t) := w (m x n) x + bias. */
static inline void words_multiply(int m, int t, int n, const double *w, const double *bias,
                                  const double *x, double *y) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < t; j++) {
            double sum = bias ? bias[i] : 0;
            for (int l = 0; l < n; l++) sum += w[i * n + l] * x[l * t + j];
            y[i * t + j] = sum;
        }
}

/* dx := w^T dy; dw and dbias are added to. */
static inline void words_multiply_back(int m, int t, int n, const double *w, const double *x,
                                       const double *dy, double *dw, double *dbias,
                                       double *dx) {
    memset(dx, 0, (size_t)(n * t) * sizeof *dx);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < t; j++) {
            double d = dy[i * t + j];
            if (dbias) dbias[i] += d;
            for (int l = 0; l < n; l++) {
                dw[i * n + l] += d * x[l * t + j];
                dx[l * t + j] += d * w[i * n + l];
            }
        }
}

static inline void words_statistics(int t, int j, const double *x, double *mean, double *sd) {
    double sum = 0, squares = 0;
    for (int i = 0; i < WORDS_H; i++) sum += x[i * t + j];
    *mean = sum / WORDS_H;
    for (int i = 0; i < WORDS_H; i++) squares += pow(x[i * t + j] - *mean, 2);
    *sd = sqrt(squares / WORDS_H + 1e-5);
}

static inline void words_norm(int t, const double *x, const double *gain, const double *bias,
                              double *y) {
    for (int j = 0; j < t; j++) {
        double mean, sd;
        words_statistics(t, j, x, &mean, &sd);
        for (int i = 0; i < WORDS_H; i++)
            y[i * t + j] = gain[i] * (x[i * t + j] - mean) / sd + bias[i];
    }
}

/* dx is added to. */
static inline void words_norm_back(int t, const double *x, const double *gain, const double *dy,
                                   double *dgain, double *dbias, double *dx) {
    for (int j = 0; j < t; j++) {
        double mean, sd, sum = 0, along = 0;
        words_statistics(t, j, x, &mean, &sd);
        for (int i = 0; i < WORDS_H; i++) {
            double unit = (x[i * t + j] - mean) / sd, d = dy[i * t + j];
            dgain[i] += d * unit;
            dbias[i] += d;
            sum += gain[i] * d / WORDS_H;
            along += gain[i] * d * unit / WORDS_H;
        }
        for (int i = 0; i < WORDS_H; i++) {
            double unit = (x[i * t + j] - mean) / sd;
            dx[i * t + j] += (gain[i] * dy[i * t + j] - sum - unit * along) / sd;
        }
    }
}

/* Weights with which token i of a sample attends to those up to it. */
static inline void words_attend(int t, const double *q, const double *k, int first, int i,
                                double *weight) {
    double sum = 0;
    for (int j = 0; j <= i; j++) {
        double score = 0;
        for (int d = 0; d < WORDS_D; d++) score += q[d * t + first + i] * k[d * t + first + j];
        weight[j] = exp(score / sqrt(WORDS_D));
        sum += weight[j];
    }
    for (int j = 0; j <= i; j++) weight[j] /= sum;
}

/* c := attention of qkv; with dc the gradient dqkv besides. */
static inline void words_attention(int t, const double *qkv, double *c, const double *dc,
                                   double *dqkv) {
    int part = WORDS_H * t;
    memset(dc ? dqkv : c, 0, (size_t)(dc ? 3 * part : part) * sizeof *c);
    for (int head = 0; head < WORDS_HEADS; head++)
        for (int at = 0; at < t; at++) {
            int rows = head * WORDS_D * t, i = at % WORDS_S, first = at - i;
            const double *q = qkv + rows, *k = q + part, *v = k + part;
            double weight[WORDS_S], dweight[WORDS_S] = {0}, mean = 0;
            words_attend(t, q, k, first, i, weight);
            for (int j = 0; j <= i; j++)
                for (int d = 0; d < WORDS_D; d++) {
                    if (!dc) c[rows + d * t + at] += weight[j] * v[d * t + first + j];
                    if (!dc) continue;
                    double out = dc[rows + d * t + at];
                    dqkv[2 * part + rows + d * t + first + j] += weight[j] * out;
                    dweight[j] += v[d * t + first + j] * out;
                }
            if (!dc) continue;
            for (int j = 0; j <= i; j++) mean += weight[j] * dweight[j];
            for (int j = 0; j <= i; j++)
                for (int d = 0; d < WORDS_D; d++) {
                    double ds = weight[j] * (dweight[j] - mean) / sqrt(WORDS_D);
                    dqkv[rows + d * t + at] += ds * k[d * t + first + j];
                    dqkv[part + rows + d * t + first + j] += ds * q[d * t + at];
                }
        }
}

/* What a layer keeps of a micro-batch. */
struct words_kept {
    double *x, *a, *qkv, *c, *x1, *m, *u;
};

static inline double *words_room(int features, int t) {
    return calloc((size_t)(features * t), sizeof(double));
}

/* y := layer of x, both owned by the caller. */
static inline struct words_kept words_forward(const double *w, int t, double *x, double *y) {
    struct words_kept k = {.x = x,
                           .a = words_room(WORDS_H, t),
                           .qkv = words_room(3 * WORDS_H, t),
                           .c = words_room(WORDS_H, t),
                           .x1 = words_room(WORDS_H, t),
                           .m = words_room(WORDS_H, t),
                           .u = words_room(WORDS_F, t)};
    words_norm(t, x, w + words_at(NORM1), w + words_at(NORM1_BIAS), k.a);
    words_multiply(3 * WORDS_H, t, WORDS_H, w + words_at(QKV), w + words_at(QKV_BIAS), k.a,
                   k.qkv);
    words_attention(t, k.qkv, k.c, NULL, NULL);
    words_multiply(WORDS_H, t, WORDS_H, w + words_at(OUT), w + words_at(OUT_BIAS), k.c, k.x1);
    for (int i = 0; i < WORDS_H * t; i++) k.x1[i] += x[i];
    words_norm(t, k.x1, w + words_at(NORM2), w + words_at(NORM2_BIAS), k.m);
    words_multiply(WORDS_F, t, WORDS_H, w + words_at(UP), w + words_at(UP_BIAS), k.m, k.u);
    for (int i = 0; i < WORDS_F * t; i++) k.u[i] = fmax(0, k.u[i]);
    words_multiply(WORDS_H, t, WORDS_F, w + words_at(DOWN), w + words_at(DOWN_BIAS), k.u, y);
    for (int i = 0; i < WORDS_H * t; i++) y[i] += k.x1[i];
    return k;
}

/* dy becomes dx; what was kept is freed. */
static inline void words_backward(const double *w, double *g, int t, struct words_kept *k,
                                  double *dy) {
    double *du = words_room(WORDS_F, t), *dh = words_room(WORDS_H, t),
           *dqkv = words_room(3 * WORDS_H, t);
    words_multiply_back(WORDS_H, t, WORDS_F, w + words_at(DOWN), k->u, dy, g + words_at(DOWN),
                        g + words_at(DOWN_BIAS), du);
    for (int i = 0; i < WORDS_F * t; i++) du[i] = k->u[i] > 0 ? du[i] : 0;
    words_multiply_back(WORDS_F, t, WORDS_H, w + words_at(UP), k->m, du, g + words_at(UP),
                        g + words_at(UP_BIAS), dh);
    words_norm_back(t, k->x1, w + words_at(NORM2), dh, g + words_at(NORM2),
                    g + words_at(NORM2_BIAS), dy);
    words_multiply_back(WORDS_H, t, WORDS_H, w + words_at(OUT), k->c, dy, g + words_at(OUT),
                        g + words_at(OUT_BIAS), dh);
    words_attention(t, k->qkv, NULL, dh, dqkv);
    words_multiply_back(3 * WORDS_H, t, WORDS_H, w + words_at(QKV), k->a, dqkv,
                        g + words_at(QKV), g + words_at(QKV_BIAS), dh);
    words_norm_back(t, k->x, w + words_at(NORM1), dh, g + words_at(NORM1),
                    g + words_at(NORM1_BIAS), dy);
    double *const owned[] = {du, dh, dqkv, k->x, k->a, k->qkv, k->c, k->x1, k->m, k->u};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

/* ---- the ends ------------------------------------------------------------------------------------ */

/* x of @p samples from sample @p first on. */
static inline double *words_embed(const struct words *w, uint64_t seed, int first,
                                  int samples) {
    int t = samples * WORDS_S;
    double *x = words_room(WORDS_H, t);
    for (int j = 0; j < t; j++) {
        int word = words_word(seed, first + j / WORDS_S, j % WORDS_S);
        for (int i = 0; i < WORDS_H; i++)
            x[i * t + j] =
                w->table[word * WORDS_H + i] + w->positions[i * WORDS_S + j % WORDS_S];
    }
    return x;
}

static inline void words_embed_back(struct words *g, uint64_t seed, int first, int samples,
                                    const double *dx) {
    int t = samples * WORDS_S;
    for (int j = 0; j < t; j++) {
        int word = words_word(seed, first + j / WORDS_S, j % WORDS_S);
        for (int i = 0; i < WORDS_H; i++) {
            g->table[word * WORDS_H + i] += dx[i * t + j];
            g->positions[i * WORDS_S + j % WORDS_S] += dx[i * t + j];
        }
    }
}

/* Logits of x and their cross-entropy, a mean over @p all tokens. @param[out] dx  its gradient
 * @return the loss. */
static inline double words_loss(const struct words *w, struct words *g, uint64_t seed,
                                int first, int samples, int all, const double *x, double *dx) {
    int t = samples * WORDS_S;
    double loss = 0, *normed = words_room(WORDS_H, t), *z = words_room(WORDS_V, t),
           *dnormed = words_room(WORDS_H, t);
    words_norm(t, x, w->norm, w->norm + WORDS_H, normed);
    words_multiply(WORDS_V, t, WORDS_H, w->logits, NULL, normed, z);
    for (int j = 0; j < t; j++) {
        int target = words_word(seed, first + j / WORDS_S, j % WORDS_S + 1);
        double sum = 0;
        for (int v = 0; v < WORDS_V; v++) sum += exp(z[v * t + j]);
        loss += (log(sum) - z[target * t + j]) / all;
        for (int v = 0; v < WORDS_V; v++)
            z[v * t + j] = (exp(z[v * t + j]) / sum - (v == target)) / all;
    }
    words_multiply_back(WORDS_V, t, WORDS_H, w->logits, normed, z, g->logits, NULL, dnormed);
    memset(dx, 0, (size_t)(WORDS_H * t) * sizeof *dx);
    words_norm_back(t, x, w->norm, dnormed, g->norm, g->norm + WORDS_H, dx);
    free(normed);
    free(z);
    free(dnormed);
    return loss;
}

#endif
