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

static void NAME(select_largest)(size_t n, size_t kept, const void *x, uint32_t *room,
                                 void *values, uint32_t *places) {
    uint32_t *key = room, *place = room + n, *to_key = room + 2 * n, *to_place = room + 3 * n;
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
    for (size_t i = 0; i < kept; i++) {
        places[i] = place[n - kept + i];
        ((REAL *)values)[i] = ((const REAL *)x)[places[i]];
    }
}

static void NAME(scatter_add)(size_t n, const void *values, const uint32_t *places, void *x) {
    for (size_t i = 0; i < n; i++) ((REAL *)x)[places[i]] += ((const REAL *)values)[i];
}

/* ---- transformer --------------------------------------------------------------------------- */

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

/* The value at (y, x) of a channel that window (row, column) sees at (ky, kx), or -1 outside. */
static inline long NAME(seen)(const struct fr_windows *w, int row, int column, int ky, int kx) {
    int y = row * w->stride + ky - w->padding, x = column * w->stride + kx - w->padding;
    if (y < 0 || y >= w->height || x < 0 || x >= w->width) return -1;
    return (long)y * w->width + x;
}

static void NAME(see)(const struct fr_windows *w, int samples, const void *x, void *columns) {
    const REAL *in = x;
    REAL *out = columns;
    size_t n = (size_t)samples, image = (size_t)w->height * (size_t)w->width;
    for (int c = 0; c < w->channels; c++)
        for (int at = 0; at < w->kernel * w->kernel; at++)
            for (int p = 0; p < w->rows * w->columns; p++, out += n) {
                long seen = NAME(seen)(w, p / w->columns, p % w->columns, at / w->kernel,
                                       at % w->kernel);
                const REAL *from = in + ((size_t)c * image + (size_t)(seen < 0 ? 0 : seen)) * n;
                for (size_t i = 0; i < n; i++) out[i] = seen < 0 ? 0 : from[i];
            }
}

static void NAME(see_backward)(const struct fr_windows *w, int samples, const void *columns,
                               void *dx) {
    const REAL *from = columns;
    REAL *out = dx;
    size_t n = (size_t)samples, image = (size_t)w->height * (size_t)w->width;
    for (int c = 0; c < w->channels; c++)
        for (int at = 0; at < w->kernel * w->kernel; at++)
            for (int p = 0; p < w->rows * w->columns; p++, from += n) {
                long seen = NAME(seen)(w, p / w->columns, p % w->columns, at / w->kernel,
                                       at % w->kernel);
                if (seen < 0) continue;
                REAL *to = out + ((size_t)c * image + (size_t)seen) * n;
                for (size_t i = 0; i < n; i++) to[i] += from[i];
            }
}

/* Where in its image window @p p of one sample sees the first of its largest values. */
static size_t NAME(seen_most)(const struct fr_windows *w, int p, size_t n, const REAL *image) {
    long best = -1;
    for (int at = 0; at < w->kernel * w->kernel; at++) {
        long seen =
            NAME(seen)(w, p / w->columns, p % w->columns, at / w->kernel, at % w->kernel);
        if (seen < 0) continue;
        if (best < 0 || image[(size_t)seen * n] > image[(size_t)best * n]) best = seen;
    }
    return (size_t)(best < 0 ? 0 : best);
}

static void NAME(pool)(const struct fr_windows *w, int samples, const void *x, void *y) {
    const REAL *in = x;
    REAL *out = y;
    size_t n = (size_t)samples, image = (size_t)w->height * (size_t)w->width * n;
    for (int c = 0; c < w->channels; c++, in += image)
        for (int p = 0; p < w->rows * w->columns; p++, out += n)
            for (size_t i = 0; i < n; i++)
                out[i] = in[NAME(seen_most)(w, p, n, in + i) * n + i];
}

static void NAME(pool_backward)(const struct fr_windows *w, int samples, const void *x,
                                const void *dy, void *dx) {
    const REAL *in = x, *from = dy;
    REAL *out = dx;
    size_t n = (size_t)samples, image = (size_t)w->height * (size_t)w->width * n;
    for (int c = 0; c < w->channels; c++, in += image, out += image)
        for (int p = 0; p < w->rows * w->columns; p++, from += n)
            for (size_t i = 0; i < n; i++)
                out[NAME(seen_most)(w, p, n, in + i) * n + i] += from[i];
}

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

static void NAME(softmax)(int rows, int columns, bool causal, double alpha, void *scores) {
    for (int i = 0; i < rows; i++) {
        int n = causal && i + 1 < columns ? i + 1 : columns;
        REAL *s = (REAL *)scores + (size_t)i * (size_t)columns, largest = NAME(largest)(n, s);
        for (int j = 0; j < n; j++) s[j] = EXP((REAL)alpha * (s[j] - largest));
        REAL inverse = 1 / NAME(sum)(n, s);
        for (int j = 0; j < n; j++) s[j] *= inverse;
        for (int j = n; j < columns; j++) s[j] = 0;
    }
}

static void NAME(softmax_backward)(int rows, int columns, double alpha, const void *p,
                                   void *dp) {
    for (int i = 0; i < rows; i++) {
        const REAL *restrict pi = (const REAL *)p + (size_t)i * (size_t)columns;
        REAL *restrict d = (REAL *)dp + (size_t)i * (size_t)columns;
        REAL sum = NAME(inner)(columns, pi, d);
        for (int j = 0; j < columns; j++) d[j] = (REAL)alpha * pi[j] * (d[j] - sum);
    }
}

