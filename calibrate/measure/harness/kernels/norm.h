/* LayerNorm of one number type, whole or by the features of several ranks: a part of typed.h. */

static void NAME(norm)(int features, int tokens, const void *x, const void *gain,
                       const void *bias, void *mean, void *inverse, void *y) {
    const REAL *in = x, *g = gain, *b = bias;
    REAL *restrict mu = mean, *restrict r = inverse, *out = y;
    size_t n = (size_t)tokens;
    for (size_t t = 0; t < n; t++) mu[t] = r[t] = 0;
    for (int f = 0; f < features; f++)
        for (size_t t = 0; t < n; t++) mu[t] += in[(size_t)f * n + t];
    for (size_t t = 0; t < n; t++) mu[t] /= (REAL)features;
    for (int f = 0; f < features; f++)
        for (size_t t = 0; t < n; t++) {
            REAL d = in[(size_t)f * n + t] - mu[t];
            r[t] += d * d;
        }
    for (size_t t = 0; t < n; t++) r[t] = 1 / SQRT(r[t] / (REAL)features + (REAL)1e-5);
    for (int f = 0; f < features; f++)
        for (size_t t = 0; t < n; t++)
            out[(size_t)f * n + t] = g[f] * (in[(size_t)f * n + t] - mu[t]) * r[t] + b[f];
}

static void NAME(norm_sums)(int features, int tokens, const void *x, void *sums) {
    const REAL *in = x;
    size_t n = (size_t)tokens;
    REAL *restrict sum = sums, *restrict squares = sum + n;
    for (size_t t = 0; t < 2 * n; t++) sum[t] = 0;
    for (int f = 0; f < features; f++)
        for (size_t t = 0; t < n; t++) {
            REAL value = in[(size_t)f * n + t];
            sum[t] += value;
            squares[t] += value * value;
        }
}

static void NAME(norm_part)(int features, int all, int tokens, const void *x, const void *gain,
                            const void *bias, const void *sums, void *mean, void *inverse,
                            void *y) {
    const REAL *in = x, *g = gain, *b = bias, *sum = sums;
    REAL *restrict mu = mean, *restrict r = inverse, *out = y;
    size_t n = (size_t)tokens;
    for (size_t t = 0; t < n; t++) {
        mu[t] = sum[t] / (REAL)all;
        r[t] = 1 / SQRT(sum[n + t] / (REAL)all - mu[t] * mu[t] + (REAL)1e-5);
    }
    for (int f = 0; f < features; f++)
        for (size_t t = 0; t < n; t++)
            out[(size_t)f * n + t] = g[f] * (in[(size_t)f * n + t] - mu[t]) * r[t] + b[f];
}

static void NAME(norm_sums_backward)(int features, int tokens, const void *x, const void *gain,
                                     const void *mean, const void *inverse, const void *dy,
                                     void *sums, void *dgain, void *dbias) {
    const REAL *in = x, *g = gain, *mu = mean, *r = inverse, *d = dy;
    REAL *dg = dgain, *db = dbias;
    size_t n = (size_t)tokens;
    REAL *restrict sum = sums, *restrict along = sum + n;
    for (size_t t = 0; t < 2 * n; t++) sum[t] = 0;
    for (int f = 0; f < features; f++) {
        REAL s_gain = 0, s_bias = 0;
        for (size_t t = 0; t < n; t++) {
            REAL di = d[(size_t)f * n + t], xh = (in[(size_t)f * n + t] - mu[t]) * r[t];
            sum[t] += g[f] * di;
            along[t] += g[f] * di * xh;
            s_gain += di * xh;
            s_bias += di;
        }
        dg[f] += s_gain;
        db[f] += s_bias;
    }
}

static void NAME(norm_part_backward)(int features, int all, int tokens, const void *x,
                                     const void *gain, const void *mean, const void *inverse,
                                     const void *dy, const void *sums, void *dx) {
    const REAL *in = x, *g = gain, *mu = mean, *r = inverse, *d = dy, *sum = sums;
    REAL *out = dx;
    size_t n = (size_t)tokens;
    for (int f = 0; f < features; f++)
        for (size_t t = 0; t < n; t++) {
            size_t at = (size_t)f * n + t;
            REAL xh = (in[at] - mu[t]) * r[t];
            out[at] = r[t] * (g[f] * d[at] - (sum[t] + xh * sum[n + t]) / (REAL)all);
        }
}

/* dx = r (g dy - mean(g dy) - xh mean(g dy xh)), xh the normalised input. */
static void NAME(norm_backward)(int features, int tokens, const void *x, const void *gain,
                                const void *mean, const void *inverse, const void *dy, void *dx,
                                void *dgain, void *dbias) {
    enum { BLOCK = 64 };
    const REAL *in = x, *g = gain, *mu = mean, *r = inverse, *d = dy;
    REAL *out = dx, *dg = dgain, *db = dbias;
    size_t n = (size_t)tokens;
    for (size_t t0 = 0; t0 < n; t0 += BLOCK) {
        size_t m = n - t0 < BLOCK ? n - t0 : BLOCK;
        REAL sum[BLOCK] = {0}, along[BLOCK] = {0};
        for (int f = 0; f < features; f++) {
            const REAL *di = d + (size_t)f * n + t0, *xi = in + (size_t)f * n + t0;
            REAL s_gain = 0, s_bias = 0;
            for (size_t t = 0; t < m; t++) {
                REAL xh = (xi[t] - mu[t0 + t]) * r[t0 + t];
                sum[t] += g[f] * di[t];
                along[t] += g[f] * di[t] * xh;
                s_gain += di[t] * xh;
                s_bias += di[t];
            }
            dg[f] += s_gain;
            db[f] += s_bias;
        }
        for (int f = 0; f < features; f++) {
            const REAL *di = d + (size_t)f * n + t0, *xi = in + (size_t)f * n + t0;
            REAL *o = out + (size_t)f * n + t0;
            for (size_t t = 0; t < m; t++) {
                REAL xh = (xi[t] - mu[t0 + t]) * r[t0 + t];
                o[t] = r[t0 + t] * (g[f] * di[t] - (sum[t] + xh * along[t]) / (REAL)features);
            }
        }
    }
}
