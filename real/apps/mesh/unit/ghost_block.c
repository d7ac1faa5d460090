/* A transformer's layer whose attention is Megatron's and whose MLP is phantom (models/work/phantom_stage.h):
 * between layers a rank has o = h/p of every token's values.
 *
 *      forward   x gathered, normed, its own heads; their partial sums reduced and scattered (h T each);
 *                the second norm's sums over a token's values added up (2 T); up and down with ghosts
 *                (real/apps/mesh/ghosts.h)
 *      backward  the mirror images
 *
 * The second norm and the biases after it are divided as the values are.  The first is on every rank,
 * whole: of its gradients each has the part that its own heads make, and once an iteration they are
 * added up (real/apps/mesh/partial.c).
 *
 * A rank's block: that norm; qkv (3 q x h), its bias; out (h x q), its bias (o); the second norm (2 o);
 * up's matrices, its bias (f); down's, its bias (o). */
#include <math.h>

#include "real/apps/attention/context.h"
#include "real/apps/ffn.h"
#include "real/apps/mesh/ghosts.h"
#include "real/apps/mesh/layer.h"
#include "real/apps/random.h"

enum { STREAM_UP = 8, STREAM_DOWN = 16 };

/* Of a rank: h, o, q, f as above; tokens. */
struct sizes {
    int h, o, q, f, t;
    struct fr_ghosts up, down;
};

static struct sizes sizes_of(const struct fr_unit *u) {
    const struct fr_block_sizes *z = &u->block;
    struct sizes s = {z->hidden, u->out, z->heads * z->head_dim, z->ffn, u->columns, {0}, {0}};
    s.up = s.down =
        (struct fr_ghosts){.p = u->tp, .rank = u->tp_rank, .k = u->ghost, .columns = s.t};
    s.up.in = s.down.out = s.o;
    s.up.out = s.down.in = s.f;
    return s;
}

static fr_status check(const struct fr_unit *u, struct fr_error *err) {
    const struct fr_transformer *t = &u->run->workload->transformer;
    FR_TRY(fr_layer_check(u, err));
    return fr_ghosts_check(t->hidden, t->ffn, u->tp, u->ghost, err);
}

/* ---- parameters ------------------------------------------------------------------------------ */

struct block {
    void *gain1, *bias1, *qkv, *qkv_bias, *out, *out_bias, *gain2, *bias2;
    void *up, *up_bias, *down, *down_bias;
};

/* @return values of the block, from @p base on. */
static int64_t lay_out(const struct fr_kernels *k, const struct fr_unit *u, const void *base,
                       struct block *b) {
    const struct sizes z = sizes_of(u);
    const struct fr_block_part all[] = {{&b->gain1, z.h},
                                        {&b->bias1, z.h},
                                        {&b->qkv, (int64_t)3 * z.q * z.h},
                                        {&b->qkv_bias, 3 * z.q},
                                        {&b->out, (int64_t)z.h * z.q},
                                        {&b->out_bias, z.o},
                                        {&b->gain2, z.o},
                                        {&b->bias2, z.o},
                                        {&b->up, fr_ghosts_parameters(&z.up)},
                                        {&b->up_bias, z.f},
                                        {&b->down, fr_ghosts_parameters(&z.down)},
                                        {&b->down_bias, z.o}};
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (base) *all[i].at = fr_at(k, base, (size_t)sum);
        sum += all[i].n;
    }
    return sum;
}

static int64_t parameters(const struct fr_unit *u) {
    struct block b;
    return lay_out(NULL, u, NULL, &b);
}

static struct block at_block(const struct fr_real *real, const struct fr_unit *u,
                             const void *base) {
    struct block b = {0};
    lay_out(real->k, u, base, &b);
    return b;
}

static void fill_ones(const struct fr_kernels *k, int n, void *x) {
    for (int i = 0; i < n; i++) k->set(x, (size_t)i, 1);
}

static void fill(const struct fr_real *real, struct fr_unit *u) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    const struct block w = at_block(real, u, u->w);
    uint64_t seed = real->run->seed, stream = (uint64_t)(FR_STREAM_LAYER + 64 * u->index);
    int all_q = z.q * u->tp;
    fill_ones(k, z.h, w.gain1);
    fill_ones(k, z.o, w.gain2);
    for (int part = 0; part < 3; part++) /* queries, keys, values */
        fr_fill_normal(k, seed, stream, part * all_q + u->tp_rank * z.q, z.q, 0, z.h, z.h,
                       1 / sqrt(z.h), fr_at(k, w.qkv, (size_t)(part * z.q) * (size_t)z.h));
    fr_fill_normal(k, seed, stream + 1, 0, z.h, u->tp_rank * z.q, z.q, all_q, 1 / sqrt(all_q),
                   w.out);
    fr_ghosts_fill(k, &z.up, seed, stream + STREAM_UP, w.up);
    fr_ghosts_fill(k, &z.down, seed, stream + STREAM_DOWN, w.down);
}

