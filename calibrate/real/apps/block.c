#include "calibrate/real/apps/block.h"

#include <math.h>
#include <string.h>

#include "calibrate/real/apps/random.h"

/* ---- parameters ------------------------------------------------------------------------------ */

enum { N_PARTS = 12 };

/* Values of each part, in the order of struct fr_block. */
static void part_sizes(const struct fr_block_sizes *z, size_t size[N_PARTS]) {
    size_t h = (size_t)z->hidden, q = (size_t)(z->heads * z->head_dim), f = (size_t)z->ffn;
    const size_t sizes[N_PARTS] = {h, h, 3 * q * h, 3 * q, h * q, h, h, h, f * h, f, h * f, h};
    memcpy(size, sizes, sizeof sizes);
}

int64_t fr_block_parameters(const struct fr_block_sizes *z) {
    size_t size[N_PARTS], sum = 0;
    part_sizes(z, size);
    for (int i = 0; i < N_PARTS; i++) sum += size[i];
    return (int64_t)sum;
}

struct fr_block fr_block_at(const struct fr_kernels *k, const struct fr_block_sizes *z,
                            const void *base) {
    size_t size[N_PARTS], at = 0;
    void *part[N_PARTS];
    part_sizes(z, size);
    for (int i = 0; i < N_PARTS; i++) {
        part[i] = fr_at(k, base, at);
        at += size[i];
    }
    return (struct fr_block){part[0], part[1], part[2], part[3], part[4],  part[5],
                             part[6], part[7], part[8], part[9], part[10], part[11]};
}

static void fill_ones(const struct fr_kernels *k, int n, void *x) {
    for (int i = 0; i < n; i++) k->set(x, (size_t)i, 1);
}

void fr_block_fill(const struct fr_kernels *k, const struct fr_block_sizes *z, int rank,
                   int ranks, uint64_t seed, uint64_t stream, struct fr_block *w) {
    int h = z->hidden, q = z->heads * z->head_dim, f = z->ffn, all_q = q * ranks,
        all_f = f * ranks;
    fill_ones(k, h, w->norm1_gain);
    fill_ones(k, h, w->norm2_gain);
    for (int part = 0; part < 3; part++) /* queries, keys, values */
        fr_fill_normal(k, seed, stream, part * all_q + rank * q, q, 0, h, h, 1 / sqrt(h),
                       fr_at(k, w->qkv, (size_t)(part * q) * (size_t)h));
    fr_fill_normal(k, seed, stream + 1, 0, h, rank * q, q, all_q, 1 / sqrt(all_q), w->out);
    fr_fill_normal(k, seed, stream + 2, rank * f, f, 0, h, h, 1 / sqrt(h), w->up);
    fr_fill_normal(k, seed, stream + 3, 0, h, rank * f, f, all_f, 1 / sqrt(all_f), w->down);
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* A part of a buffer: so many values, the next beginning on a cache line. */
struct part {
    void **at;
    int64_t n;
};

/* @return values of all parts, which are put from @p base on. */
static int64_t lay_out(const struct fr_kernels *k, const struct part *part, int n,
                       const void *base) {
    const int64_t line = 16;
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        if (base) *part[i].at = fr_at(k, base, (size_t)sum);
        sum += (part[i].n + line - 1) / line * line;
    }
    return sum;
}

int64_t fr_block_softmax_size(const struct fr_block_sizes *z) {
    return (int64_t)z->heads * z->sequence * fr_block_tokens(z);
}

static int64_t lay_out_saved(const struct fr_kernels *k, const struct fr_block_sizes *z,
                             const void *base, bool softmax, struct fr_block_saved *s) {
    int64_t t = fr_block_tokens(z), h = z->hidden, q = z->heads * z->head_dim, f = z->ffn;
    const struct part all[] = {{&s->a, h * t},
                               {&s->mean1, t},
                               {&s->inverse1, t},
                               {&s->qkv, 3 * q * t},
                               {&s->c, q * t},
                               {&s->x1, h * t},
                               {&s->m, h * t},
                               {&s->mean2, t},
                               {&s->inverse2, t},
                               {&s->u, f * t},
                               {&s->p, fr_block_softmax_size(z)}};
    return lay_out(k, all, sizeof all / sizeof *all - !softmax, base);
}

