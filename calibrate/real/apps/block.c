#include "calibrate/real/apps/block.h"

#include <math.h>
#include <stdlib.h>
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

void fr_block_fill(const struct fr_kernels *k, const struct fr_block_sizes *z, uint64_t seed,
                   uint64_t stream, struct fr_block *w) {
    int h = z->hidden, q = z->heads * z->head_dim, f = z->ffn;
    fill_ones(k, h, w->norm1_gain);
    fill_ones(k, h, w->norm2_gain);
    fr_fill_normal(k, seed, stream, 0, 3 * q, 0, h, h, 1 / sqrt(h), w->qkv);
    fr_fill_normal(k, seed, stream + 1, 0, h, 0, q, q, 1 / sqrt(q), w->out);
    fr_fill_normal(k, seed, stream + 2, 0, f, 0, h, h, 1 / sqrt(h), w->up);
    fr_fill_normal(k, seed, stream + 3, 0, h, 0, f, f, 1 / sqrt(f), w->down);
}

/* ---- buffers --------------------------------------------------------------------------------- */

bool fr_block_alloc(const struct fr_kernels *k, const struct fr_block_sizes *z,
                    struct fr_block_saved *s) {
    int64_t t = fr_block_tokens(z), h = z->hidden, q = z->heads * z->head_dim, f = z->ffn;
    const struct fr_real_buffer all[] = {
        {&s->x, h * t},    {&s->a, h * t},       {&s->mean1, t},
        {&s->inverse1, t}, {&s->qkv, 3 * q * t}, {&s->p, (int64_t)z->heads * z->sequence * t},
        {&s->c, q * t},    {&s->x1, h * t},      {&s->m, h * t},
        {&s->mean2, t},    {&s->inverse2, t},    {&s->u, f * t}};
    return fr_real_alloc_all(k, all, sizeof all / sizeof *all);
}

void fr_block_free(struct fr_block_saved *s) {
    free(s->x), free(s->a), free(s->mean1), free(s->inverse1);
    free(s->qkv), free(s->p), free(s->c);
    free(s->x1), free(s->m), free(s->mean2), free(s->inverse2), free(s->u);
    *s = (struct fr_block_saved){0};
}

bool fr_block_room_alloc(const struct fr_kernels *k, const struct fr_block_sizes *z,
                         struct fr_block_room *r) {
    int64_t t = fr_block_tokens(z), h = z->hidden, q = z->heads * z->head_dim, f = z->ffn;
    int64_t wide = 3 * q > f ? 3 * q : f;
    if (wide < h) wide = h;
    const struct fr_real_buffer all[] = {{&r->dh, h * t},
                                         {&r->dh2, h * t},
                                         {&r->wide, wide * t},
                                         {&r->dc, q * t},
                                         {&r->dp, (int64_t)z->sequence * z->sequence},
                                         {&r->bias, wide}};
    return fr_real_alloc_all(k, all, sizeof all / sizeof *all);
}

void fr_block_room_free(struct fr_block_room *r) {
    free(r->dh), free(r->dh2), free(r->wide), free(r->dc), free(r->dp), free(r->bias);
    *r = (struct fr_block_room){0};
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

/* dw += dy x^T, dbias += row sums, and, unless dx is NULL, dx := w^T dy. */
static void multiply_backward(struct fr_real *real, int m, int t, int n, const void *w,
                              const void *x, const void *dy, void *dw, void *dbias, void *dx) {
    const struct fr_kernels *k = real->k;
    FR_COMPUTE(real, k->gemm(false, true, m, n, t, 1, dy, t, x, t, 1, dw, n));
    FR_COMPUTE(real, k->row_sums(m, t, dy, dbias));
    if (dx) FR_COMPUTE(real, k->gemm(true, false, n, t, m, 1, w, n, dy, t, 0, dx, t));
}

void fr_block_forward(struct fr_real *real, const struct fr_block_sizes *z,
                      const struct fr_block *w, struct fr_block_saved *s, void *y) {
    const struct fr_kernels *k = real->k;
    int t = fr_block_tokens(z), h = z->hidden, q = z->heads * z->head_dim, f = z->ffn;
    size_t n = (size_t)h * (size_t)t;
    FR_COMPUTE(real,
               k->norm(h, t, s->x, w->norm1_gain, w->norm1_bias, s->mean1, s->inverse1, s->a));
    multiply(real, 3 * q, t, h, w->qkv, s->a, s->qkv);
    FR_COMPUTE(real, k->bias(3 * q, t, w->qkv_bias, s->qkv, s->qkv));
    fr_attention_forward(real, z, s->qkv, s->p, s->c);
    multiply(real, h, t, q, w->out, s->c, s->x1);
    FR_COMPUTE(real, k->bias(h, t, w->out_bias, s->x1, s->x1));
    FR_COMPUTE(real, k->add(n, s->x, s->x1));
    FR_COMPUTE(real,
               k->norm(h, t, s->x1, w->norm2_gain, w->norm2_bias, s->mean2, s->inverse2, s->m));
    multiply(real, f, t, h, w->up, s->m, s->u);
    FR_COMPUTE(real, k->bias_relu(f, t, w->up_bias, s->u));
    multiply(real, h, t, f, w->down, s->u, y);
    FR_COMPUTE(real, k->bias(h, t, w->down_bias, y, y));
    FR_COMPUTE(real, k->add(n, s->x1, y));
}

void fr_block_backward(struct fr_real *real, const struct fr_block_sizes *z,
                       const struct fr_block *w, const struct fr_block *g,
                       const struct fr_block_saved *s, struct fr_block_room *r, void *dy) {
    const struct fr_kernels *k = real->k;
    int t = fr_block_tokens(z), h = z->hidden, q = z->heads * z->head_dim, f = z->ffn;
    size_t n = (size_t)h * (size_t)t;
    multiply_backward(real, h, t, f, w->down, s->u, dy, g->down, g->down_bias, r->wide);
    FR_COMPUTE(real, k->relu_backward(f, t, s->u, r->wide, r->bias));
    FR_COMPUTE(real, k->gemm(false, true, f, h, t, 1, r->wide, t, s->m, t, 1, g->up, h));
    FR_COMPUTE(real, k->add((size_t)f, r->bias, g->up_bias));
    FR_COMPUTE(real, k->gemm(true, false, h, t, f, 1, w->up, h, r->wide, t, 0, r->dh, t));
    FR_COMPUTE(real, k->norm_backward(h, t, s->x1, w->norm2_gain, s->mean2, s->inverse2, r->dh,
                                      r->dh2, g->norm2_gain, g->norm2_bias));
    FR_COMPUTE(real, k->add(n, r->dh2, dy));
    multiply_backward(real, h, t, q, w->out, s->c, dy, g->out, g->out_bias, r->dc);
    fr_attention_backward(real, z, s->qkv, s->p, r->dc, r->dp, r->wide);
    multiply_backward(real, 3 * q, t, h, w->qkv, s->a, r->wide, g->qkv, g->qkv_bias, r->dh);
    FR_COMPUTE(real, k->norm_backward(h, t, s->x, w->norm1_gain, s->mean1, s->inverse1, r->dh,
                                      r->dh2, g->norm1_gain, g->norm1_bias));
    FR_COMPUTE(real, k->add(n, r->dh2, dy));
}
