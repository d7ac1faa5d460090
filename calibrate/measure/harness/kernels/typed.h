/* The kernels of one number type: included by kernels.c once with REAL float, once double, each
 * with its suffix NAME(x), and GEMM the BLAS product. */

/* ---- reductions, in LANES partial results ---------------------------------------------------- */

static REAL NAME(sum)(int n, const REAL *x) {
    REAL lanes[LANES] = {0}, sum = 0;
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) lanes[l] += x[i + l];
    for (; i < n; i++) sum += x[i];
    for (int l = 0; l < LANES; l++) sum += lanes[l];
    return sum;
}

static REAL NAME(inner)(int n, const REAL *x, const REAL *y) {
    REAL lanes[LANES] = {0}, sum = 0;
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) lanes[l] += x[i + l] * y[i + l];
    for (; i < n; i++) sum += x[i] * y[i];
    for (int l = 0; l < LANES; l++) sum += lanes[l];
    return sum;
}

static REAL NAME(largest)(int n, const REAL *x) {
    REAL lanes[LANES], largest = x[0];
    int i = 0;
    for (int l = 0; l < LANES; l++) lanes[l] = x[0];
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) lanes[l] = lanes[l] > x[i + l] ? lanes[l] : x[i + l];
    for (; i < n; i++) largest = largest > x[i] ? largest : x[i];
    for (int l = 0; l < LANES; l++) largest = largest > lanes[l] ? largest : lanes[l];
    return largest;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static void NAME(gemm)(bool ta, bool tb, int m, int n, int k, double alpha, const void *a,
                       int lda, const void *b, int ldb, double beta, void *c, int ldc) {
    GEMM(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n, k,
         (REAL)alpha, a, lda, b, ldb, (REAL)beta, c, ldc);
}

static void NAME(bias_relu)(int rows, int columns, const void *bias, void *z) {
    const REAL *b = bias;
    for (int i = 0; i < rows; i++) {
        REAL *row = (REAL *)z + (size_t)i * (size_t)columns;
        for (int j = 0; j < columns; j++) {
            REAL value = row[j] + b[i];
            row[j] = value > 0 ? value : 0;
        }
    }
}

static void NAME(relu_backward)(int rows, int columns, const void *y, void *dy, void *dbias) {
    REAL *sums = dbias;
    for (int i = 0; i < rows; i++) {
        const REAL *out = (const REAL *)y + (size_t)i * (size_t)columns;
        REAL *d = (REAL *)dy + (size_t)i * (size_t)columns;
        for (int j = 0; j < columns; j++) d[j] = out[j] > 0 ? d[j] : 0;
        sums[i] = NAME(sum)(columns, d);
    }
}

static double NAME(difference)(size_t n, const void *y, const void *t, double scale, void *dy) {
    const REAL *a = y, *b = t;
    REAL *d = dy;
    double lanes[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) {
            REAL e = a[i + l] - b[i + l];
            lanes[l] += (double)e * (double)e;
            d[i + l] = (REAL)scale * e;
        }
    for (; i < n; i++) {
        REAL e = a[i] - b[i];
        sum += (double)e * (double)e;
        d[i] = (REAL)scale * e;
    }
    for (int l = 0; l < LANES; l++) sum += lanes[l];
    return sum;
}

static void NAME(adam)(size_t n, const struct fr_update *u, const void *gradient, void *first,
                       void *second, void *weight) {
    const REAL *g = gradient;
    REAL *restrict m = first, *restrict v = second, *restrict w = weight;
    double t = (double)u->t;
    REAL b1 = (REAL)u->beta1, b2 = (REAL)u->beta2;
    REAL step = (REAL)(u->rate / (1 - pow(u->beta1, t)));
    REAL inverse = (REAL)(1 / sqrt(1 - pow(u->beta2, t))), epsilon = (REAL)u->epsilon;
    for (size_t i = 0; i < n; i++) {
        m[i] = b1 * m[i] + (1 - b1) * g[i];
        v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
        w[i] -= step * m[i] / (SQRT(v[i]) * inverse + epsilon);
    }
}

static void NAME(momentum)(size_t n, const struct fr_update *u, const void *gradient,
                           void *velocity, void *weight) {
    const REAL *g = gradient;
    REAL *restrict v = velocity, *restrict w = weight;
    REAL rate = (REAL)u->rate, b = (REAL)u->beta1;
    for (size_t i = 0; i < n; i++) {
        v[i] = b * v[i] + g[i];
        w[i] -= rate * v[i];
    }
}

static void NAME(sgd)(size_t n, const struct fr_update *u, const void *gradient, void *weight) {
    const REAL *restrict g = gradient;
    REAL *restrict w = weight;
    REAL rate = (REAL)u->rate;
    for (size_t i = 0; i < n; i++) w[i] -= rate * g[i];
}

static void NAME(add)(size_t n, const void *x, void *y) {
    const REAL *restrict a = x;
    REAL *restrict b = y;
    for (size_t i = 0; i < n; i++) b[i] += a[i];
}

static void NAME(subtract)(size_t n, const void *x, void *y) {
    const REAL *restrict a = x;
    REAL *restrict b = y;
    for (size_t i = 0; i < n; i++) b[i] = a[i] - b[i];
}

static void NAME(bias)(int rows, int columns, const void *bias, const void *x, void *y) {
    for (int i = 0; i < rows; i++) {
        const REAL *from = (const REAL *)x + (size_t)i * (size_t)columns;
        REAL *to = (REAL *)y + (size_t)i * (size_t)columns,
             b = bias ? ((const REAL *)bias)[i] : 0;
        for (int j = 0; j < columns; j++) to[j] = from[j] + b;
    }
}

