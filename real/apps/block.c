#include "real/apps/block.h"

#include "real/apps/attention/context.h"

void fr_block_multiply(struct fr_real *real, int m, int t, int n, const void *w, const void *x,
                       void *y) {
    FR_COMPUTE(real, real->k->gemm(false, false, m, t, n, 1, w, n, x, t, 0, y, t));
}

void fr_block_multiply_back(struct fr_real *real, int m, int t, int n, const void *w,
                            const void *dy, void *dx) {
    FR_COMPUTE(real, real->k->gemm(true, false, n, t, m, 1, w, n, dy, t, 0, dx, t));
}

void fr_block_add_outer(struct fr_real *real, int m, int t, int n, const void *dy,
                        const void *x, void *dw) {
    FR_COMPUTE(real, real->k->gemm(false, true, m, n, t, 1, dy, t, x, t, 1, dw, n));
}

/* Partial sums (@p values x T) of all ranks that divide the layer, added up. */
static fr_status add_up(struct fr_real *real, const struct fr_block_sizes *z, int values,
                        void *x, struct fr_error *err) {
    if (z->ranks == 1) return FR_OK;
    return fr_real_all_reduce(real, real->tp, x, (int64_t)values * fr_block_tokens(z), err);
}

/* Rows of all ranks, of which this one's @p values x T are in their place. */
static fr_status gather(struct fr_real *real, const struct fr_block_sizes *z, int values,
                        void *x, struct fr_error *err) {
    if (!z->rows || z->ranks == 1) return FR_OK;
    return fr_real_all_gather(real, real->tp, MPI_IN_PLACE,
                              (int64_t)values * fr_block_tokens(z), x, err);
}

/* Where the rank's @p values rows of what by rows every rank has are. */
static void *own(const struct fr_real *real, const struct fr_block_sizes *z, int values,
                 const void *x) {
    size_t before = z->rows ? (size_t)(z->rank * values) * (size_t)fr_block_tokens(z) : 0;
    return fr_at(real->k, x, before);
}

/* Between columns of rank @p r of h x T, and h x t of it among those of all ranks. */
static void move_tokens(struct fr_real *real, const struct fr_block_sizes *z, int r, bool pack,
                        const void *from, void *to) {
    const struct fr_kernels *k = real->k;
    int h = z->hidden, all = fr_block_tokens(z), n = fr_block_own_tokens(z);
    size_t column = (size_t)(r * n), part = (size_t)h * column;
    if (pack)
        FR_COMPUTE(real, k->copy(h, n, fr_at(k, from, column), all, fr_at(k, to, part), n));
    else
        FR_COMPUTE(real, k->copy(h, n, fr_at(k, from, part), n, fr_at(k, to, column), all));
}

static int64_t own_values(const struct fr_block_sizes *z) {
    return (int64_t)z->hidden * fr_block_own_tokens(z);
}

fr_status fr_block_gather_tokens(struct fr_real *real, const struct fr_block_sizes *z,
                                 const void *part, void *packed, void *whole,
                                 struct fr_error *err) {
    FR_TRY(fr_real_all_gather(real, real->tp, part, own_values(z), packed, err));
    for (int r = 0; r < z->parts; r++) move_tokens(real, z, r, false, packed, whole);
    return FR_OK;
}

fr_status fr_block_gather_begin(struct fr_real *real, const struct fr_block_sizes *z,
                                const void *part, void *packed, MPI_Request *request,
                                struct fr_error *err) {
    return fr_real_all_gather_begin(real, real->tp, part, own_values(z), packed, request, err);
}

fr_status fr_block_gather_end(struct fr_real *real, const struct fr_block_sizes *z,
                              const void *packed, void *whole, MPI_Request *request,
                              struct fr_error *err) {
    FR_TRY(fr_real_wait(real, request, err));
    for (int r = 0; r < z->parts; r++) move_tokens(real, z, r, false, packed, whole);
    return FR_OK;
}

