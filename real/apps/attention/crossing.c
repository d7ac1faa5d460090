#include "real/apps/attention/crossing.h"

#include <math.h>

#include "real/apps/random.h"

static int values_of(const struct fr_block_sizes *z) { return z->heads * z->head_dim; }

/* Every query sees every key. */
static struct fr_block_sizes heads_of(const struct fr_block_sizes *z) {
    struct fr_block_sizes all = *z;
    all.causal = false;
    return all;
}

/* ---- parameters ------------------------------------------------------------------------------ */

static int64_t lay_out(const struct fr_kernels *k, const struct fr_block_sizes *z,
                       const void *base, struct fr_crossing *w) {
    int64_t h = z->hidden, q = values_of(z), sum = 0;
    const struct fr_block_part all[] = {{&w->gain, h},        {&w->bias, h},
                                        {&w->qkv, 3 * q * h}, {&w->qkv_bias, 3 * q},
                                        {&w->out, h * q},     {&w->out_bias, h}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (base) *all[i].at = fr_at(k, base, (size_t)sum);
        sum += all[i].n;
    }
    return sum;
}

int64_t fr_crossing_parameters(const struct fr_block_sizes *z) {
    struct fr_crossing w;
    return lay_out(NULL, z, NULL, &w);
}

struct fr_crossing fr_crossing_at(const struct fr_kernels *k, const struct fr_block_sizes *z,
                                  const void *base) {
    struct fr_crossing w = {0};
    lay_out(k, z, base, &w);
    return w;
}

void fr_crossing_fill(const struct fr_kernels *k, const struct fr_block_sizes *z, uint64_t seed,
                      uint64_t stream, const struct fr_crossing *w) {
    int h = z->hidden, q = values_of(z), all_q = q * z->ranks;
    for (int i = 0; i < h; i++) k->set(w->gain, (size_t)i, 1);
    for (int part = 0; part < 3; part++) /* queries, keys, values */
        fr_fill_normal(k, seed, stream, part * all_q + z->rank * q, q, 0, h, h, 1 / sqrt(h),
                       fr_at(k, w->qkv, (size_t)(part * q) * (size_t)h));
    fr_fill_normal(k, seed, stream + 1, 0, h, z->rank * q, q, all_q, 1 / sqrt(all_q), w->out);
}

/* ---- buffers --------------------------------------------------------------------------------- */

static int64_t lay_out_saved(const struct fr_kernels *k, const struct fr_block_sizes *z,
                             const void *base, bool softmax, struct fr_crossing_saved *s) {
    int64_t t = fr_block_tokens(z), h = z->hidden, q = values_of(z);
    const struct fr_block_part all[] = {{&s->x, h * t},
                                        {&s->a, h * t},
                                        {&s->mean, t},
                                        {&s->inverse, t},
                                        {&s->qkv, 3 * q * t},
                                        {&s->c, q * t},
                                        {&s->p, fr_block_softmax_size(z)}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all - !softmax, base);
}

static int64_t lay_out_deferred(const struct fr_kernels *k, const struct fr_block_sizes *z,
                                const void *base, struct fr_crossing_deferred *d) {
    int64_t t = fr_block_tokens(z);
    const struct fr_block_part all[] = {{&d->dqkv, 3 * values_of(z) * t},
                                        {&d->dx, z->hidden * t}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all, base);
}

static int64_t lay_out_room(const struct fr_kernels *k, const struct fr_block_sizes *z,
                            const void *base, struct fr_crossing_room *r) {
    const struct fr_block_sizes heads = heads_of(z);
    int64_t t = fr_block_tokens(z);
    const struct fr_block_part all[] = {{&r->dh, z->hidden * t},
                                        {&r->dc, values_of(z) * t},
                                        {&r->de, z->hidden * t},
                                        {&r->context, fr_context_room_size(&heads)}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all, base);
}

int64_t fr_crossing_saved_size(const struct fr_block_sizes *z, bool softmax) {
    struct fr_crossing_saved s;
    return lay_out_saved(NULL, z, NULL, softmax, &s);
}
int64_t fr_crossing_deferred_size(const struct fr_block_sizes *z) {
    struct fr_crossing_deferred d;
    return lay_out_deferred(NULL, z, NULL, &d);
}
int64_t fr_crossing_room_size(const struct fr_block_sizes *z) {
    struct fr_crossing_room r;
    return lay_out_room(NULL, z, NULL, &r);
}