static int64_t partial(const struct fr_unit *u) { return 2 * (int64_t)u->block.hidden; }

static int matrices(const struct fr_real *real, const struct fr_unit *u,
                    struct fr_unit_matrix *out, int room) {
    const struct sizes z = sizes_of(u);
    const struct block g = at_block(real, u, u->g);
    int n = 2, up = z.up.p + 1;
    if (room > 0) out[0] = (struct fr_unit_matrix){g.qkv, 3 * z.q, z.h};
    if (room > 1) out[1] = (struct fr_unit_matrix){g.out, z.h, z.q};
    n += fr_ghosts_matrices(real, &z.up, g.up, out ? out + 2 : NULL, room - 2);
    return n +
           fr_ghosts_matrices(real, &z.down, g.down, out ? out + 2 + up : NULL, room - 2 - up);
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* ghosts of all ranks at up and down */
struct saved {
    void *x, *a, *mean1, *inverse1, *qkv, *c, *x1, *m, *mean2, *inverse2, *u, *up, *down, *p;
};
/* dx1 of all ranks; gradients of a rank's ghosts. */
struct deferred {
    void *du, *dx1, *dqkv, *up, *down;
};
/* Two of a token's whole values; of the heads, of the second norm; scores; a bias; ghosts of a rank and
 * of all; the norm's sums. */
struct pass {
    void *whole, *second, *dc, *dm, *context, *bias, *mine, *all, *sums;
};

static int64_t lay_out_saved(const struct fr_kernels *k, const struct fr_unit *u,
                             const void *base, bool softmax, struct saved *s) {
    const struct sizes z = sizes_of(u);
    int64_t t = z.t, ghosts = u->tp * fr_ghosts_values(&z.up);
    const struct fr_block_part all[] = {
        {&s->x, z.h * t},       {&s->a, z.h * t},
        {&s->mean1, t},         {&s->inverse1, t},
        {&s->qkv, 3 * z.q * t}, {&s->c, z.q * t},
        {&s->x1, z.o * t},      {&s->m, z.o * t},
        {&s->mean2, t},         {&s->inverse2, t},
        {&s->u, z.f * t},       {&s->up, ghosts},
        {&s->down, ghosts},     {&s->p, fr_block_softmax_size(&u->block)}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all - !softmax, base);
}

static int64_t lay_out_deferred(const struct fr_kernels *k, const struct fr_unit *u,
                                const void *base, struct deferred *d) {
    const struct sizes z = sizes_of(u);
    int64_t t = z.t, ghosts = fr_ghosts_values(&z.up);
    const struct fr_block_part all[] = {{&d->du, z.f * t},
                                        {&d->dx1, z.h * t},
                                        {&d->dqkv, 3 * z.q * t},
                                        {&d->up, ghosts},
                                        {&d->down, ghosts}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all, base);
}

static int64_t lay_out_pass(const struct fr_kernels *k, const struct fr_unit *u,
                            const void *base, struct pass *r) {
    const struct sizes z = sizes_of(u);
    int64_t t = z.t, ghosts = fr_ghosts_values(&z.up),
            context = fr_context_room_size(&u->block);
    const struct fr_block_part all[] = {
        {&r->whole, z.h * t}, {&r->second, z.h * t},     {&r->dc, z.q * t},
        {&r->dm, z.o * t},    {&r->context, context},    {&r->bias, z.f},
        {&r->mine, ghosts},   {&r->all, u->tp * ghosts}, {&r->sums, 2 * t}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all, base);
}

static int64_t pass_room(const struct fr_unit *u) {
    struct pass r;
    return lay_out_pass(NULL, u, NULL, &r);
}
static int64_t deferred_size(const struct fr_unit *u) {
    struct deferred d;
    return lay_out_deferred(NULL, u, NULL, &d);
}
static int64_t saved_size(const struct fr_unit *u, bool softmax) {
    struct saved s;
    return lay_out_saved(NULL, u, NULL, softmax, &s);
}
static int64_t softmax_size(const struct fr_unit *u) {
    return fr_block_softmax_size(&u->block);
}

static struct saved saved_at(const struct fr_real *real, const struct fr_unit *u,
                             const struct fr_layer_at *at) {
    struct saved s = {.p = at->softmax};
    lay_out_saved(real->k, u, at->saved, !at->softmax, &s);
    return s;
}
static struct deferred deferred_at(const struct fr_real *real, const struct fr_unit *u,
                                   const struct fr_layer_at *at) {
    struct deferred d = {0};
    lay_out_deferred(real->k, u, at->deferred, &d);
    return d;
}
static struct pass pass_at(const struct fr_real *real, const struct fr_unit *u,
                           const struct fr_layer_at *at) {
    struct pass r = {0};
    lay_out_pass(real->k, u, at->room, &r);
    return r;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static size_t own_values(const struct sizes *z) { return (size_t)z->o * (size_t)z->t; }

static fr_status attend(struct fr_real *real, const struct fr_unit *u,
                        const struct fr_layer_at *at, struct fr_error *err) {
    const struct saved s = saved_at(real, u, at);
    const struct pass r = pass_at(real, u, at);
    const struct fr_context_room room = fr_context_room_at(real->k, &u->block, r.context);
    return fr_context_again(real, &u->block, &room, s.qkv, s.p, s.c, err);
}

/* x1, from the own rows x of what enters. */
static fr_status heads(struct fr_real *real, const struct fr_unit *u, const struct saved *s,
                       const struct pass *r, const void *x, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    const struct block w = at_block(real, u, u->w);
    size_t n = own_values(&z);
    FR_TRY(fr_real_all_gather(real, real->tp, x, (int64_t)n, s->x, err));
    FR_COMPUTE(real, k->norm(z.h, z.t, s->x, w.gain1, w.bias1, s->mean1, s->inverse1, s->a));
    const struct fr_context_room room = fr_context_room_at(k, &u->block, r->context);
    void *qkv = fr_context_made(&u->block, &room, s->qkv);
    fr_block_multiply(real, 3 * z.q, z.t, z.h, w.qkv, s->a, qkv);
    FR_COMPUTE(real, k->bias(3 * z.q, z.t, w.qkv_bias, qkv, qkv));
    FR_TRY(fr_context_forward(real, &u->block, &room, s->qkv, s->p, s->c, err));
    fr_block_multiply(real, z.h, z.t, z.q, w.out, s->c, r->whole);
    FR_TRY(fr_real_reduce_scatter(real, real->tp, r->whole, s->x1, (int64_t)n, err));
    FR_COMPUTE(real, k->bias(z.o, z.t, w.out_bias, s->x1, s->x1));
    FR_COMPUTE(real, k->add(n, x, s->x1));
    return FR_OK;
}

static fr_status forward_layer(struct fr_real *real, const struct fr_unit *u,
                               const struct fr_layer_at *at, const void *x, void *y,
                               struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    const struct block w = at_block(real, u, u->w);
    const struct saved s = saved_at(real, u, at);
    const struct pass r = pass_at(real, u, at);
    FR_TRY(heads(real, u, &s, &r, x, err));
    FR_COMPUTE(real, k->norm_sums(z.o, z.t, s.x1, r.sums));
    FR_TRY(fr_real_all_reduce(real, real->tp, r.sums, 2 * z.t, err));
    FR_COMPUTE(real, k->norm_part(z.o, z.h, z.t, s.x1, w.gain2, w.bias2, r.sums, s.mean2,
                                  s.inverse2, s.m));
    FR_TRY(fr_ghosts_forward(real, &z.up, w.up, s.m, r.mine, s.up, s.u, err));
    FR_COMPUTE(real, k->bias_relu(z.f, z.t, w.up_bias, s.u));
    FR_TRY(fr_ghosts_forward(real, &z.down, w.down, s.u, r.mine, s.down, y, err));
    FR_COMPUTE(real, k->bias(z.o, z.t, w.down_bias, y, y));
    FR_COMPUTE(real, k->add(own_values(&z), s.x1, y));
    return FR_OK;
}

/* The own rows of dx1, and then those of all. */
static fr_status mlp_input(struct fr_real *real, const struct fr_unit *u, const struct saved *s,
                           const struct deferred *d, const struct pass *r, const void *dy,
                           void *mine, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    const struct block w = at_block(real, u, u->w), g = at_block(real, u, u->g);
    FR_TRY(fr_ghosts_input(real, &z.down, w.down, dy, r->all, d->down, d->du, err));
    FR_COMPUTE(real, k->relu_backward(z.f, z.t, s->u, d->du, r->bias));
    FR_COMPUTE(real, k->add((size_t)z.f, r->bias, g.up_bias));
    FR_TRY(fr_ghosts_input(real, &z.up, w.up, d->du, r->all, d->up, r->dm, err));
    FR_COMPUTE(real, k->norm_sums_backward(z.o, z.t, s->x1, w.gain2, s->mean2, s->inverse2,
                                           r->dm, r->sums, g.gain2, g.bias2));
    FR_TRY(fr_real_all_reduce(real, real->tp, r->sums, 2 * z.t, err));
    FR_COMPUTE(real, k->norm_part_backward(z.o, z.h, z.t, s->x1, w.gain2, s->mean2, s->inverse2,
                                           r->dm, r->sums, mine));
    FR_COMPUTE(real, k->add(own_values(&z), dy, mine));
    return fr_real_all_gather(real, real->tp, MPI_IN_PLACE, (int64_t)own_values(&z), d->dx1,
                              err);
}

static void *own_rows(const struct fr_real *real, const struct fr_unit *u, const void *whole) {
    const struct sizes z = sizes_of(u);
    return fr_at(real->k, whole, (size_t)u->tp_rank * own_values(&z));
}

static fr_status input_layer(struct fr_real *real, const struct fr_unit *u,
                             const struct fr_layer_at *at, const void *x, const void *dy,
                             void *dx, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    const struct block w = at_block(real, u, u->w), g = at_block(real, u, u->g);
    const struct saved s = saved_at(real, u, at);
    const struct deferred d = deferred_at(real, u, at);
    const struct pass r = pass_at(real, u, at);
    const struct fr_context_room room = fr_context_room_at(k, &u->block, r.context);
    void *mine = own_rows(real, u, d.dx1);
    size_t n = own_values(&z);
    (void)x;
    FR_TRY(mlp_input(real, u, &s, &d, &r, dy, mine, err));
    fr_block_multiply_back(real, z.h, z.t, z.q, w.out, d.dx1, r.dc);
    FR_TRY(fr_context_backward(real, &u->block, &room, s.qkv, s.p, s.c, r.dc, d.dqkv, err));
    fr_block_multiply_back(real, 3 * z.q, z.t, z.h, w.qkv, d.dqkv, r.whole);
    FR_COMPUTE(real, k->norm_backward(z.h, z.t, s.x, w.gain1, s.mean1, s.inverse1, r.whole,
                                      r.second, g.gain1, g.bias1));
    FR_TRY(fr_real_reduce_scatter(real, real->tp, r.second, dx, (int64_t)n, err));
    FR_COMPUTE(real, k->add(n, mine, dx));
    return FR_OK;
}

static void weight_layer(struct fr_real *real, const struct fr_unit *u,
                         const struct fr_layer_at *at, const void *x, const void *dy) {
    (void)x;
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    const struct block g = at_block(real, u, u->g);
    const struct saved s = saved_at(real, u, at);
    const struct deferred d = deferred_at(real, u, at);
    fr_ghosts_weight(real, &z.down, true, s.u, dy, s.down, d.down, g.down);
    FR_COMPUTE(real, k->row_sums(z.o, z.t, dy, g.down_bias));
    fr_ghosts_weight(real, &z.up, true, s.m, d.du, s.up, d.up, g.up);
    fr_block_add_outer(real, z.h, z.t, z.q, d.dx1, s.c, g.out);
    FR_COMPUTE(real, k->row_sums(z.o, z.t, own_rows(real, u, d.dx1), g.out_bias));
    fr_block_add_outer(real, 3 * z.q, z.t, z.h, d.dqkv, s.a, g.qkv);
    FR_COMPUTE(real, k->row_sums(3 * z.q, z.t, d.dqkv, g.qkv_bias));
}

static const struct fr_layer_way way = {.room = pass_room,
                                        .deferred = deferred_size,
                                        .saved = saved_size,
                                        .softmax = softmax_size,
                                        .forward = forward_layer,
                                        .attend = attend,
                                        .input = input_layer,
                                        .weight = weight_layer};

/* ---- the unit ---------------------------------------------------------------------------------- */

const struct fr_unit_kind fr_unit_ghost_block = {
    .name = "ghost_block",
    .divided = true,
    .adds = true,
    .check = check,
    .parameters = parameters,
    .partial = partial,
    .fill = fill,
    .room = fr_layer_room,
    .keeps = fr_layer_keeps,
    .forward = fr_layer_forward,
    .input = fr_layer_input,
    .weight = fr_layer_weight,
    .matrices = matrices,
    .way = &way,
};