static int64_t lay_out_deferred(const struct fr_kernels *k, const struct fr_block_sizes *z,
                                const void *base, struct fr_block_deferred *d) {
    int64_t t = fr_block_tokens(z), h = z->hidden, q = z->heads * z->head_dim, f = z->ffn;
    const struct part all[] = {{&d->du, f * t}, {&d->dx1, h * t}, {&d->dqkv, 3 * q * t}};
    return lay_out(k, all, sizeof all / sizeof *all, base);
}

static int64_t lay_out_room(const struct fr_kernels *k, const struct fr_block_sizes *z,
                            const void *base, struct fr_block_room *r) {
    int64_t t = fr_block_tokens(z), h = z->hidden, q = z->heads * z->head_dim;
    const struct part all[] = {{&r->dh, h * t},
                               {&r->dc, q * t},
                               {&r->dp, (int64_t)z->sequence * z->sequence},
                               {&r->bias, z->ffn}};
    return lay_out(k, all, sizeof all / sizeof *all, base);
}

int64_t fr_block_saved_size(const struct fr_block_sizes *z, bool softmax) {
    struct fr_block_saved s;
    return lay_out_saved(NULL, z, NULL, softmax, &s);
}

int64_t fr_block_deferred_size(const struct fr_block_sizes *z) {
    struct fr_block_deferred d;
    return lay_out_deferred(NULL, z, NULL, &d);
}

int64_t fr_block_room_size(const struct fr_block_sizes *z) {
    struct fr_block_room r;
    return lay_out_room(NULL, z, NULL, &r);
}

struct fr_block_saved fr_block_saved_at(const struct fr_kernels *k,
                                        const struct fr_block_sizes *z, const void *base,
                                        void *softmax) {
    struct fr_block_saved s = {.p = softmax};
    lay_out_saved(k, z, base, !softmax, &s);
    return s;
}

struct fr_block_deferred fr_block_deferred_at(const struct fr_kernels *k,
                                              const struct fr_block_sizes *z,
                                              const void *base) {
    struct fr_block_deferred d = {0};
    lay_out_deferred(k, z, base, &d);
    return d;
}

struct fr_block_room fr_block_room_at(const struct fr_kernels *k,
                                      const struct fr_block_sizes *z, const void *base) {
    struct fr_block_room r = {0};
    lay_out_room(k, z, base, &r);
    return r;
}

/* ---- attention ------------------------------------------------------------------------------- */

/* Head @p i of sample @p j in rows of T tokens: part 0 queries, 1 keys, 2 values. */
static void *head(const struct fr_kernels *k, const struct fr_block_sizes *z, const void *qkv,
                  int part, int i, int j) {
    size_t row = (size_t)(part * z->heads + i) * (size_t)z->head_dim;
    return fr_at(k, qkv, row * (size_t)fr_block_tokens(z) + (size_t)(j * z->sequence));
}

static void *scores(const struct fr_kernels *k, const struct fr_block_sizes *z, const void *p,
                    int i, int j) {
    size_t s = (size_t)z->sequence;
    return fr_at(k, p, (size_t)(j * z->heads + i) * s * s);
}

void fr_attention_forward(struct fr_real *real, const struct fr_block_sizes *z, const void *qkv,
                          void *p, void *c) {
    const struct fr_kernels *k = real->k;
    int s = z->sequence, d = z->head_dim, t = fr_block_tokens(z);
    double alpha = 1 / sqrt(d);
    for (int j = 0; j < z->samples; j++)
        for (int i = 0; i < z->heads; i++) {
            void *pij = scores(k, z, p, i, j);
            FR_COMPUTE(real, k->gemm(true, false, s, s, d, 1, head(k, z, qkv, 0, i, j), t,
                                     head(k, z, qkv, 1, i, j), t, 0, pij, s));
            FR_COMPUTE(real, k->softmax(s, s, z->causal, alpha, pij));
            FR_COMPUTE(real, k->gemm(false, true, d, s, s, 1, head(k, z, qkv, 2, i, j), t, pij,
                                     s, 0, head(k, z, c, 0, i, j), t));
        }
}