static void NAME(axpy)(size_t n, double alpha, const void *x, void *y) {
    const REAL *restrict a = x;
    REAL *restrict b = y, factor = (REAL)alpha;
    for (size_t i = 0; i < n; i++) b[i] += factor * a[i];
}

static void NAME(scale)(size_t n, double alpha, const void *x, void *y) {
    const REAL *a = x;
    REAL *b = y, factor = (REAL)alpha;
    for (size_t i = 0; i < n; i++) b[i] = factor * a[i];
}

static void NAME(relu)(size_t n, const void *x, void *y) {
    const REAL *a = x;
    REAL *b = y;
    for (size_t i = 0; i < n; i++) b[i] = a[i] > 0 ? a[i] : 0;
}

static double NAME(dot)(size_t n, const void *x, const void *y) {
    const REAL *a = x, *b = y;
    double lanes[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) lanes[l] += (double)a[i + l] * (double)b[i + l];
    for (; i < n; i++) sum += (double)a[i] * (double)b[i];
    for (int l = 0; l < LANES; l++) sum += lanes[l];
    return sum;
}

static void NAME(row_sums)(int rows, int columns, const void *dz, void *dbias) {
    for (int i = 0; i < rows; i++)
        ((REAL *)dbias)[i] +=
            NAME(sum)(columns, (const REAL *)dz + (size_t)i * (size_t)columns);
}

static double NAME(get)(const void *x, size_t i) { return (double)((const REAL *)x)[i]; }

static void NAME(set)(void *x, size_t i, double value) { ((REAL *)x)[i] = (REAL)value; }

static void NAME(copy)(int rows, int columns, const void *from, int ld_from, void *to,
                       int ld_to) {
    for (int i = 0; i < rows; i++)
        memcpy((REAL *)to + (size_t)i * (size_t)ld_to,
               (const REAL *)from + (size_t)i * (size_t)ld_from,
               (size_t)columns * sizeof(REAL));
}

/* ---- top-k ----------------------------------------------------------------------------------- */

/* Sign away: what is left of a number's bits orders as its magnitude does. */
static uint32_t NAME(magnitude)(const void *x, size_t i) {
    unsigned char bytes[sizeof(REAL)];
    uint32_t word[sizeof(REAL) / 4];
    memcpy(bytes, (const REAL *)x + i, sizeof bytes);
    memcpy(word, bytes, sizeof word);
    return word[sizeof(REAL) / 4 - 1] & 0x7fffffffu;
}

static void NAME(select_largest)(size_t n, size_t selected, const void *x, uint32_t *scratch,
                                 void *values, uint32_t *places) {
    uint32_t *key = scratch, *place = scratch + n, *to_key = scratch + 2 * n,
             *to_place = scratch + 3 * n;
    for (size_t i = 0; i < n; i++) key[i] = NAME(magnitude)(x, i), place[i] = (uint32_t)i;
    for (int shift = 0; shift < 32; shift += 8) {
        size_t begin[257] = {0};
        for (size_t i = 0; i < n; i++) begin[(key[i] >> shift & 255) + 1]++;
        for (int b = 0; b < 256; b++) begin[b + 1] += begin[b];
        for (size_t i = 0; i < n; i++) {
            size_t at = begin[key[i] >> shift & 255]++;
            to_key[at] = key[i];
            to_place[at] = place[i];
        }
        uint32_t *k = key, *p = place;
        key = to_key, to_key = k;
        place = to_place, to_place = p;
    }
    for (size_t i = 0; i < selected; i++) {
        places[i] = place[n - selected + i];
        ((REAL *)values)[i] = ((const REAL *)x)[places[i]];
    }
}

static void NAME(scatter_add)(size_t n, const void *values, const uint32_t *places, void *x) {
    for (size_t i = 0; i < n; i++) ((REAL *)x)[places[i]] += ((const REAL *)values)[i];
}

/* ---- embeddings --------------------------------------------------------------------------- */

static void NAME(embed)(int features, int tokens, int sequence, int first, int words,
                        const int *input, const void *embedding, const void *positions,
                        void *x) {
    const REAL *e = embedding, *p = positions;
    for (int f = 0; f < features; f++) {
        REAL *row = (REAL *)x + (size_t)f * (size_t)tokens;
        for (int t = 0; t < tokens; t++) {
            int word = input[t] - first;
            bool own = word >= 0 && word < words;
            row[t] = (own ? e[(size_t)word * (size_t)features + (size_t)f] : 0) +
                     (p ? p[(size_t)f * (size_t)sequence + (size_t)(t % sequence)] : 0);
        }
    }
}

static void NAME(embed_backward)(int features, int tokens, int sequence, int first, int words,
                                 const int *input, const void *dx, void *dembedding,
                                 void *dpositions) {
    REAL *de = dembedding, *dp = dpositions;
    for (int f = 0; f < features; f++) {
        const REAL *row = (const REAL *)dx + (size_t)f * (size_t)tokens;
        for (int t = 0; t < tokens; t++) {
            int word = input[t] - first;
            if (word >= 0 && word < words)
                de[(size_t)word * (size_t)features + (size_t)f] += row[t];
            if (dp) dp[(size_t)f * (size_t)sequence + (size_t)(t % sequence)] += row[t];
        }
    }
}

#include "calibrate/measure/harness/kernels/norm.h"
#include "calibrate/measure/harness/kernels/softmax.h"
#include "calibrate/measure/harness/kernels/windows.h"
