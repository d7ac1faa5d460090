/* Convolutions (im2col) and pooling of one number type: a part of typed.h. */

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