void fr_attention_backward(struct fr_real *real, const struct fr_block_sizes *z,
                           const void *qkv, const void *p, const void *dc, void *dp,
                           void *dqkv) {
    const struct fr_kernels *k = real->k;
    int s = z->sequence, d = z->head_dim, t = fr_block_tokens(z);
    double alpha = 1 / sqrt(d);
    for (int j = 0; j < z->samples; j++)
        for (int i = 0; i < z->heads; i++) {
            const void *pij = scores(k, z, p, i, j), *dcij = head(k, z, dc, 0, i, j);
            FR_COMPUTE(real, k->gemm(true, false, s, s, d, 1, dcij, t, head(k, z, qkv, 2, i, j),
                                     t, 0, dp, s));
            FR_COMPUTE(real, k->gemm(false, false, d, s, s, 1, dcij, t, pij, s, 0,
                                     head(k, z, dqkv, 2, i, j), t));
            FR_COMPUTE(real, k->softmax_backward(s, s, alpha, pij, dp));
            FR_COMPUTE(real, k->gemm(false, true, d, s, s, 1, head(k, z, qkv, 1, i, j), t, dp,
                                     s, 0, head(k, z, dqkv, 0, i, j), t));
            FR_COMPUTE(real, k->gemm(false, false, d, s, s, 1, head(k, z, qkv, 0, i, j), t, dp,
                                     s, 0, head(k, z, dqkv, 1, i, j), t));
        }
}

/* ---- the layer ------------------------------------------------------------------------------- */

/* y (m x T) := w (m x n) x (n x T). */
static void multiply(struct fr_real *real, int m, int t, int n, const void *w, const void *x,
                     void *y) {
    FR_COMPUTE(real, real->k->gemm(false, false, m, t, n, 1, w, n, x, t, 0, y, t));
}

/* dx (n x T) := w^T dy. */
static void multiply_back(struct fr_real *real, int m, int t, int n, const void *w,
                          const void *dy, void *dx) {
    FR_COMPUTE(real, real->k->gemm(true, false, n, t, m, 1, w, n, dy, t, 0, dx, t));
}

/* dw (m x n) += dy x^T. */
static void add_outer(struct fr_real *real, int m, int t, int n, const void *dy, const void *x,
                      void *dw) {
    FR_COMPUTE(real, real->k->gemm(false, true, m, n, t, 1, dy, t, x, t, 1, dw, n));
}

/* Partial sums (h x T) of all ranks that divide the layer, added up. */
static fr_status add_up(struct fr_real *real, const struct fr_block_sizes *z, void *x,
                        struct fr_error *err) {
    if (real->run->plan->tp == 1) return FR_OK;
    return fr_real_all_reduce(real, real->tp, x, (int64_t)z->hidden * fr_block_tokens(z), err);
}

/* y := w x of all ranks, with bias and residual. */
static fr_status leave(struct fr_real *real, const struct fr_block_sizes *z, int n,
                       const void *w, const void *bias, const void *x, const void *residual,
                       void *y, struct fr_error *err) {
    int t = fr_block_tokens(z), h = z->hidden;
    multiply(real, h, t, n, w, x, y);
    FR_TRY(add_up(real, z, y, err));
    FR_COMPUTE(real, real->k->bias(h, t, bias, y, y));
    FR_COMPUTE(real, real->k->add((size_t)h * (size_t)t, residual, y));
    return FR_OK;
}