fr_status fr_block_scatter_tokens(struct fr_real *real, const struct fr_block_sizes *z,
                                  const void *whole, void *packed, void *part,
                                  struct fr_error *err) {
    for (int r = 0; r < z->parts; r++) move_tokens(real, z, r, true, whole, packed);
    return fr_real_reduce_scatter(real, real->tp, packed, part, own_values(z), err);
}

/* All tokens of what each rank has a part of, in @p whole; or what it has, where it has all. */
static fr_status join(struct fr_real *real, const struct fr_block_sizes *z,
                      const struct fr_block_room *r, const void *part, void *whole,
                      const void **all, struct fr_error *err) {
    *all = fr_block_parted(z) ? whole : part;
    if (!fr_block_parted(z)) return FR_OK;
    return fr_block_gather_tokens(real, z, part, r->packed, whole, err);
}

/* y := w x of all ranks, with bias and residual; x is @p n values of a rank, or by rows of all. */
static fr_status leave(struct fr_real *real, const struct fr_block_sizes *z,
                       const struct fr_block_room *r, int n, const void *w, const void *bias,
                       const void *x, const void *residual, void *y, struct fr_error *err) {
    int t = fr_block_tokens(z), h = z->hidden, o = fr_block_out(z),
        own_t = fr_block_own_tokens(z);
    bool parted = fr_block_parted(z);
    void *mine = own(real, z, o, parted ? r->whole : y);
    fr_block_multiply(real, o, t, fr_block_in(z, n), w, x, mine);
    if (parted) {
        FR_TRY(fr_block_scatter_tokens(real, z, mine, r->packed, y, err));
        mine = y;
    } else if (!z->rows)
        FR_TRY(add_up(real, z, h, y, err));
    FR_COMPUTE(real, real->k->bias(o, own_t, bias, mine, mine));
    FR_TRY(gather(real, z, o, y, err));
    FR_COMPUTE(real, real->k->add((size_t)h * (size_t)own_t, residual, y));
    return FR_OK;
}

/* dx := gradient of leave's x from dy of all tokens, by rows of all ranks. */
static fr_status leave_back(struct fr_real *real, const struct fr_block_sizes *z, int n,
                            const void *w, const void *dy, void *dx, struct fr_error *err) {
    int in = fr_block_in(z, n), o = fr_block_out(z);
    fr_block_multiply_back(real, o, fr_block_tokens(z), in, w, own(real, z, o, dy), dx);
    return z->rows ? add_up(real, z, in, dx, err) : FR_OK;
}

/* Gradients of leave's weights and bias, from dy of all tokens. */
static void leave_weight(struct fr_real *real, const struct fr_block_sizes *z, int n,
                         const void *dy, const void *x, void *dw, void *dbias) {
    int t = fr_block_tokens(z), o = fr_block_out(z);
    const void *mine = own(real, z, o, dy);
    fr_block_add_outer(real, o, t, fr_block_in(z, n), mine, x, dw);
    FR_COMPUTE(real, real->k->row_sums(o, t, mine, dbias));
}

/* c := heads of queries, keys and values made of @p a. */
static fr_status attend(struct fr_real *real, const struct fr_block_sizes *z,
                        const struct fr_block *w, const struct fr_block_saved *s,
                        const struct fr_block_room *r, const void *a, struct fr_error *err) {
    int t = fr_block_tokens(z), q = z->heads * z->head_dim;
    const struct fr_context_room room = fr_context_room_at(real->k, z, r->context);
    void *qkv = fr_context_made(z, &room, s->qkv);
    fr_block_multiply(real, 3 * q, t, z->hidden, w->qkv, a, qkv);
    FR_COMPUTE(real, real->k->bias(3 * q, t, w->qkv_bias, qkv, qkv));
    return fr_context_forward(real, z, &room, s->qkv, s->p, own(real, z, q, s->c), err);
}

fr_status fr_block_attend(struct fr_real *real, const struct fr_block_sizes *z,
                          const struct fr_block_saved *s, const struct fr_block_room *r,
                          struct fr_error *err) {
    const struct fr_context_room room = fr_context_room_at(real->k, z, r->context);
    void *c = own(real, z, z->heads * z->head_dim, s->c);
    return fr_context_again(real, z, &room, s->qkv, s->p, c, err);
}

