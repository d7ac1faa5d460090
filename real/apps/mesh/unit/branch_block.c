/* A transformer's layer over g = tp sub-grids (Jain et al. 2021, section IV; models/work/subgraph.h): between
 * layers a rank has its own samples, C = T/g tokens of a micro-batch, and in branches all T of 1/g of them.
 *
 *      branches    heads        queries, keys and values of C tokens sliced apart, heads concatenated
 *                  attention    C tokens split to all ranks before the heads, what these make summed
 *                  layer        the MLP likewise, each rank having 1/g of its width
 *
 *      forward     slice, concatenation: all-to-all   split: all-gather   sum: reduce-scatter
 *      backward    the same                           reduce-scatter      all-gather
 *
 * A rank's block is in two: what every rank of a stage has alike, whose gradients all of them add up, and its
 * branches, which a sub-grid does.  Alike are norms, biases after sums, and the products of common layers. */
#include <math.h>

#include "real/apps/attention/context.h"
#include "real/apps/ffn.h"
#include "real/apps/mesh/layer.h"
#include "real/apps/random.h"
#include "real/apps/subgrid.h"

/* Values of the heads and of the MLP's width, of all ranks and where they are made: q, f a rank's. */
struct sizes {
    int h, g, c, t; /* c: own tokens, t = g c: those of branches */
    int all_q, q, qkv, f, all_f;
    bool heads, mlp; /* are heads alone branches, is the MLP one? */
};

static struct sizes sizes_of(const struct fr_unit *u) {
    const struct fr_block_sizes *b = &u->block;
    fr_branches branches = u->run->plan->branches;
    struct sizes z = {.h = b->hidden,
                      .g = u->tp,
                      .c = u->columns,
                      .t = u->columns * u->tp,
                      .q = b->heads * b->head_dim,
                      .all_f = b->ffn * u->tp,
                      .heads = branches == FR_BRANCHES_HEADS,
                      .mlp = branches == FR_BRANCHES_LAYER};
    z.all_q = z.q * u->tp;
    z.qkv = z.heads ? z.all_q : z.q; /* rows of each third of the product */
    z.f = z.mlp ? b->ffn : z.all_f;
    return z;
}

/* The heads of a rank attend to all samples of the group. */
static struct fr_block_sizes attention_of(const struct fr_unit *u) {
    struct fr_block_sizes b = u->block;
    b.samples *= u->tp;
    return b;
}

static fr_status check(const struct fr_unit *u, struct fr_error *err) {
    const struct fr_plan *plan = u->run->plan;
    FR_TRY(fr_layer_check(u, err));
    return fr_real_divides("micro_batch", plan->micro_batch, "tp", plan->tp, err);
}

/* ---- parameters ------------------------------------------------------------------------------ */

struct block {
    void *gain1, *bias1, *gain2, *bias2, *out_bias, *down_bias;
    void *qkv, *qkv_bias, *out, *up, *up_bias, *down;
};

/* Values of the common part, then of the branches; put from the two bases on. */
static void lay_out(const struct fr_kernels *k, const struct fr_unit *u, const void *common,
                    const void *branches, struct block *b, int64_t n[2]) {
    const struct sizes z = sizes_of(u);
    int64_t h = z.h;
    const struct {
        void **at;
        int64_t n;
        bool branch;
    } all[] = {{&b->gain1, h, false},
               {&b->bias1, h, false},
               {&b->gain2, h, false},
               {&b->bias2, h, false},
               {&b->out_bias, h, false},
               {&b->down_bias, h, false},
               {&b->qkv, 3 * z.qkv * h, !z.heads},
               {&b->qkv_bias, 3 * z.qkv, !z.heads},
               {&b->out, h * z.qkv, !z.heads},
               {&b->up, z.f * h, z.mlp},
               {&b->up_bias, z.f, z.mlp},
               {&b->down, h * z.f, z.mlp}};
    n[0] = n[1] = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const void *base = all[i].branch ? branches : common;
        if (k) *all[i].at = fr_at(k, base, (size_t)n[all[i].branch]);
        n[all[i].branch] += all[i].n;
    }
}

static int64_t parameters(const struct fr_unit *u) {
    struct block b;
    int64_t n[2];
    lay_out(NULL, u, NULL, NULL, &b, n);
    return n[0] + n[1];
}
static int64_t common(const struct fr_unit *u) {
    struct block b;
    int64_t n[2];
    lay_out(NULL, u, NULL, NULL, &b, n);
    return n[0];
}

