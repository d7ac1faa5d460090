#include "real/apps/whole_ffn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "real/apps/ffn.h"
#include "real/apps/random.h"

/* A layer's matrices in the block: L (p of in x in), C (p of k x in), D (n x p k), b (n). */
struct matrices {
    void *l, *c, *d, *b;
};

static struct matrices at(const struct fr_whole_ffn *w, const void *block, int layer) {
    const struct fr_kernels *k = w->real.k;
    size_t n = (size_t)w->o.width, p = (size_t)w->o.p, g = p > 1 ? (size_t)w->o.ghost : 0;
    size_t from = (size_t)layer * (size_t)w->layer_size;
    struct matrices m;
    m.l = fr_at(k, block, from);
    m.c = fr_at(k, m.l, n * n / p);
    m.d = fr_at(k, m.c, g * n);
    m.b = fr_at(k, m.d, n * p * g);
    return m;
}

/* The programs' initial weights, by the same streams and places. */
static void fill(struct fr_whole_ffn *w, int layer) {
    const struct fr_kernels *k = w->real.k;
    int n = w->o.width, p = w->o.p, g = w->o.ghost, in = n / p;
    uint64_t seed = w->o.seed, stream = (uint64_t)(FR_STREAM_LAYER + 64 * layer);
    struct matrices m = at(w, w->real.parameters, layer);
    for (int j = 0; j < p; j++)
        fr_fill_normal(k, seed, stream, j * in, in, j * in, in, n, fr_ffn_deviation(n),
                       fr_at(k, m.l, (size_t)j * (size_t)in * (size_t)in));
    if (p == 1) return;
    void *one = fr_real_alloc(k, (int64_t)in * g);
    fr_fill_normal(k, seed, stream + 1, 0, (int64_t)p * g, 0, in, in, 1 / sqrt(in), m.c);
    for (int from = 0; one && from < p; from++)
        for (int j = 0; j < p; j++) {
            if (from == j) continue;
            fr_fill_normal(k, seed, stream + 2, (int64_t)(from * p + j) * in, in, 0, g, g,
                           fr_ffn_deviation(p * g), one);
            k->copy(
                in, g, one, g,
                fr_at(k, m.d, (size_t)j * (size_t)in * (size_t)(p * g) + (size_t)(from * g)),
                p * g);
        }
    free(one);
}

static fr_status check(const struct fr_whole_ffn_options *o, struct fr_error *err) {
    double limit = (double)o->width / o->p * (1 - 1.0 / o->p);
    FR_TRY(fr_real_divides("the width", o->width, "tp", o->p, err));
    if (o->p > 1 && (o->ghost < 1 || !(o->ghost < limit)))
        return fr_fail(
            err, FR_ERR_INPUT, NULL,
            "ghost %d must be at least 1 and below (n/p)(1 - 1/p) = %g (Eq. 8 of Seal et al., "
            "Compression-Induced Communication-Efficient Large Model Training and Inferencing, "
            "2025)",
            o->ghost, limit);
    return FR_OK;
}

static bool alloc(struct fr_whole_ffn *w) {
    struct fr_real *real = &w->real;
    int64_t values = (int64_t)w->o.width * w->o.batch;
    int64_t ghost_neurons = w->o.p > 1 ? (int64_t)w->o.p * w->o.ghost * w->o.batch : 0;
    size_t layers = (size_t)w->o.layers;
    real->parameters = fr_real_alloc(real->k, real->n_parameters);
    real->gradients = fr_real_alloc(real->k, real->n_parameters);
    real->moments = fr_real_alloc(real->k, real->n_parameters * real->n_moments);
    w->y = fr_calloc(layers + 1, sizeof *w->y);
    w->g = fr_calloc(layers, sizeof *w->g);
    w->dy = fr_real_alloc(real->k, values);
    w->dx = fr_real_alloc(real->k, values);
    w->dg = fr_real_alloc(real->k, ghost_neurons);
    bool whole = real->parameters && real->gradients && real->moments && w->y && w->g &&
                 w->dy && w->dx && w->dg;
    for (size_t i = 0; whole && i < layers; i++) {
        w->y[i + 1] = fr_real_alloc(real->k, values);
        w->g[i] = fr_real_alloc(real->k, ghost_neurons);
        whole = w->y[i + 1] && w->g[i];
    }
    return whole;
}