static void NAME(softmax_next)(int rows, int columns, bool causal, double alpha,
                               const void *before, void *top, void *sum, void *shrink,
                               void *scores) {
    const REAL *last = before;
    REAL *largest = top, *total = sum, *factor = shrink;
    for (int i = 0; i < rows; i++) {
        int n = causal && i + 1 < columns ? i + 1 : columns;
        REAL *s = (REAL *)scores + (size_t)i * (size_t)columns, most = NAME(largest)(n, s);
        if (last && last[i] > most) most = last[i];
        factor[i] = last ? EXP((REAL)alpha * (last[i] - most)) : 0;
        largest[i] = most;
        for (int j = 0; j < n; j++) s[j] = EXP((REAL)alpha * (s[j] - most));
        for (int j = n; j < columns; j++) s[j] = 0;
        total[i] = (last ? total[i] * factor[i] : 0) + NAME(sum)(n, s);
    }
}

static void NAME(softmax_end)(int rows, int columns, double alpha, const void *top,
                              const void *last, const void *sum, void *scores) {
    const REAL *then = top, *now = last, *total = sum;
    for (int i = 0; i < rows; i++) {
        REAL *s = (REAL *)scores + (size_t)i * (size_t)columns;
        REAL factor = EXP((REAL)alpha * (then[i] - now[i])) / total[i];
        for (int j = 0; j < columns; j++) s[j] *= factor;
    }
}

static void NAME(softmax_back)(int rows, int columns, double alpha, const void *p,
                               const void *inner, void *dp) {
    for (int i = 0; i < rows; i++) {
        const REAL *restrict pi = (const REAL *)p + (size_t)i * (size_t)columns;
        REAL *restrict d = (REAL *)dp + (size_t)i * (size_t)columns;
        REAL sum = ((const REAL *)inner)[i];
        for (int j = 0; j < columns; j++) d[j] = (REAL)alpha * pi[j] * (d[j] - sum);
    }
}

static void NAME(scale_columns)(int rows, int columns, int ld, bool divide, const void *factor,
                                void *x) {
    const REAL *restrict f = factor;
    for (int i = 0; i < rows; i++) {
        REAL *restrict row = (REAL *)x + (size_t)i * (size_t)ld;
        for (int j = 0; j < columns; j++) row[j] = divide ? row[j] / f[j] : row[j] * f[j];
    }
}

static void NAME(column_dots)(int rows, int columns, int ld, const void *x, const void *y,
                              void *out) {
    REAL *restrict sum = out;
    for (int j = 0; j < columns; j++) sum[j] = 0;
    for (int i = 0; i < rows; i++) {
        const REAL *restrict a = (const REAL *)x + (size_t)i * (size_t)ld;
        const REAL *restrict b = (const REAL *)y + (size_t)i * (size_t)ld;
        for (int j = 0; j < columns; j++) sum[j] += a[j] * b[j];
    }
}

static void NAME(softmax_part)(int classes, int tokens, int first, const int *target,
                               void *logits, void *part) {
    REAL *z = logits, *top = part;
    size_t n = (size_t)tokens;
    for (size_t t0 = 0; t0 < n; t0 += COLUMNS) {
        size_t m = n - t0 < COLUMNS ? n - t0 : COLUMNS;
        REAL largest[COLUMNS], sum[COLUMNS] = {0};
        for (size_t t = 0; t < m; t++) largest[t] = z[t0 + t];
        for (int c = 1; c < classes; c++)
            for (size_t t = 0; t < m; t++) {
                REAL value = z[(size_t)c * n + t0 + t];
                largest[t] = value > largest[t] ? value : largest[t];
            }
        for (size_t t = 0; t < m; t++) {
            int own = target[t0 + t] - first;
            top[2 * n + t0 + t] = own >= 0 && own < classes ? z[(size_t)own * n + t0 + t] : 0;
        }
        for (int c = 0; c < classes; c++)
            for (size_t t = 0; t < m; t++) {
                REAL *value = &z[(size_t)c * n + t0 + t];
                *value = EXP(*value - largest[t]);
                sum[t] += *value;
            }
        for (size_t t = 0; t < m; t++) top[t0 + t] = largest[t], top[n + t0 + t] = sum[t];
    }
}

/* Of token t from all ranks' parts its loss; and by how much rank's exponentials are to be divided. */
static double NAME(join)(size_t n, size_t t, int ranks, int rank, const REAL *parts,
                         double *divisor) {
    double top = (double)parts[t], sum = 0, own = 0;
    for (int r = 1; r < ranks; r++) top = fmax(top, (double)parts[3 * n * (size_t)r + t]);
    for (int r = 0; r < ranks; r++) {
        const REAL *part = parts + 3 * n * (size_t)r;
        sum += (double)part[n + t] * exp((double)part[t] - top);
        own += (double)part[2 * n + t];
    }
    *divisor = sum / exp((double)parts[3 * n * (size_t)rank + t] - top);
    return log(sum) + top - own;
}

static double NAME(cross_entropy)(int classes, int tokens, int first, const int *target,
                                  double scale, int ranks, int rank, const void *parts,
                                  void *logits) {
    REAL *z = logits;
    size_t n = (size_t)tokens;
    double loss = 0;
    for (size_t t0 = 0; t0 < n; t0 += COLUMNS) {
        size_t m = n - t0 < COLUMNS ? n - t0 : COLUMNS;
        REAL by[COLUMNS];
        for (size_t t = 0; t < m; t++) {
            double divisor;
            loss += NAME(join)(n, t0 + t, ranks, rank, parts, &divisor);
            by[t] = (REAL)(scale / divisor);
        }
        for (int c = 0; c < classes; c++)
            for (size_t t = 0; t < m; t++) z[(size_t)c * n + t0 + t] *= by[t];
        for (size_t t = 0; t < m; t++) {
            int own = target[t0 + t] - first;
            if (own >= 0 && own < classes) z[(size_t)own * n + t0 + t] -= (REAL)scale;
        }
    }
    return loss;
}