static struct block weights(const struct fr_real *real, const struct fr_unit *u) {
    struct block b;
    int64_t n[2];
    lay_out(real->k, u, u->w, u->own_w, &b, n);
    return b;
}
static struct block gradients(const struct fr_real *real, const struct fr_unit *u) {
    struct block b;
    int64_t n[2];
    lay_out(real->k, u, u->g, u->own_g, &b, n);
    return b;
}

static void fill(const struct fr_real *real, struct fr_unit *u) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    const struct block w = weights(real, u);
    uint64_t seed = real->run->seed, stream = (uint64_t)(FR_STREAM_LAYER + 64 * u->index);
    int q = z.heads ? 0 : u->tp_rank * z.q, f = z.mlp ? u->tp_rank * z.f : 0;
    for (int i = 0; i < z.h; i++) {
        k->set(w.gain1, (size_t)i, 1);
        k->set(w.gain2, (size_t)i, 1);
    }
    for (int part = 0; part < 3; part++) /* queries, keys, values */
        fr_fill_normal(k, seed, stream, part * z.all_q + q, z.qkv, 0, z.h, z.h, 1 / sqrt(z.h),
                       fr_at(k, w.qkv, (size_t)(part * z.qkv) * (size_t)z.h));
    fr_fill_normal(k, seed, stream + 1, 0, z.h, q, z.qkv, z.all_q, 1 / sqrt(z.all_q), w.out);
    fr_fill_normal(k, seed, stream + 2, f, z.f, 0, z.h, z.h, 1 / sqrt(z.h), w.up);
    fr_fill_normal(k, seed, stream + 3, 0, z.h, f, z.f, z.all_f, 1 / sqrt(z.all_f), w.down);
}