fr_status fr_block_forward(struct fr_real *real, const struct fr_block_sizes *z,
                           const struct fr_block *w, const struct fr_block_saved *s,
                           const void *x, void *y, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int t = fr_block_tokens(z), h = z->hidden, q = z->heads * z->head_dim, f = z->ffn;
    FR_COMPUTE(real,
               k->norm(h, t, x, w->norm1_gain, w->norm1_bias, s->mean1, s->inverse1, s->a));
    multiply(real, 3 * q, t, h, w->qkv, s->a, s->qkv);
    FR_COMPUTE(real, k->bias(3 * q, t, w->qkv_bias, s->qkv, s->qkv));
    fr_attention_forward(real, z, s->qkv, s->p, s->c);
    FR_TRY(leave(real, z, q, w->out, w->out_bias, s->c, x, s->x1, err));
    FR_COMPUTE(real,
               k->norm(h, t, s->x1, w->norm2_gain, w->norm2_bias, s->mean2, s->inverse2, s->m));
    multiply(real, f, t, h, w->up, s->m, s->u);
    FR_COMPUTE(real, k->bias_relu(f, t, w->up_bias, s->u));
    return leave(real, z, f, w->down, w->down_bias, s->u, s->x1, y, err);
}

fr_status fr_block_input(struct fr_real *real, const struct fr_block_sizes *z,
                         const struct fr_block *w, const struct fr_block *g,
                         const struct fr_block_saved *s, const struct fr_block_deferred *d,
                         const struct fr_block_room *r, const void *x, const void *dy, void *dx,
                         struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int t = fr_block_tokens(z), h = z->hidden, q = z->heads * z->head_dim, f = z->ffn;
    size_t n = (size_t)h * (size_t)t;
    multiply_back(real, h, t, f, w->down, dy, d->du);
    FR_COMPUTE(real, k->relu_backward(f, t, s->u, d->du, r->bias));
    FR_COMPUTE(real, k->add((size_t)f, r->bias, g->up_bias));
    multiply_back(real, f, t, h, w->up, d->du, r->dh);
    FR_TRY(add_up(real, z, r->dh, err));
    FR_COMPUTE(real, k->norm_backward(h, t, s->x1, w->norm2_gain, s->mean2, s->inverse2, r->dh,
                                      d->dx1, g->norm2_gain, g->norm2_bias));
    FR_COMPUTE(real, k->add(n, dy, d->dx1));
    multiply_back(real, h, t, q, w->out, d->dx1, r->dc);
    fr_attention_backward(real, z, s->qkv, s->p, r->dc, r->dp, d->dqkv);
    multiply_back(real, 3 * q, t, h, w->qkv, d->dqkv, r->dh);
    FR_TRY(add_up(real, z, r->dh, err));
    FR_COMPUTE(real, k->norm_backward(h, t, x, w->norm1_gain, s->mean1, s->inverse1, r->dh, dx,
                                      g->norm1_gain, g->norm1_bias));
    FR_COMPUTE(real, k->add(n, d->dx1, dx));
    return FR_OK;
}

void fr_block_weight(struct fr_real *real, const struct fr_block_sizes *z,
                     const struct fr_block *g, const struct fr_block_saved *s,
                     const struct fr_block_deferred *d, const void *dy) {
    const struct fr_kernels *k = real->k;
    int t = fr_block_tokens(z), h = z->hidden, q = z->heads * z->head_dim, f = z->ffn;
    add_outer(real, h, t, f, dy, s->u, g->down);
    FR_COMPUTE(real, k->row_sums(h, t, dy, g->down_bias));
    add_outer(real, f, t, h, d->du, s->m, g->up);
    add_outer(real, h, t, q, d->dx1, s->c, g->out);
    FR_COMPUTE(real, k->row_sums(h, t, d->dx1, g->out_bias));
    add_outer(real, 3 * q, t, h, d->dqkv, s->a, g->qkv);
    FR_COMPUTE(real, k->row_sums(3 * q, t, d->dqkv, g->qkv_bias));
}