struct fr_crossing_saved fr_crossing_saved_at(const struct fr_kernels *k,
                                              const struct fr_block_sizes *z, const void *base,
                                              void *softmax) {
    struct fr_crossing_saved s = {.p = softmax};
    lay_out_saved(k, z, base, !softmax, &s);
    return s;
}
struct fr_crossing_deferred fr_crossing_deferred_at(const struct fr_kernels *k,
                                                    const struct fr_block_sizes *z,
                                                    const void *base) {
    struct fr_crossing_deferred d = {0};
    lay_out_deferred(k, z, base, &d);
    return d;
}
struct fr_crossing_room fr_crossing_room_at(const struct fr_kernels *k,
                                            const struct fr_block_sizes *z, const void *base) {
    struct fr_crossing_room r = {0};
    lay_out_room(k, z, base, &r);
    return r;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* Rows of keys and values, of queries on: of what has @p columns values a row. */
static void *pair_of(const struct fr_real *real, const struct fr_block_sizes *z,
                     const void *qkv, int columns) {
    return fr_at(real->k, qkv, (size_t)values_of(z) * (size_t)columns);
}

static fr_status add_up(struct fr_real *real, const struct fr_block_sizes *z, void *x,
                        struct fr_error *err) {
    if (z->ranks == 1) return FR_OK;
    return fr_real_all_reduce(real, real->tp, x, (int64_t)z->hidden * fr_block_tokens(z), err);
}

fr_status fr_crossing_forward(struct fr_real *real, const struct fr_block_sizes *z,
                              const struct fr_crossing *w, const struct fr_crossing_saved *s,
                              const struct fr_crossing_room *r, const void *e, void *y,
                              struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct fr_block_sizes heads = heads_of(z);
    const struct fr_context_room room = fr_context_room_at(k, &heads, r->context);
    int h = z->hidden, t = fr_block_tokens(z), q = values_of(z);
    void *qkv = fr_context_made(&heads, &room, s->qkv);
    FR_COMPUTE(real, k->norm(h, t, s->x, w->gain, w->bias, s->mean, s->inverse, s->a));
    fr_block_multiply(real, q, t, h, w->qkv, s->a, qkv);
    fr_block_multiply(real, 2 * q, t, h, pair_of(real, z, w->qkv, h), e,
                      pair_of(real, z, qkv, t));
    FR_COMPUTE(real, k->bias(3 * q, t, w->qkv_bias, qkv, qkv));
    FR_TRY(fr_context_forward(real, &heads, &room, s->qkv, s->p, s->c, err));
    fr_block_multiply(real, h, t, q, w->out, s->c, y);
    FR_TRY(add_up(real, z, y, err));
    FR_COMPUTE(real, k->bias(h, t, w->out_bias, y, y));
    FR_COMPUTE(real, k->add((size_t)h * (size_t)t, s->x, y));
    return FR_OK;
}

fr_status fr_crossing_attend(struct fr_real *real, const struct fr_block_sizes *z,
                             const struct fr_crossing_saved *s,
                             const struct fr_crossing_room *r, struct fr_error *err) {
    const struct fr_block_sizes heads = heads_of(z);
    const struct fr_context_room room = fr_context_room_at(real->k, &heads, r->context);
    return fr_context_again(real, &heads, &room, s->qkv, s->p, s->c, err);
}

fr_status fr_crossing_input(struct fr_real *real, const struct fr_block_sizes *z,
                            const struct fr_crossing *w, const struct fr_crossing *g,
                            const struct fr_crossing_saved *s,
                            const struct fr_crossing_deferred *d,
                            const struct fr_crossing_room *r, const void *dy, void *de,
                            struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct fr_block_sizes heads = heads_of(z);
    const struct fr_context_room room = fr_context_room_at(k, &heads, r->context);
    int h = z->hidden, t = fr_block_tokens(z), q = values_of(z);
    size_t n = (size_t)h * (size_t)t;
    fr_block_multiply_back(real, h, t, q, w->out, dy, r->dc);
    FR_TRY(fr_context_backward(real, &heads, &room, s->qkv, s->p, s->c, r->dc, d->dqkv, err));
    fr_block_multiply_back(real, 2 * q, t, h, pair_of(real, z, w->qkv, h),
                           pair_of(real, z, d->dqkv, t), r->dh);
    FR_TRY(add_up(real, z, r->dh, err));
    FR_COMPUTE(real, k->add(n, r->dh, de));
    fr_block_multiply_back(real, q, t, h, w->qkv, d->dqkv, r->dh);
    FR_TRY(add_up(real, z, r->dh, err));
    FR_COMPUTE(real, k->norm_backward(h, t, s->x, w->gain, s->mean, s->inverse, r->dh, d->dx,
                                      g->gain, g->bias));
    FR_COMPUTE(real, k->add(n, dy, d->dx));
    return FR_OK;
}

void fr_crossing_weight(struct fr_real *real, const struct fr_block_sizes *z,
                        const struct fr_crossing *g, const struct fr_crossing_saved *s,
                        const struct fr_crossing_deferred *d, const void *e, const void *dy) {
    const struct fr_kernels *k = real->k;
    int h = z->hidden, t = fr_block_tokens(z), q = values_of(z);
    fr_block_add_outer(real, h, t, q, dy, s->c, g->out);
    FR_COMPUTE(real, k->row_sums(h, t, dy, g->out_bias));
    fr_block_add_outer(real, q, t, h, d->dqkv, s->a, g->qkv);
    fr_block_add_outer(real, 2 * q, t, h, pair_of(real, z, d->dqkv, t), e,
                       pair_of(real, z, g->qkv, h));
    FR_COMPUTE(real, k->row_sums(3 * q, t, d->dqkv, g->qkv_bias));
}