/* The common ones, then the branches'. */
static int matrices(const struct fr_real *real, const struct fr_unit *u,
                    struct fr_unit_matrix *out, int room) {
    const struct sizes z = sizes_of(u);
    const struct block g = gradients(real, u);
    const struct fr_unit_matrix all[] = {
        {g.qkv, 3 * z.qkv, z.h}, {g.out, z.h, z.qkv}, {g.up, z.f, z.h}, {g.down, z.h, z.f}};
    const bool branch[] = {!z.heads, !z.heads, z.mlp, z.mlp};
    int n = 0, matrices = (int)(sizeof all / sizeof *all);
    for (int i = 0; i < 2 * matrices; i++)
        if (branch[i % matrices] == i / matrices && n++ < room) out[n - 1] = all[i % matrices];
    return matrices;
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* a, m: what the first products read; qkv of branches; made, what the heads made and the second product reads. */
struct saved {
    void *a, *mean1, *inverse1, *qkv, *c, *made, *x1, *m, *mean2, *inverse2, *u, *p;
};
/* Gradients: of u; of what left the MLP and the heads, where a product has them; of qkv as its product
 * made it. */
struct deferred {
    void *du, *dy, *dx1, *left, *dqkv;
};
struct pass {
    void *own, *wide, *other, *dc, *dqkv, *bias, *packed, *context;
};

static int64_t widest(const struct sizes *z) {
    int64_t w = z->h > z->all_q ? z->h : z->all_q;
    return w * z->t;
}

static int64_t lay_out_saved(const struct fr_kernels *k, const struct fr_unit *u,
                             const void *base, bool softmax, struct saved *s) {
    const struct sizes z = sizes_of(u);
    int64_t c = z.c, in = z.heads ? z.c : z.t, up = z.mlp ? z.t : z.c, t = z.t;
    struct fr_block_sizes a = attention_of(u);
    const struct fr_block_part all[] = {
        {&s->a, z.h * in},      {&s->mean1, c},    {&s->inverse1, c},
        {&s->qkv, 3 * z.q * t}, {&s->c, z.q * t},  {&s->made, z.qkv * in},
        {&s->x1, z.h * c},      {&s->m, z.h * up}, {&s->mean2, c},
        {&s->inverse2, c},      {&s->u, z.f * up}, {&s->p, fr_block_softmax_size(&a)}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all - !softmax, base);
}

static int64_t lay_out_deferred(const struct fr_kernels *k, const struct fr_unit *u,
                                const void *base, struct deferred *d) {
    const struct sizes z = sizes_of(u);
    int64_t in = z.heads ? z.c : z.t, up = z.mlp ? z.t : z.c;
    const struct fr_block_part all[] = {{&d->du, z.f * up},
                                        {&d->dy, z.h * up},
                                        {&d->dx1, (int64_t)z.h * z.c},
                                        {&d->left, z.h * in},
                                        {&d->dqkv, 3 * z.qkv * in}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all, base);
}

/* What a rank holds of an exchange: all values of all tokens, where slices are gathered whole. */
static int64_t exchanged(const struct fr_unit *u, const struct sizes *z) {
    int64_t all = u->run->plan->gather_all ? (int64_t)z->all_q * z->t : 0, most = widest(z);
    return all > most ? all : most;
}

static int64_t lay_out_pass(const struct fr_kernels *k, const struct fr_unit *u,
                            const void *base, struct pass *r) {
    const struct sizes z = sizes_of(u);
    const struct fr_block_sizes a = attention_of(u);
    int64_t t = z.t;
    const struct fr_block_part all[] = {
        {&r->own, (int64_t)(z.h > 3 * z.all_q ? z.h : 3 * z.all_q) * z.c},
        {&r->wide, widest(&z)},
        {&r->other, widest(&z)},
        {&r->dc, z.q * t},
        {&r->dqkv, 3 * z.q * t},
        {&r->bias, z.f},
        {&r->packed, exchanged(u, &z)},
        {&r->context, fr_context_room_size(&a)}};
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
    struct fr_block_sizes a = attention_of(u);
    return fr_block_softmax_size(&a);
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

/* ---- joints ---------------------------------------------------------------------------------- */

/* The group of ranks that branches split over. */
static struct fr_subgrid group_of(const struct fr_real *real, const struct fr_unit *u,
                                  const struct pass *r) {
    return (struct fr_subgrid){.g = u->tp,
                               .subgrid = u->tp_rank,
                               .group = real->tp,
                               .gather_all = u->run->plan->gather_all,
                               .buffer = {r->packed, NULL}};
}

/* @p values of own tokens to all of the group's, or @p slices of them. */
static fr_status spread(struct fr_real *real, const struct fr_unit *u, const struct pass *r,
                        bool slices, int values, const void *x, void *y, struct fr_error *err) {
    struct fr_subgrid s = group_of(real, u, r);
    return fr_subgrid_spread(real, &s, slices, values, u->columns, x, y, err);
}
static fr_status collect(struct fr_real *real, const struct fr_unit *u, const struct pass *r,
                         bool slices, int values, void *y, void *x, struct fr_error *err) {
    struct fr_subgrid s = group_of(real, u, r);
    return fr_subgrid_collect(real, &s, slices, values, u->columns, y, x, err);
}

/* Of queries, keys and values @p part: own rows of all tokens in branches, all rows of own ones in common. */
static void *third(const struct fr_real *real, const void *qkv, int part, int rows,
                   int tokens) {
    return fr_at(real->k, qkv, (size_t)(part * rows) * (size_t)tokens);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static fr_status attend(struct fr_real *real, const struct fr_unit *u,
                        const struct fr_layer_at *at, struct fr_error *err) {
    const struct saved s = saved_at(real, u, at);
    const struct pass r = pass_at(real, u, at);
    const struct fr_block_sizes a = attention_of(u);
    const struct fr_context_room room = fr_context_room_at(real->k, &a, r.context);
    return fr_context_again(real, &a, &room, s.qkv, s.p, s.c, err);
}

/* What the product of queries, keys and values reads: the own tokens, or all of the group's. */
static fr_status heads_in(struct fr_real *real, const struct fr_unit *u, const struct saved *s,
                          const struct pass *r, const void *x, struct fr_error *err) {
    const struct sizes z = sizes_of(u);
    const struct block w = weights(real, u);
    void *a = z.heads ? s->a : r->own;
    FR_COMPUTE(real, real->k->norm(z.h, z.c, x, w.gain1, w.bias1, s->mean1, s->inverse1, a));
    return z.heads ? FR_OK : spread(real, u, r, false, z.h, a, s->a, err);
}

/* x1 from x. */
static fr_status heads_forward(struct fr_real *real, const struct fr_unit *u,
                               const struct saved *s, const struct pass *r, const void *x,
                               struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    const struct block w = weights(real, u);
    const struct fr_block_sizes a = attention_of(u);
    const struct fr_context_room room = fr_context_room_at(k, &a, r->context);
    int in = z.heads ? z.c : z.t;
    void *made = fr_context_made(&a, &room, s->qkv), *qkv = z.heads ? r->own : made;
    FR_TRY(heads_in(real, u, s, r, x, err));
    fr_block_multiply(real, 3 * z.qkv, in, z.h, w.qkv, s->a, qkv);
    FR_COMPUTE(real, k->bias(3 * z.qkv, in, w.qkv_bias, qkv, qkv));
    for (int part = 0; z.heads && part < 3; part++)
        FR_TRY(spread(real, u, r, true, z.all_q, third(real, qkv, part, z.all_q, z.c),
                      third(real, made, part, z.q, z.t), err));
    FR_TRY(fr_context_forward(real, &a, &room, s->qkv, s->p, s->c, err));
    if (z.heads)
        FR_TRY(collect(real, u, r, true, z.all_q, s->c, s->made, err));
    else
        FR_COMPUTE(real, k->copy(1, z.q * z.t, s->c, 0, s->made, 0));
    fr_block_multiply(real, z.h, in, z.qkv, w.out, s->made, z.heads ? s->x1 : r->wide);
    if (!z.heads) FR_TRY(collect(real, u, r, false, z.h, r->wide, s->x1, err));
    FR_COMPUTE(real, k->bias(z.h, z.c, w.out_bias, s->x1, s->x1));
    FR_COMPUTE(real, k->add((size_t)z.h * (size_t)z.c, x, s->x1));
    return FR_OK;
}

static fr_status forward_layer(struct fr_real *real, const struct fr_unit *u,
                               const struct fr_layer_at *at, const void *x, void *y,
                               struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    const struct block w = weights(real, u);
    const struct saved s = saved_at(real, u, at);
    const struct pass r = pass_at(real, u, at);
    int up = z.mlp ? z.t : z.c;
    void *m = z.mlp ? r.own : s.m;
    FR_TRY(heads_forward(real, u, &s, &r, x, err));
    FR_COMPUTE(real, k->norm(z.h, z.c, s.x1, w.gain2, w.bias2, s.mean2, s.inverse2, m));
    if (z.mlp) FR_TRY(spread(real, u, &r, false, z.h, m, s.m, err));
    fr_block_multiply(real, z.f, up, z.h, w.up, s.m, s.u);
    FR_COMPUTE(real, k->bias_relu(z.f, up, w.up_bias, s.u));
    fr_block_multiply(real, z.h, up, z.f, w.down, s.u, z.mlp ? r.wide : y);
    if (z.mlp) FR_TRY(collect(real, u, &r, false, z.h, r.wide, y, err));
    FR_COMPUTE(real, k->bias(z.h, z.c, w.down_bias, y, y));
    FR_COMPUTE(real, k->add((size_t)z.h * (size_t)z.c, s.x1, y));
    return FR_OK;
}

/* dx1 from dy. */
static fr_status mlp_input(struct fr_real *real, const struct fr_unit *u, const struct saved *s,
                           const struct deferred *d, const struct pass *r, const void *dy,
                           struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    const struct block w = weights(real, u), g = gradients(real, u);
    int up = z.mlp ? z.t : z.c, own = z.h * z.c;
    if (z.mlp)
        FR_TRY(spread(real, u, r, false, z.h, dy, d->dy, err));
    else
        FR_COMPUTE(real, k->copy(1, own, dy, 0, d->dy, 0));
    fr_block_multiply_back(real, z.h, up, z.f, w.down, d->dy, d->du);
    FR_COMPUTE(real, k->relu_backward(z.f, up, s->u, d->du, r->bias));
    FR_COMPUTE(real, k->add((size_t)z.f, r->bias, g.up_bias));
    fr_block_multiply_back(real, z.f, up, z.h, w.up, d->du, z.mlp ? r->wide : r->own);
    if (z.mlp) FR_TRY(collect(real, u, r, false, z.h, r->wide, r->own, err));
    FR_COMPUTE(real, k->norm_backward(z.h, z.c, s->x1, w.gain2, s->mean2, s->inverse2, r->own,
                                      d->dx1, g.gain2, g.bias2));
    FR_COMPUTE(real, k->add((size_t)own, dy, d->dx1));
    return FR_OK;
}

/* d->dqkv from dx1; where heads are branches they send what is theirs, and get it back. */
static fr_status heads_back(struct fr_real *real, const struct fr_unit *u,
                            const struct saved *s, const struct deferred *d,
                            const struct pass *r, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    const struct block w = weights(real, u);
    struct fr_block_sizes a = attention_of(u);
    const struct fr_context_room room = fr_context_room_at(k, &a, r->context);
    void *dqkv = z.heads ? r->dqkv : d->dqkv;
    if (z.heads)
        FR_COMPUTE(real, k->copy(1, z.h * z.c, d->dx1, 0, d->left, 0));
    else
        FR_TRY(spread(real, u, r, false, z.h, d->dx1, d->left, err));
    fr_block_multiply_back(real, z.h, z.heads ? z.c : z.t, z.qkv, w.out, d->left,
                           z.heads ? r->wide : r->dc);
    if (z.heads) FR_TRY(spread(real, u, r, true, z.all_q, r->wide, r->dc, err));
    FR_TRY(fr_context_backward(real, &a, &room, s->qkv, s->p, s->c, r->dc, dqkv, err));
    for (int part = 0; z.heads && part < 3; part++)
        FR_TRY(collect(real, u, r, true, z.all_q, third(real, dqkv, part, z.q, z.t),
                       third(real, d->dqkv, part, z.all_q, z.c), err));
    return FR_OK;
}

static fr_status input_layer(struct fr_real *real, const struct fr_unit *u,
                             const struct fr_layer_at *at, const void *x, const void *dy,
                             void *dx, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    const struct block w = weights(real, u), g = gradients(real, u);
    const struct saved s = saved_at(real, u, at);
    const struct deferred d = deferred_at(real, u, at);
    const struct pass r = pass_at(real, u, at);
    FR_TRY(mlp_input(real, u, &s, &d, &r, dy, err));
    FR_TRY(heads_back(real, u, &s, &d, &r, err));
    fr_block_multiply_back(real, 3 * z.qkv, z.heads ? z.c : z.t, z.h, w.qkv, d.dqkv,
                           z.heads ? r.own : r.wide);
    if (!z.heads) FR_TRY(collect(real, u, &r, false, z.h, r.wide, r.own, err));
    FR_COMPUTE(real, k->norm_backward(z.h, z.c, x, w.gain1, s.mean1, s.inverse1, r.own, dx,
                                      g.gain1, g.bias1));
    FR_COMPUTE(real, k->add((size_t)z.h * (size_t)z.c, d.dx1, dx));
    return FR_OK;
}

static void weight_layer(struct fr_real *real, const struct fr_unit *u,
                         const struct fr_layer_at *at, const void *x, const void *dy) {
    (void)x;
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    const struct block g = gradients(real, u);
    const struct saved s = saved_at(real, u, at);
    const struct deferred d = deferred_at(real, u, at);
    int in = z.heads ? z.c : z.t, up = z.mlp ? z.t : z.c;
    fr_block_add_outer(real, z.h, up, z.f, d.dy, s.u, g.down);
    FR_COMPUTE(real, k->row_sums(z.h, z.c, dy, g.down_bias));
    fr_block_add_outer(real, z.f, up, z.h, d.du, s.m, g.up);
    fr_block_add_outer(real, z.h, in, z.qkv, d.left, s.made, g.out);
    FR_COMPUTE(real, k->row_sums(z.h, z.c, d.dx1, g.out_bias));
    fr_block_add_outer(real, 3 * z.qkv, in, z.h, d.dqkv, s.a, g.qkv);
    FR_COMPUTE(real, k->row_sums(3 * z.qkv, in, d.dqkv, g.qkv_bias));
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

const struct fr_unit_kind fr_unit_branch_block = {
    .name = "branch_block",
    .adds = true,
    .check = check,
    .parameters = parameters,
    .common = common,
    .fill = fill,
    .room = fr_layer_room,
    .keeps = fr_layer_keeps,
    .forward = fr_layer_forward,
    .input = fr_layer_input,
    .weight = fr_layer_weight,
    .matrices = matrices,
    .way = &way,
};
