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

#include "real/apps/random.h"

enum { WORDS_LAYERS = 8, WORDS_H = 16, WORDS_HEADS = 8, WORDS_D = 2, WORDS_F = 32 };
enum { WORDS_S = 8, WORDS_V = 96 };
/* Values of a layer's parts, in the order of its parameters, and where each begins. */
enum { NORM1, NORM1_BIAS, QKV, QKV_BIAS, OUT, OUT_BIAS, NORM2, NORM2_BIAS, UP, UP_BIAS, DOWN };
enum { DOWN_BIAS = DOWN + 1, WORDS_PARTS };
/* Parts of a cross-attention that heads have: norm, qkv, out. */
enum { WORDS_CROSS_PARTS = NORM2 };
static const int words_rows[WORDS_PARTS] = {WORDS_H, WORDS_H, 3 * WORDS_H, 3 * WORDS_H,
                                            WORDS_H, WORDS_H, WORDS_H,     WORDS_H,
                                            WORDS_F, WORDS_F, WORDS_H,     WORDS_H};
static const int words_columns[WORDS_PARTS] = {1, 1, WORDS_H, 1, WORDS_H, 1,
                                               1, 1, WORDS_H, 1, WORDS_F, 1};
enum {
    WORDS_LAYER = 4 * WORDS_H + 3 * WORDS_H * WORDS_H + 3 * WORDS_H + WORDS_H * WORDS_H +
                  2 * WORDS_H + 2 * WORDS_H * WORDS_F + WORDS_F
};

enum {
    WORDS_CROSS =
        2 * WORDS_H + 3 * WORDS_H * WORDS_H + 3 * WORDS_H + WORDS_H * WORDS_H + WORDS_H
};

static inline int words_at(int part) {
    int at = 0;
    for (int i = 0; i < part; i++) at += words_rows[i] * words_columns[i];
    return at;
}