fr_status fr_whole_ffn_open(const struct fr_whole_ffn_options *o, struct fr_whole_ffn *w,
                            struct fr_error *err) {
    int64_t n = o->width, p = o->p, k = o->p > 1 ? o->ghost : 0;
    *w = (struct fr_whole_ffn){.o = *o, .real = {.k = fr_kernels_of(o->dtype)}};
    if (!w->real.k) return fr_fail(err, FR_ERR_INPUT, NULL, "dtype is not computed here");
    FR_TRY(check(o, err));
    w->layer_size = n * n / p + k * n + n * p * k + n;
    w->n_counted = o->layers * (n * n / p + k * n + n * (p - 1) * k + n);
    w->real.n_parameters = w->layer_size * o->layers;
    w->real.division = fr_division_of(1, w->real.n_parameters);
    w->real.n_moments = o->optimizer_state_B <= 0 ? 0 : o->optimizer_state_B <= 4 ? 1 : 2;
    w->real.update =
        (struct fr_update){.rate = o->rate, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
    if (!w->real.division.part || !alloc(w))
        return fr_fail(err, FR_ERR_NOMEM, NULL, "a network of width %d", o->width);
    for (int i = 0; i < o->layers; i++) fill(w, i);
    struct fr_ffn_part part = {0, n, 0, n, 0, o->batch, o->batch};
    if (o->fresh) {
        w->wide = fr_real_alloc(w->real.k, n * n);
        if (!w->wide) return fr_fail(err, FR_ERR_NOMEM, NULL, "a matrix of width %d", o->width);
        fr_fill_normal(w->real.k, o->seed, FR_STREAM_W, 0, n, 0, n, n, 1 / sqrt((double)n),
                       w->wide);
    }
    return fr_ffn_data(w->real.k, o->seed, n, n, &part, &w->y[0], &w->target, err);
}

void fr_whole_ffn_close(struct fr_whole_ffn *w) {
    for (int i = 0; w->y && i <= w->o.layers; i++) free(w->y[i]);
    for (int i = 0; w->g && i < w->o.layers; i++) free(w->g[i]);
    void *const owned[] = {w->y,
                           w->g,
                           w->target,
                           w->dy,
                           w->dx,
                           w->dg,
                           w->wide,
                           w->real.parameters,
                           w->real.gradients,
                           w->real.moments};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    fr_division_free(&w->real.division);
    *w = (struct fr_whole_ffn){0};
}

static void forward(struct fr_whole_ffn *w, int i) {
    const struct fr_kernels *k = w->real.k;
    int n = w->o.width, p = w->o.p, in = n / p, b = w->o.batch, g = w->o.ghost;
    struct matrices m = at(w, w->real.parameters, i);
    for (int j = 0; j < p; j++) {
        const void *y = fr_at(k, w->y[i], (size_t)(j * in) * (size_t)b);
        k->gemm(false, false, in, b, in, 1, fr_at(k, m.l, (size_t)j * (size_t)in * (size_t)in),
                in, y, b, 0, fr_at(k, w->y[i + 1], (size_t)(j * in) * (size_t)b), b);
        if (p > 1)
            k->gemm(false, false, g, b, in, 1, fr_at(k, m.c, (size_t)(j * g) * (size_t)in), in,
                    y, b, 0, fr_at(k, w->g[i], (size_t)(j * g) * (size_t)b), b);
    }
    if (p > 1) k->gemm(false, false, n, b, p * g, 1, m.d, p * g, w->g[i], b, 1, w->y[i + 1], b);
    k->bias_relu(n, b, m.b, w->y[i + 1]);
}

static void own_blocks_stay_zero(const struct fr_whole_ffn *w, void *dd) {
    const struct fr_kernels *k = w->real.k;
    int p = w->o.p, in = w->o.width / p, g = w->o.ghost;
    for (int r = 0; r < w->o.width; r++)
        memset(fr_at(k, dd, (size_t)r * (size_t)(p * g) + (size_t)(r / in * g)), 0,
               (size_t)g * k->size_B);
}

static void backward(struct fr_whole_ffn *w, int i) {
    const struct fr_kernels *k = w->real.k;
    int n = w->o.width, p = w->o.p, in = n / p, b = w->o.batch, g = w->o.ghost;
    struct matrices m = at(w, w->real.parameters, i), d = at(w, w->real.gradients, i);
    k->relu_backward(n, b, w->y[i + 1], w->dy, d.b);
    if (p > 1) {
        k->gemm(false, true, n, p * g, b, 1, w->dy, b, w->g[i], b, 0, d.d, p * g);
        own_blocks_stay_zero(w, d.d);
        k->gemm(true, false, p * g, b, n, 1, m.d, p * g, w->dy, b, 0, w->dg, b);
    }
    for (int j = 0; j < p; j++) {
        size_t rows = (size_t)(j * in) * (size_t)b, block = (size_t)j * (size_t)in * (size_t)in;
        const void *y = fr_at(k, w->y[i], rows), *dy = fr_at(k, w->dy, rows);
        void *dx = fr_at(k, w->dx, rows);
        k->gemm(false, true, in, in, b, 1, dy, b, y, b, 0, fr_at(k, d.l, block), in);
        if (i > 0) /* nobody asks for the gradient of the inputs */
            k->gemm(true, false, in, b, in, 1, fr_at(k, m.l, block), in, dy, b, 0, dx, b);
        if (p == 1) continue;
        size_t c = (size_t)(j * g) * (size_t)in;
        const void *dg = fr_at(k, w->dg, (size_t)(j * g) * (size_t)b);
        k->gemm(false, true, g, in, b, 1, dg, b, y, b, 0, fr_at(k, d.c, c), in);
        if (i > 0) k->gemm(true, false, in, b, g, 1, fr_at(k, m.c, c), in, dg, b, 1, dx, b);
    }
    void *saved = w->dy;
    w->dy = w->dx;
    w->dx = saved;
}

/* The next batch of y = relu(W relu(x)): columns of an endless matrix of samples. */
static void renew(struct fr_whole_ffn *w) {
    const struct fr_kernels *k = w->real.k;
    int n = w->o.width, b = w->o.batch;
    uint64_t stream = FR_STREAM_X + 1000 + (uint64_t)w->steps;
    if (w->o.dtype == FR_FP32 && b % 2 == 0)
        fr_stream_normal(w->o.seed, stream, (int64_t)n * b, w->y[0]);
    else
        fr_fill_normal(k, w->o.seed, stream, 0, n, 0, b, b, 1, w->y[0]);
    k->relu((size_t)n * (size_t)b, w->y[0], w->dx);
    k->gemm(false, false, n, b, n, 1, w->wide, n, w->dx, b, 0, w->target, b);
    k->relu((size_t)n * (size_t)b, w->target, w->target);
}

double fr_whole_ffn_step(struct fr_whole_ffn *w) {
    if (w->o.fresh) renew(w);
    w->steps++;
    size_t n = (size_t)w->o.width * (size_t)w->o.batch;
    for (int i = 0; i < w->o.layers; i++) forward(w, i);
    double loss =
        w->real.k->difference(n, w->y[w->o.layers], w->target, 2.0 / (double)n, w->dy);
    for (int i = w->o.layers - 1; i >= 0; i--) backward(w, i);
    fr_real_update(&w->real);
    return loss / (double)n;
}
