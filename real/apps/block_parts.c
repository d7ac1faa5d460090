/* Where the parts of a layer are: of its parameters, and of the buffers of a pass. */
#include <math.h>
#include <string.h>

#include "real/apps/attention/context.h"
#include "real/apps/block.h"
#include "real/apps/random.h"

/* ---- parameters ------------------------------------------------------------------------------ */

enum { N_PARTS = 12 };

/* Values of each part, in the order of struct fr_block. */
static void part_sizes(const struct fr_block_sizes *z, size_t size[N_PARTS]) {
    size_t h = (size_t)z->hidden, q = (size_t)(z->heads * z->head_dim), f = (size_t)z->ffn,
           o = (size_t)fr_block_out(z), heads = o * (size_t)fr_block_in(z, (int)q),
           wide = o * (size_t)fr_block_in(z, (int)f);
    const size_t sizes[N_PARTS] = {h, h, h, h, 3 * q * h, 3 * q, heads, o, f * h, f, wide, o};
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

/* A second product of @p between values of a rank: its part of the rows, or of the columns. */
static void fill_second(const struct fr_kernels *k, const struct fr_block_sizes *z, int between,
                        uint64_t seed, uint64_t stream, void *w) {
    int o = fr_block_out(z), in = fr_block_in(z, between), all = between * z->ranks;
    fr_fill_normal(k, seed, stream, z->rows ? z->rank * o : 0, o,
                   z->rows ? 0 : z->rank * between, in, all, 1 / sqrt(all), w);
}

void fr_block_fill(const struct fr_kernels *k, const struct fr_block_sizes *z, uint64_t seed,
                   uint64_t stream, struct fr_block *w) {
    int h = z->hidden, q = z->heads * z->head_dim, f = z->ffn, all_q = q * z->ranks;
    fill_ones(k, h, w->norm1_gain);
    fill_ones(k, h, w->norm2_gain);
    for (int part = 0; part < 3; part++) /* queries, keys, values */
        fr_fill_normal(k, seed, stream, part * all_q + z->rank * q, q, 0, h, h, 1 / sqrt(h),
                       fr_at(k, w->qkv, (size_t)(part * q) * (size_t)h));
    fill_second(k, z, q, seed, stream + 1, w->out);
    fr_fill_normal(k, seed, stream + 2, z->rank * f, f, 0, h, h, 1 / sqrt(h), w->up);
    fill_second(k, z, f, seed, stream + 3, w->down);
}

/* ---- buffers --------------------------------------------------------------------------------- */

int64_t fr_block_lay_out(const struct fr_kernels *k, const struct fr_block_part *part, int n,
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
    int64_t t = fr_block_tokens(z), own = fr_block_own_tokens(z), h = z->hidden,
            q = z->heads * z->head_dim;
    const struct fr_block_part all[] = {{&s->a, h * own},
                                        {&s->mean1, own},
                                        {&s->inverse1, own},
                                        {&s->qkv, 3 * q * t},
                                        {&s->c, fr_block_in(z, (int)q) * t},
                                        {&s->x1, h * own},
                                        {&s->m, h * own},
                                        {&s->mean2, own},
                                        {&s->inverse2, own},
                                        {&s->u, fr_block_in(z, z->ffn) * t},
                                        {&s->p, fr_block_softmax_size(z)}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all - !softmax, base);
}

static int64_t lay_out_deferred(const struct fr_kernels *k, const struct fr_block_sizes *z,
                                const void *base, struct fr_block_deferred *d) {
    int64_t t = fr_block_tokens(z), h = z->hidden, q = z->heads * z->head_dim,
            whole = fr_block_parted(z) ? h * t : 0;
    const struct fr_block_part all[] = {{&d->du, fr_block_in(z, z->ffn) * t},
                                        {&d->dx1, h * fr_block_own_tokens(z)},
                                        {&d->dqkv, 3 * q * t},
                                        {&d->whole_dy, whole},
                                        {&d->whole_dx1, whole},
                                        {&d->whole_a, whole},
                                        {&d->whole_m, whole}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all, base);
}

static int64_t lay_out_room(const struct fr_kernels *k, const struct fr_block_sizes *z,
                            const void *base, struct fr_block_room *r) {
    int64_t t = fr_block_tokens(z), h = z->hidden, q = z->heads * z->head_dim,
            whole = fr_block_parted(z) ? h * t : 0;
    const struct fr_block_part all[] = {{&r->dh, h * t},
                                        {&r->dc, fr_block_in(z, (int)q) * t},
                                        {&r->context, fr_context_room_size(z)},
                                        {&r->bias, z->ffn},
                                        {&r->whole, whole},
                                        {&r->packed, whole}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all, base);
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