/* Parameters, or their gradients. */
struct words {
    double layer[WORDS_LAYERS][WORDS_LAYER];
    double cross[WORDS_LAYERS][WORDS_CROSS];
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
        for (int i = 0; i < WORDS_H; i++) w->cross[l][words_at(NORM1) + i] = 1;
        for (int i = 0; i < 2; i++)
            words_normal(seed, (uint64_t)(64 + 64 * l + 32 + i),
                         words_rows[matrices[i]] * WORDS_H, 1 / sqrt(WORDS_H),
                         w->cross[l] + words_at(matrices[i]));
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

/* Weights with which token i of a sample attends to its first n. */
static inline void words_attend(int t, const double *q, const double *k, int first, int i,
                                int n, double *weight) {
    double sum = 0;
    for (int j = 0; j < n; j++) {
        double score = 0;
        for (int d = 0; d < WORDS_D; d++) score += q[d * t + first + i] * k[d * t + first + j];
        weight[j] = exp(score / sqrt(WORDS_D));
        sum += weight[j];
    }
    for (int j = 0; j < n; j++) weight[j] /= sum;
}

/* c := attention of qkv, to all tokens or those up to each; with dc the gradient dqkv besides. */
static inline void words_attention(int t, bool causal, const double *qkv, double *c,
                                   const double *dc, double *dqkv) {
    int part = WORDS_H * t;
    memset(dc ? dqkv : c, 0, (size_t)(dc ? 3 * part : part) * sizeof *c);
    for (int head = 0; head < WORDS_HEADS; head++)
        for (int at = 0; at < t; at++) {
            int rows = head * WORDS_D * t, i = at % WORDS_S, first = at - i,
                seen = causal ? i + 1 : WORDS_S;
            const double *q = qkv + rows, *k = q + part, *v = k + part;
            double weight[WORDS_S], dweight[WORDS_S] = {0}, mean = 0;
            words_attend(t, q, k, first, i, seen, weight);
            for (int j = 0; j < seen; j++)
                for (int d = 0; d < WORDS_D; d++) {
                    if (!dc) c[rows + d * t + at] += weight[j] * v[d * t + first + j];
                    if (!dc) continue;
                    double out = dc[rows + d * t + at];
                    dqkv[2 * part + rows + d * t + first + j] += weight[j] * out;
                    dweight[j] += v[d * t + first + j] * out;
                }
            if (!dc) continue;
            for (int j = 0; j < seen; j++) mean += weight[j] * dweight[j];
            for (int j = 0; j < seen; j++)
                for (int d = 0; d < WORDS_D; d++) {
                    double ds = weight[j] * (dweight[j] - mean) / sqrt(WORDS_D);
                    dqkv[rows + d * t + at] += ds * k[d * t + first + j];
                    dqkv[part + rows + d * t + first + j] += ds * q[d * t + at];
                }
        }
}

/* Values that a layer saves of a micro-batch; for a cross-attention its input, e, and the results of both. */
struct words_saved {
    bool causal;
    double *x, *a, *qkv, *c, *x1, *m, *u;
    double *from, *e, *read, *seen, *met;
};

static inline double *words_scratch(int features, int t) {
    return calloc((size_t)(features * t), sizeof(double));
}

/* y := x with heads whose queries are made of its norm a, keys and values of @p e, or of a where that is NULL. */
static inline void words_heads(const double *w, int t, bool causal, const double *x,
                               const double *e, double *a, double *qkv, double *c, double *y) {
    int q = WORDS_H * t;
    const double *matrix = w + words_at(QKV), *bias = w + words_at(QKV_BIAS);
    words_norm(t, x, w + words_at(NORM1), w + words_at(NORM1_BIAS), a);
    words_multiply(WORDS_H, t, WORDS_H, matrix, bias, a, qkv);
    words_multiply(2 * WORDS_H, t, WORDS_H, matrix + WORDS_H * WORDS_H, bias + WORDS_H,
                   e ? e : a, qkv + q);
    words_attention(t, causal, qkv, c, NULL, NULL);
    words_multiply(WORDS_H, t, WORDS_H, w + words_at(OUT), w + words_at(OUT_BIAS), c, y);
    for (int i = 0; i < q; i++) y[i] += x[i];
}

/* dy becomes dx; of e the gradient is added to @p de. */
static inline void words_heads_back(const double *w, double *g, int t, bool causal,
                                    const double *x, const double *e, const double *a,
                                    const double *qkv, const double *c, double *dy,
                                    double *de) {
    int q = WORDS_H * t, qkv_at = words_at(QKV), bias_at = words_at(QKV_BIAS);
    double *dh = words_scratch(WORDS_H, t), *dqkv = words_scratch(3 * WORDS_H, t),
           *pair = words_scratch(WORDS_H, t);
    words_multiply_back(WORDS_H, t, WORDS_H, w + words_at(OUT), c, dy, g + words_at(OUT),
                        g + words_at(OUT_BIAS), dh);
    words_attention(t, causal, qkv, NULL, dh, dqkv);
    words_multiply_back(WORDS_H, t, WORDS_H, w + qkv_at, a, dqkv, g + qkv_at, g + bias_at, dh);
    words_multiply_back(2 * WORDS_H, t, WORDS_H, w + qkv_at + WORDS_H * WORDS_H, e ? e : a,
                        dqkv + q, g + qkv_at + WORDS_H * WORDS_H, g + bias_at + WORDS_H, pair);
    for (int i = 0; i < q; i++) *(e ? de + i : dh + i) += pair[i];
    words_norm_back(t, x, w + words_at(NORM1), dh, g + words_at(NORM1),
                    g + words_at(NORM1_BIAS), dy);
    free(dh);
    free(dqkv);
    free(pair);
}

/* y := layer of x, both owned by the caller; of a decoder's, with weights @p across, e stays its. */
static inline struct words_saved words_forward(const double *w, const double *across,
                                               bool causal, int t, double *x, double *e,
                                               double *y) {
    struct words_saved k = {.causal = causal,
                            .e = e,
                            .x = x,
                            .a = words_scratch(WORDS_H, t),
                            .qkv = words_scratch(3 * WORDS_H, t),
                            .c = words_scratch(WORDS_H, t),
                            .x1 = words_scratch(WORDS_H, t),
                            .m = words_scratch(WORDS_H, t),
                            .u = words_scratch(WORDS_F, t)};
    words_heads(w, t, causal, x, NULL, k.a, k.qkv, k.c, k.x1);
    if (across) {
        k.from = k.x1;
        k.read = words_scratch(WORDS_H, t), k.seen = words_scratch(3 * WORDS_H, t);
        k.met = words_scratch(WORDS_H, t), k.x1 = words_scratch(WORDS_H, t);
        words_heads(across, t, false, k.from, e, k.read, k.seen, k.met, k.x1);
    }
    words_norm(t, k.x1, w + words_at(NORM2), w + words_at(NORM2_BIAS), k.m);
    words_multiply(WORDS_F, t, WORDS_H, w + words_at(UP), w + words_at(UP_BIAS), k.m, k.u);
    for (int i = 0; i < WORDS_F * t; i++) k.u[i] = fmax(0, k.u[i]);
    words_multiply(WORDS_H, t, WORDS_F, w + words_at(DOWN), w + words_at(DOWN_BIAS), k.u, y);
    for (int i = 0; i < WORDS_H * t; i++) y[i] += k.x1[i];
    return k;
}

/* dy becomes dx; what was kept is freed. @param across  a decoder's, with its gradients and de, or NULL */
static inline void words_backward(const double *w, double *g, const double *across,
                                  double *g_across, int t, struct words_saved *k, double *dy,
                                  double *de) {
    double *du = words_scratch(WORDS_F, t), *dh = words_scratch(WORDS_H, t);
    words_multiply_back(WORDS_H, t, WORDS_F, w + words_at(DOWN), k->u, dy, g + words_at(DOWN),
                        g + words_at(DOWN_BIAS), du);
    for (int i = 0; i < WORDS_F * t; i++) du[i] = k->u[i] > 0 ? du[i] : 0;
    words_multiply_back(WORDS_F, t, WORDS_H, w + words_at(UP), k->m, du, g + words_at(UP),
                        g + words_at(UP_BIAS), dh);
    words_norm_back(t, k->x1, w + words_at(NORM2), dh, g + words_at(NORM2),
                    g + words_at(NORM2_BIAS), dy);
    if (across)
        words_heads_back(across, g_across, t, false, k->from, k->e, k->read, k->seen, k->met,
                         dy, de);
    words_heads_back(w, g, t, k->causal, k->x, NULL, k->a, k->qkv, k->c, dy, NULL);
    double *const owned[] = {du,   dh,   k->x,    k->a,    k->qkv,  k->c,  k->x1,
                             k->m, k->u, k->from, k->read, k->seen, k->met};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

/* ---- the ends ------------------------------------------------------------------------------------ */

/* x of @p samples from sample @p first on. */
static inline double *words_embed(const struct words *w, uint64_t seed, int first,
                                  int samples) {
    int t = samples * WORDS_S;
    double *x = words_scratch(WORDS_H, t);
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
    double loss = 0, *normed = words_scratch(WORDS_H, t), *z = words_scratch(WORDS_V, t),
           *dnormed = words_scratch(WORDS_H, t);
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
