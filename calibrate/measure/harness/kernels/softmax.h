/* Softmax, whole or block by block (Dao et al. 2022), and the loss by it, of one number type: a part of
 * typed.h. */

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

/* The loss of token t from all ranks' parts, and the divisor of rank's exponentials. */
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
