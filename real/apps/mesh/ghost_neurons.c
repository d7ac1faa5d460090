#include "real/apps/mesh/ghost_neurons.h"

#include <math.h>
#include <string.h>

#include "real/apps/ffn.h"
#include "real/apps/random.h"

fr_status fr_ghost_neurons_check(int64_t n, int64_t m, int p, int k, struct fr_error *err) {
    double narrower = fmin((double)n, (double)m), limit = narrower / p * (1 - 1.0 / p);
    FR_TRY(fr_real_divides("a layer's width", m, "tp", p, err));
    FR_TRY(fr_real_divides("a layer's inputs", n, "tp", p, err));
    /* One rank has nobody to send ghost neurons to, and then no width is too large. */
    if (k >= 1 && (p == 1 || k < limit)) return FR_OK;
    return fr_fail(
        err, FR_ERR_INPUT, NULL,
        "ghost %d must be at least 1 and below (n/p)(1 - 1/p) = %g (Eq. 8 of Seal et "
        "al. 2025)",
        k, limit);
}

/* Values before C, before the first D. */
static size_t c_at(const struct fr_ghost_neurons *g) { return (size_t)g->out * (size_t)g->in; }
static size_t d_at(const struct fr_ghost_neurons *g) {
    return c_at(g) + (size_t)(g->k * g->in);
}

int64_t fr_ghost_neurons_parameters(const struct fr_ghost_neurons *g) {
    return (int64_t)d_at(g) + (int64_t)(g->p - 1) * g->out * g->k;
}

int64_t fr_ghost_neurons_values(const struct fr_ghost_neurons *g) {
    return (int64_t)g->k * g->columns;
}

/* The decompressor in a block for the ghost neurons of rank @p from, another one. */
static void *decompressor(const struct fr_kernels *k, const struct fr_ghost_neurons *g,
                          const void *block, int from) {
    int slot = from < g->rank ? from : from - 1;
    return fr_at(k, block, d_at(g) + (size_t)slot * (size_t)(g->out * g->k));
}

/* Those of rank @p i among those of all. */
static void *ghost_neurons_of(const struct fr_kernels *k, const struct fr_ghost_neurons *g,
                              const void *all, int i) {
    return fr_at(k, all, (size_t)i * (size_t)fr_ghost_neurons_values(g));
}

/* Deviations: z_j is a sum of p parts of equal variance. */
void fr_ghost_neurons_fill(const struct fr_kernels *k, const struct fr_ghost_neurons *g,
                           uint64_t seed, uint64_t stream, void *w) {
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

fr_status fr_ghost_neurons_forward(struct fr_real *real, const struct fr_ghost_neurons *g,
                                   const void *w, const void *x, void *local, void *all,
                                   void *z) {
    const struct fr_kernels *k = real->k;
    int b = g->columns;
    const void *c = fr_at(k, w, c_at(g));
    fr_multiply(real, g->k, b, g->in, c, x, 0, local);
    FR_TRY(fr_real_all_gather(real, real->tp, local, fr_ghost_neurons_values(g), all));
    fr_multiply(real, g->out, b, g->in, w, x, 0, z);
    for (int from = 0; from < g->p; from++)
        if (from != g->rank)
            fr_multiply(real, g->out, b, g->k, decompressor(k, g, w, from),
                        ghost_neurons_of(k, g, all, from), 1, z);
    return FR_OK;
}

static void gradients_of_ghost_neurons(struct fr_real *real, const struct fr_ghost_neurons *g,
                                       const void *w, const void *delta, void *all) {
    const struct fr_kernels *k = real->k;
    int b = g->columns;
    for (int from = 0; from < g->p; from++) {
        void *h = ghost_neurons_of(k, g, all, from);
        if (from == g->rank)
            FR_COMPUTE(real, memset(h, 0, (size_t)fr_ghost_neurons_values(g) * k->size_B));
        else
            fr_multiply_back(real, g->out, b, g->k, decompressor(k, g, w, from), delta, 0, h);
    }
}

fr_status fr_ghost_neurons_input(struct fr_real *real, const struct fr_ghost_neurons *g,
                                 const void *w, const void *delta, void *scratch, void *dghosts,
                                 void *dx) {
    const struct fr_kernels *k = real->k;
    int b = g->columns;
    gradients_of_ghost_neurons(real, g, w, delta, scratch);
    FR_TRY(
        fr_real_reduce_scatter(real, real->tp, scratch, dghosts, fr_ghost_neurons_values(g)));
    fr_multiply_back(real, g->out, b, g->in, w, delta, 0, dx);
    fr_multiply_back(real, g->k, b, g->in, fr_at(k, w, c_at(g)), dghosts, 1, dx);
    return FR_OK;
}

void fr_ghost_neurons_weight(struct fr_real *real, const struct fr_ghost_neurons *g, bool adds,
                             const void *x, const void *delta, const void *all,
                             const void *dghosts, void *dw) {
    const struct fr_kernels *k = real->k;
    int b = g->columns;
    fr_add_outer(real, g->out, b, g->in, delta, x, adds, dw);
    for (int from = 0; from < g->p; from++)
        if (from != g->rank)
            fr_add_outer(real, g->out, b, g->k, delta, ghost_neurons_of(k, g, all, from), adds,
                         decompressor(k, g, dw, from));
    fr_add_outer(real, g->k, b, g->in, dghosts, x, adds, fr_at(k, dw, c_at(g)));
}

int fr_ghost_neurons_matrices(const struct fr_real *real, const struct fr_ghost_neurons *g,
                              void *dw, struct fr_unit_matrix *out, int capacity) {
    const struct fr_kernels *k = real->k;
    if (capacity > 0) out[0] = (struct fr_unit_matrix){dw, g->out, g->in};
    if (capacity > 1) out[1] = (struct fr_unit_matrix){fr_at(k, dw, c_at(g)), g->k, g->in};
    for (int from = 0, i = 2; from < g->p; from++)
        if (from != g->rank && i < capacity)
            out[i++] = (struct fr_unit_matrix){decompressor(k, g, dw, from), g->out, g->k};
    return g->p + 1;
}