/* dqkv := gradient from dc, r->dc. */
static fr_status attend_back(struct fr_real *real, const struct fr_block_sizes *z,
                             const struct fr_block_saved *s, const struct fr_block_room *r,
                             void *dqkv, struct fr_error *err) {
    const struct fr_context_room room = fr_context_room_at(real->k, z, r->context);
    int q = z->heads * z->head_dim;
    return fr_context_backward(real, z, &room, s->qkv, s->p, own(real, z, q, s->c),
                               own(real, z, q, r->dc), dqkv, err);
}

fr_status fr_block_heads_forward(struct fr_real *real, const struct fr_block_sizes *z,
                                 const struct fr_block *w, const struct fr_block_saved *s,
                                 const struct fr_block_room *r, const void *x, void *x1,
                                 struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int n = fr_block_own_tokens(z), h = z->hidden, q = z->heads * z->head_dim;
    const void *a;
    FR_COMPUTE(real,
               k->norm(h, n, x, w->norm1_gain, w->norm1_bias, s->mean1, s->inverse1, s->a));
    FR_TRY(join(real, z, r, s->a, r->whole, &a, err));
    FR_TRY(attend(real, z, w, s, r, a, err));
    FR_TRY(gather(real, z, q, s->c, err));
    return leave(real, z, r, q, w->out, w->out_bias, s->c, x, x1, err);
}

fr_status fr_block_mlp_forward(struct fr_real *real, const struct fr_block_sizes *z,
                               const struct fr_block *w, const struct fr_block_saved *s,
                               const struct fr_block_room *r, void *y, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int t = fr_block_tokens(z), n = fr_block_own_tokens(z), h = z->hidden, f = z->ffn;
    const void *m;
    void *u = own(real, z, f, s->u);
    FR_COMPUTE(real,
               k->norm(h, n, s->x1, w->norm2_gain, w->norm2_bias, s->mean2, s->inverse2, s->m));
    FR_TRY(join(real, z, r, s->m, r->whole, &m, err));
    fr_block_multiply(real, f, t, h, w->up, m, u);
    FR_COMPUTE(real, k->bias_relu(f, t, w->up_bias, u));
    FR_TRY(gather(real, z, f, s->u, err));
    return leave(real, z, r, f, w->down, w->down_bias, s->u, s->x1, y, err);
}

fr_status fr_block_forward(struct fr_real *real, const struct fr_block_sizes *z,
                           const struct fr_block *w, const struct fr_block_saved *s,
                           const struct fr_block_room *r, const void *x, void *y,
                           struct fr_error *err) {
    FR_TRY(fr_block_heads_forward(real, z, w, s, r, x, s->x1, err));
    return fr_block_mlp_forward(real, z, w, s, r, y, err);
}

/* *dx := gradient of what the first product (@p m rows of @p w) read, from dy: the sum over ranks, of this
 * rank's tokens.  What it read, its part at @p read, is gathered once more meanwhile, for the weights' gradient. */
static fr_status enter_back(struct fr_real *real, const struct fr_block_sizes *z,
                            const struct fr_block_room *r, int m, const void *w, const void *dy,
                            const void *read, void *whole, void **dx, struct fr_error *err) {
    int t = fr_block_tokens(z), h = z->hidden;
    MPI_Request gathered = MPI_REQUEST_NULL;
    bool parted = fr_block_parted(z);
    *dx = parted ? r->whole : r->dh;
    if (parted) FR_TRY(fr_block_gather_begin(real, z, read, r->packed, &gathered, err));
    fr_block_multiply_back(real, m, t, h, w, dy, r->dh);
    if (!parted) return add_up(real, z, h, r->dh, err);
    FR_TRY(fr_block_gather_end(real, z, r->packed, whole, &gathered, err));
    return fr_block_scatter_tokens(real, z, r->dh, r->packed, r->whole, err);
}

