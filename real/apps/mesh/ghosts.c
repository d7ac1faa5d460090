#include "real/apps/mesh/ghosts.h"

#include <math.h>
#include <string.h>

#include "real/apps/ffn.h"
#include "real/apps/random.h"

fr_status fr_ghosts_check(int64_t n, int64_t m, int p, int k, struct fr_error *err) {
    double narrower = fmin((double)n, (double)m), limit = narrower / p * (1 - 1.0 / p);
    FR_TRY(fr_real_divides("a layer's width", m, "tp", p, err));
    FR_TRY(fr_real_divides("a layer's inputs", n, "tp", p, err));
    /* One rank has nobody to send ghosts to, and then no width is too large. */
    if (k >= 1 && (p == 1 || k < limit)) return FR_OK;
    return fr_fail(
        err, FR_ERR_INPUT, NULL,
        "ghost %d must be at least 1 and below (n/p)(1 - 1/p) = %g (Eq. 8 of Seal et "
        "al. 2025)",
        k, limit);
}

/* Values before C, before the first D. */
static size_t c_at(const struct fr_ghosts *g) { return (size_t)g->out * (size_t)g->in; }
static size_t d_at(const struct fr_ghosts *g) { return c_at(g) + (size_t)(g->k * g->in); }

int64_t fr_ghosts_parameters(const struct fr_ghosts *g) {
    return (int64_t)d_at(g) + (int64_t)(g->p - 1) * g->out * g->k;
}

int64_t fr_ghosts_values(const struct fr_ghosts *g) { return (int64_t)g->k * g->columns; }

/* In a block that for the ghosts of rank @p from, another one. */
static void *decompressor(const struct fr_kernels *k, const struct fr_ghosts *g,
                          const void *block, int from) {
    int slot = from < g->rank ? from : from - 1;
    return fr_at(k, block, d_at(g) + (size_t)slot * (size_t)(g->out * g->k));
}

/* Those of rank @p i among those of all. */
static void *ghosts_of(const struct fr_kernels *k, const struct fr_ghosts *g, const void *all,
                       int i) {
    return fr_at(k, all, (size_t)i * (size_t)fr_ghosts_values(g));
}

/* Deviations: z_j is a sum of p parts of equal variance. */
void fr_ghosts_fill(const struct fr_kernels *k, const struct fr_ghosts *g, uint64_t seed,
                    uint64_t stream, void *w) {
    int64_t j = g->rank, in = g->in, out = g->out, p = g->p;
    fr_fill_normal(k, seed, stream, j * out, out, j * in, in, p * in,
                   fr_ffn_deviation((double)(p * in)), w);
    fr_fill_normal(k, seed, stream + 1, j * g->k, g->k, 0, in, in, 1 / sqrt((double)in),
                   fr_at(k, w, c_at(g)));
    for (int from = 0; from < p; from++)
        if (from != j)
            fr_fill_normal(k, seed, stream + 2, (from * p + j) * out, out, 0, g->k, g->k,
                           fr_ffn_deviation((double)(p * g->k)), decompressor(k, g, w, from));
}

fr_status fr_ghosts_forward(struct fr_real *real, const struct fr_ghosts *g, const void *w,
                            const void *x, void *mine, void *all, void *z,
                            struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int b = g->columns;
    const void *c = fr_at(k, w, c_at(g));
    FR_COMPUTE(real, k->gemm(false, false, g->k, b, g->in, 1, c, g->in, x, b, 0, mine, b));
    FR_TRY(fr_real_all_gather(real, real->tp, mine, fr_ghosts_values(g), all, err));
    FR_COMPUTE(real, k->gemm(false, false, g->out, b, g->in, 1, w, g->in, x, b, 0, z, b));
    for (int from = 0; from < g->p; from++)
        if (from != g->rank)
            FR_COMPUTE(real,
                       k->gemm(false, false, g->out, b, g->k, 1, decompressor(k, g, w, from),
                               g->k, ghosts_of(k, g, all, from), b, 1, z, b));
    return FR_OK;
}

static void gradients_of_ghosts(struct fr_real *real, const struct fr_ghosts *g, const void *w,
                                const void *delta, void *all) {
    const struct fr_kernels *k = real->k;
    int b = g->columns;
    for (int from = 0; from < g->p; from++) {
        void *h = ghosts_of(k, g, all, from);
        if (from == g->rank)
            FR_COMPUTE(real, memset(h, 0, (size_t)fr_ghosts_values(g) * k->size_B));
        else
            FR_COMPUTE(real, k->gemm(true, false, g->k, b, g->out, 1,
                                     decompressor(k, g, w, from), g->k, delta, b, 0, h, b));
    }
}

fr_status fr_ghosts_input(struct fr_real *real, const struct fr_ghosts *g, const void *w,
                          const void *delta, void *room, void *dghosts, void *dx,
                          struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int b = g->columns;
    gradients_of_ghosts(real, g, w, delta, room);
    FR_TRY(fr_real_reduce_scatter(real, real->tp, room, dghosts, fr_ghosts_values(g), err));
    FR_COMPUTE(real, k->gemm(true, false, g->in, b, g->out, 1, w, g->in, delta, b, 0, dx, b));
    FR_COMPUTE(real, k->gemm(true, false, g->in, b, g->k, 1, fr_at(k, w, c_at(g)), g->in,
                             dghosts, b, 1, dx, b));
    return FR_OK;
}

void fr_ghosts_weight(struct fr_real *real, const struct fr_ghosts *g, bool adds, const void *x,
                      const void *delta, const void *all, const void *dghosts, void *dw) {
    const struct fr_kernels *k = real->k;
    int b = g->columns;
    FR_COMPUTE(real,
               k->gemm(false, true, g->out, g->in, b, 1, delta, b, x, b, adds, dw, g->in));
    for (int from = 0; from < g->p; from++)
        if (from != g->rank)
            FR_COMPUTE(real, k->gemm(false, true, g->out, g->k, b, 1, delta, b,
                                     ghosts_of(k, g, all, from), b, adds,
                                     decompressor(k, g, dw, from), g->k));
    FR_COMPUTE(real, k->gemm(false, true, g->k, g->in, b, 1, dghosts, b, x, b, adds,
                             fr_at(k, dw, c_at(g)), g->in));
}

int fr_ghosts_matrices(const struct fr_real *real, const struct fr_ghosts *g, void *dw,
                       struct fr_unit_matrix *out, int room) {
    const struct fr_kernels *k = real->k;
    if (room > 0) out[0] = (struct fr_unit_matrix){dw, g->out, g->in};
    if (room > 1) out[1] = (struct fr_unit_matrix){fr_at(k, dw, c_at(g)), g->k, g->in};
    for (int from = 0, i = 2; from < g->p; from++)
        if (from != g->rank && i < room)
            out[i++] = (struct fr_unit_matrix){decompressor(k, g, dw, from), g->out, g->k};
    return g->p + 1;
}