fr_status fr_block_mlp_input(struct fr_real *real, const struct fr_block_sizes *z,
                             const struct fr_block *w, const struct fr_block *g,
                             const struct fr_block_saved *s, const struct fr_block_deferred *d,
                             const struct fr_block_room *r, const void *dy,
                             struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int t = fr_block_tokens(z), n = fr_block_own_tokens(z), h = z->hidden, f = z->ffn;
    void *du = own(real, z, f, d->du), *dm;
    const void *all_dy;
    FR_TRY(join(real, z, r, dy, d->whole_dy, &all_dy, err));
    FR_TRY(leave_back(real, z, f, w->down, all_dy, d->du, err));
    FR_COMPUTE(real, k->relu_backward(f, t, own(real, z, f, s->u), du, r->bias));
    FR_COMPUTE(real, k->add((size_t)f, r->bias, g->up_bias));
    FR_TRY(enter_back(real, z, r, f, w->up, du, s->m, d->whole_m, &dm, err));
    FR_COMPUTE(real, k->norm_backward(h, n, s->x1, w->norm2_gain, s->mean2, s->inverse2, dm,
                                      d->dx1, g->norm2_gain, g->norm2_bias));
    FR_COMPUTE(real, k->add((size_t)h * (size_t)n, dy, d->dx1));
    return FR_OK;
}

fr_status fr_block_heads_input(struct fr_real *real, const struct fr_block_sizes *z,
                               const struct fr_block *w, const struct fr_block *g,
                               const struct fr_block_saved *s,
                               const struct fr_block_deferred *d, const struct fr_block_room *r,
                               const void *x, const void *dx1, void *dx, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int n = fr_block_own_tokens(z), h = z->hidden, q = z->heads * z->head_dim;
    const void *all_dx1;
    void *da;
    FR_TRY(join(real, z, r, dx1, d->whole_dx1, &all_dx1, err));
    FR_TRY(leave_back(real, z, q, w->out, all_dx1, r->dc, err));
    FR_TRY(attend_back(real, z, s, r, d->dqkv, err));
    FR_TRY(enter_back(real, z, r, 3 * q, w->qkv, d->dqkv, s->a, d->whole_a, &da, err));
    FR_COMPUTE(real, k->norm_backward(h, n, x, w->norm1_gain, s->mean1, s->inverse1, da, dx,
                                      g->norm1_gain, g->norm1_bias));
    FR_COMPUTE(real, k->add((size_t)h * (size_t)n, dx1, dx));
    return FR_OK;
}

fr_status fr_block_input(struct fr_real *real, const struct fr_block_sizes *z,
                         const struct fr_block *w, const struct fr_block *g,
                         const struct fr_block_saved *s, const struct fr_block_deferred *d,
                         const struct fr_block_room *r, const void *x, const void *dy, void *dx,
                         struct fr_error *err) {
    FR_TRY(fr_block_mlp_input(real, z, w, g, s, d, r, dy, err));
    return fr_block_heads_input(real, z, w, g, s, d, r, x, d->dx1, dx, err);
}

void fr_block_weight(struct fr_real *real, const struct fr_block_sizes *z,
                     const struct fr_block *g, const struct fr_block_saved *s,
                     const struct fr_block_deferred *d, const void *dx1, const void *dy) {
    const struct fr_kernels *k = real->k;
    bool parted = fr_block_parted(z);
    int t = fr_block_tokens(z), h = z->hidden, q = z->heads * z->head_dim, f = z->ffn;
    leave_weight(real, z, f, parted ? d->whole_dy : dy, s->u, g->down, g->down_bias);
    fr_block_add_outer(real, f, t, h, own(real, z, f, d->du), parted ? d->whole_m : s->m,
                       g->up);
    leave_weight(real, z, q, parted ? d->whole_dx1 : dx1, s->c, g->out, g->out_bias);
    fr_block_add_outer(real, 3 * q, t, h, d->dqkv, parted ? d->whole_a : s->a, g->qkv);
    FR_COMPUTE(real, k->row_sums(3 * q, t, d->dqkv, g->qkv_bias));
}
