/* Passes of a sublayer (layer.h): what stands before W1, between the products and behind W2. */
#include "real/apps/mesh/layer.h"
#include "real/apps/mesh/pieces.h"
#include "real/apps/subgrid.h"

#include <stdlib.h>

static bool attends(const struct fr_sublayer *s) { return s->kind != FR_SUBLAYER_MLP; }

/* Where the rank's @p values rows of what every rank has by rows are. */
static void *own(const struct fr_sublayer_pass *p, int values, const void *x) {
    bool rows = fr_sublayer_by_rows(&p->s);
    return fr_at(p->real->k, x, rows ? (size_t)(p->s.rank * values) * (size_t)p->s.t : 0);
}

/* A gradient of rows that the rank made, of which it has no other rows where tokens are in parts. */
static void *own_rows(const struct fr_sublayer_pass *p, const void *x) {
    return p->s.flow == FR_FLOW_ROW_TOKENS ? fr_at(p->real->k, x, 0) : own(p, p->s.rows, x);
}

static struct fr_token_parts parts_of(const struct fr_sublayer_pass *p) {
    const struct fr_sublayer *s = &p->s;
    return (struct fr_token_parts){s->group, s->h, s->t, s->ranks, s->rank};
}

/* Partial sums (@p values x T) of all ranks that divide the layer, added up. */
static fr_status add_up(const struct fr_sublayer_pass *p, int values, void *x) {
    if (p->s.ranks == 1 || p->s.flow == FR_FLOW_ALONE) return FR_OK;
    return fr_real_all_reduce(p->real, p->s.group, x, (int64_t)values * p->s.t);
}

/* Rows of all ranks, of which this one's @p values x T are in their place. */
static fr_status gather(const struct fr_sublayer_pass *p, int values, void *x) {
    if (!fr_sublayer_by_rows(&p->s) || p->s.ranks == 1) return FR_OK;
    return fr_real_all_gather(p->real, p->s.group, MPI_IN_PLACE, (int64_t)values * p->s.t, x);
}

/* The group of ranks that branches split over; @p values of own tokens to all of its, or @p slices of them; and back. */
static struct fr_subgrid group_of(const struct fr_sublayer_pass *p) {
    return (struct fr_subgrid){.g = p->s.ranks,
                               .subgrid = p->s.rank,
                               .group = p->s.group,
                               .c_sub = p->u->run->plan->common_subgrid,
                               .gather_all = p->u->run->plan->gather_all,
                               .buffer = p->scratch.packed};
}
/* Tokens that the collective states: a rank's own, or with cSub all of the group's. */
static int shared_tokens(const struct fr_sublayer_pass *p) {
    return p->u->run->plan->common_subgrid ? p->u->group_columns : p->s.n;
}
static fr_status spread(const struct fr_sublayer_pass *p, bool slices, int values,
                        const void *x, void *y) {
    const struct fr_subgrid group = group_of(p);
    return fr_subgrid_spread(p->real, &group, slices, values, shared_tokens(p), x, y);
}
static fr_status collect(const struct fr_sublayer_pass *p, bool slices, int values, void *y,
                         void *x) {
    const struct fr_subgrid group = group_of(p);
    return fr_subgrid_collect(p->real, &group, slices, values, shared_tokens(p), y, x);
}

/* Third @p part of queries, keys and values: @p values of each, of @p tokens. */
static void *third(const struct fr_sublayer_pass *p, const void *qkv, int part, int values,
                   int tokens) {
    return fr_at(p->real->k, qkv, (size_t)(part * values) * (size_t)tokens);
}

/* ---- products in pieces beside the exchanges of tokens in parts ---------------------------------- */

static bool in_pieces(const struct fr_sublayer_pass *p) {
    return p->s.flow == FR_FLOW_TOKENS && p->u->run->plan->overlap_tp;
}

/* y (@p rows x T) := the first of W1's rows times what it reads: all tokens, or in pieces the rank's own. */
static fr_status multiply_first(const struct fr_sublayer_pass *p, int rows, const void *in,
                                void *y) {
    const struct fr_sublayer *s = &p->s;
    const struct fr_piece_product product = {p->w.first, rows, s->h, false};
    const struct fr_token_parts parts = parts_of(p);
    if (in_pieces(p))
        return fr_pieces_gather(p->real, &parts, &product, in, p->scratch.packed, NULL, y);
    fr_multiply(p->real, rows, s->t, s->h, p->w.first, in, 0, y);
    return FR_OK;
}

/* The sum over ranks of a product of x, of own tokens; between its beginning and its end, @p again, gathered. */
static fr_status scatter_pieces(const struct fr_sublayer_pass *p,
                                const struct fr_piece_product *product, const void *x,
                                void *again, MPI_Request *gathered, void *sum) {
    const struct fr_sublayer *s = &p->s;
    struct fr_pieces sent = {0};
    void *packed = p->scratch.packed;
    const struct fr_token_parts parts = parts_of(p);
    fr_status status =
        fr_pieces_scatter_begin(p->real, &parts, product, x, p->scratch.whole, sum, &sent);
    if (status == FR_OK && again)
        status = fr_parts_gather_end(p->real, &parts, packed, again, gathered);
    if (status != FR_OK) {
        free(sent.request);
        return status;
    }
    return fr_pieces_scatter_end(p->real, &parts, (int64_t)s->h * s->n, packed, sum, &sent);
}

/* ---- attention ----------------------------------------------------------------------------------- */

static struct fr_context_scratch context_of(const struct fr_sublayer_pass *p) {
    return fr_context_scratch_at(p->real->k, &p->s.z, p->scratch.context);
}

/* Where what the rank's heads made is. */
static void *heads_at(const struct fr_sublayer_pass *p) {
    return p->s.slices ? p->saved.heads : own(p, p->s.wide, p->saved.made);
}

fr_status fr_sublayer_attend(const struct fr_sublayer_pass *p) {
    const struct fr_context_scratch scratch = context_of(p);
    if (!attends(&p->s)) return FR_OK;
    return fr_context_again(p->real, &p->s.z, &scratch, p->saved.first, p->saved.p,
                            heads_at(p));
}

/* Slices of all thirds: of own tokens all heads (@p own), of all tokens those of the rank (@p heads). */
static fr_status slice(const struct fr_sublayer_pass *p, bool back, void *own, void *heads) {
    int q = p->s.z.heads * p->s.z.head_dim, all = p->s.all, t = fr_block_tokens(&p->s.z);
    for (int part = 0; part < 3; part++) {
        void *here = third(p, own, part, all, p->s.n), *there = third(p, heads, part, q, t);
        FR_TRY(back ? collect(p, true, all, there, here) : spread(p, true, all, here, there));
    }
    return FR_OK;
}

static fr_status attend(const struct fr_sublayer_pass *p, const void *in) {
    struct fr_real *real = p->real;
    const struct fr_sublayer *s = &p->s;
    const struct fr_context_scratch scratch = context_of(p);
    bool crosses = s->kind == FR_SUBLAYER_CROSSING;
    void *made = fr_context_made(&s->z, &scratch, p->saved.first),
         *qkv = s->slices ? p->scratch.first : made;
    if (s->ghost_neurons)
        FR_TRY(fr_ghost_neurons_forward(real, &s->up, p->w.first, in, p->scratch.local,
                                        p->saved.ghost_neurons[0], qkv));
    else
        FR_TRY(multiply_first(p, (crosses ? 1 : 3) * s->wide, in, qkv));
    if (crosses)
        fr_multiply(real, 2 * s->wide, s->t, s->h, third(p, p->w.first, 1, s->wide, s->h), p->e,
                    0, third(p, qkv, 1, s->wide, s->t));
    FR_COMPUTE(real, real->k->bias(3 * s->wide, s->t, p->w.first_bias, qkv, qkv));
    if (s->slices) FR_TRY(slice(p, false, qkv, made));
    FR_TRY(fr_context_forward(real, &s->z, &scratch, p->saved.first, p->saved.p, heads_at(p)));
    return s->slices ? collect(p, true, s->all, p->saved.heads, p->saved.made) : FR_OK;
}

/* p->deferred.first := gradient from that of what W2 read. */
static fr_status attend_back(const struct fr_sublayer_pass *p) {
    const struct fr_sublayer *s = &p->s;
    const struct fr_context_scratch scratch = context_of(p);
    void *dc = s->slices ? p->scratch.heads : own(p, s->wide, p->scratch.mid),
         *dqkv = s->slices ? p->scratch.first : p->deferred.first;
    if (s->slices) FR_TRY(spread(p, true, s->all, p->scratch.mid, dc));
    FR_TRY(fr_context_backward(p->real, &s->z, &scratch, p->saved.first, p->saved.p,
                               heads_at(p), dc, dqkv));
    return s->slices ? slice(p, true, p->deferred.first, dqkv) : FR_OK;
}

/* ---- forward ------------------------------------------------------------------------------------- */

/* The norm before phantom products: its sums over a token's values are added up over ranks. */
static fr_status norm_of_parts(const struct fr_sublayer_pass *p, const void *x) {
    struct fr_real *real = p->real;
    const struct fr_sublayer *s = &p->s;
    FR_COMPUTE(real, real->k->norm_sums(s->o, s->t, x, p->scratch.sums));
    FR_TRY(fr_real_all_reduce(real, s->group, p->scratch.sums, 2 * s->t));
    FR_COMPUTE(real,
               real->k->norm_part(s->o, s->h, s->t, x, p->w.gain, p->w.bias, p->scratch.sums,
                                  p->saved.mean, p->saved.inverse, p->saved.a));
    return FR_OK;
}

static void norm(const struct fr_sublayer_pass *p, const void *x, void *normed) {
    const struct fr_sublayer *s = &p->s;
    FR_COMPUTE(p->real, p->real->k->norm(s->h, s->n, x, p->w.gain, p->w.bias, p->saved.mean,
                                         p->saved.inverse, normed));
}

void fr_sublayer_norm(const struct fr_sublayer_pass *p, const void *x) {
    norm(p, x, p->saved.a);
}

/* *in := what W1 reads, the normed of all tokens that are multiplied. */
static fr_status enter(const struct fr_sublayer_pass *p, const void *x, const void **in) {
    struct fr_real *real = p->real;
    const struct fr_sublayer *s = &p->s;
    bool samples = s->flow == FR_FLOW_SAMPLES, tokens = fr_sublayer_parted(s);
    const struct fr_token_parts parts = parts_of(p);
    void *normed = samples ? p->scratch.other : p->saved.a;
    *in = tokens && !in_pieces(p) ? p->scratch.whole : p->saved.a;
    if (s->ghost_neurons) return norm_of_parts(p, x);
    if (s->flow == FR_FLOW_VALUES) {
        FR_TRY(fr_real_all_gather(real, s->group, x, (int64_t)s->o * s->t, p->saved.all));
        x = p->saved.all;
    }
    norm(p, x, normed);
    if (samples) return spread(p, false, s->h, normed, p->saved.a);
    if (!tokens || in_pieces(p)) return FR_OK;
    return fr_parts_gather(real, &parts, normed, p->scratch.packed, p->scratch.whole);
}

static fr_status widen(const struct fr_sublayer_pass *p, const void *in) {
    const struct fr_sublayer *s = &p->s;
    void *u = own(p, s->wide, p->saved.made);
    if (s->ghost_neurons)
        FR_TRY(fr_ghost_neurons_forward(p->real, &s->up, p->w.first, in, p->scratch.local,
                                        p->saved.ghost_neurons[0], u));
    else
        FR_TRY(multiply_first(p, s->wide, in, u));
    FR_COMPUTE(p->real, p->real->k->bias_relu(s->wide, s->t, p->w.first_bias, u));
    return FR_OK;
}

/* W2 of what is between, its parts joined. */
static fr_status leave(const struct fr_sublayer_pass *p, void *y) {
    struct fr_real *real = p->real;
    const struct fr_sublayer *s = &p->s;
    bool apart =
        fr_sublayer_parted(s) || s->flow == FR_FLOW_VALUES || s->flow == FR_FLOW_SAMPLES;
    const struct fr_token_parts parts = parts_of(p);
    void *sums = apart ? p->scratch.whole : own(p, s->rows, y);
    if (s->ghost_neurons)
        return fr_ghost_neurons_forward(real, &s->down, p->w.second, p->saved.made,
                                        p->scratch.local, p->saved.ghost_neurons[1], y);
    const struct fr_piece_product product = {p->w.second, s->rows, s->in, false};
    if (in_pieces(p)) return scatter_pieces(p, &product, p->saved.made, NULL, NULL, y);
    fr_multiply(real, s->rows, s->t, s->in, p->w.second, p->saved.made, 0, sums);
    switch (s->flow) {
    case FR_FLOW_WHOLE:
        return add_up(p, s->h, y);
    case FR_FLOW_TOKENS:
        return fr_parts_scatter(real, &parts, sums, p->scratch.packed, y);
    case FR_FLOW_ROW_TOKENS: /* with the bias of all tokens, of which it has its rows */
        FR_COMPUTE(real, real->k->bias(s->o, s->t, p->w.second_bias, sums, sums));
        return fr_parts_from_rows(real, &parts, sums, p->scratch.packed, y);
    case FR_FLOW_VALUES:
        return fr_real_reduce_scatter(real, s->group, sums, y, (int64_t)s->o * s->t);
    case FR_FLOW_SAMPLES:
        return collect(p, false, s->h, sums, y);
    default:
        return FR_OK;
    }
}

fr_status fr_sublayer_forward(const struct fr_sublayer_pass *p, const void *x, void *y) {
    const struct fr_kernels *k = p->real->k;
    const struct fr_sublayer *s = &p->s;
    int values = s->flow == FR_FLOW_VALUES ? s->o : s->h;
    const void *in;
    FR_TRY(enter(p, x, &in));
    FR_TRY(attends(s) ? attend(p, in) : widen(p, in));
    FR_TRY(gather(p, s->wide, p->saved.made));
    FR_TRY(leave(p, y));
    if (s->flow != FR_FLOW_ROW_TOKENS) {
        void *local = own(p, s->o, y);
        FR_COMPUTE(p->real, k->bias(s->o, s->n, p->w.second_bias, local, local));
        FR_TRY(gather(p, s->o, y));
    }
    FR_COMPUTE(p->real, k->add((size_t)values * (size_t)s->n, x, y));
    return FR_OK;
}

/* ---- backward ------------------------------------------------------------------------------------ */

/* The gradient of what came out, of all that W2 made. */
static const void *left_of(const struct fr_sublayer_pass *p, const void *dy) {
    const struct fr_sublayer *s = &p->s;
    bool here = s->ghost_neurons || s->flow == FR_FLOW_WHOLE || s->flow == FR_FLOW_ROWS ||
                s->flow == FR_FLOW_ALONE;
    return here ? dy : p->deferred.left;
}

/* @p dmade := gradient of what W2 read. */
static fr_status leave_back(const struct fr_sublayer_pass *p, const void *dy, void *dmade) {
    struct fr_real *real = p->real;
    const struct fr_sublayer *s = &p->s;
    void *left = p->deferred.left;
    if (s->ghost_neurons)
        return fr_ghost_neurons_input(real, &s->down, p->w.second, dy, p->scratch.all,
                                      p->deferred.ghost_neurons[1], dmade);
    const struct fr_piece_product product = {p->w.second, s->in, s->rows, true};
    const struct fr_token_parts parts = parts_of(p);
    if (in_pieces(p))
        return fr_pieces_gather(real, &parts, &product, dy, p->scratch.packed, left, dmade);
    if (s->flow == FR_FLOW_TOKENS)
        FR_TRY(fr_parts_gather(real, &parts, dy, p->scratch.packed, left));
    if (s->flow == FR_FLOW_ROW_TOKENS)
        FR_TRY(fr_parts_to_rows(real, &parts, dy, p->scratch.packed, left));
    if (s->flow == FR_FLOW_VALUES)
        FR_TRY(fr_real_all_gather(real, s->group, dy, (int64_t)s->o * s->t, left));
    if (s->flow == FR_FLOW_SAMPLES) FR_TRY(spread(p, false, s->h, dy, left));
    fr_multiply_back(real, s->rows, s->t, s->in, p->w.second, own_rows(p, left_of(p, dy)), 0,
                     dmade);
    return fr_sublayer_by_rows(s) ? add_up(p, s->in, dmade) : FR_OK;
}

static void relu_back(const struct fr_sublayer_pass *p) {
    const struct fr_kernels *k = p->real->k;
    const struct fr_sublayer *s = &p->s;
    FR_COMPUTE(p->real, k->relu_backward(s->wide, s->t, own(p, s->wide, p->saved.made),
                                         own(p, s->wide, p->deferred.first), p->scratch.bias));
    FR_COMPUTE(p->real, k->add((size_t)s->wide, p->scratch.bias, p->g.first_bias));
}

/* Gradients of e from those of keys and values. */
static fr_status encoded_back(const struct fr_sublayer_pass *p) {
    const struct fr_sublayer *s = &p->s;
    void *de = p->scratch.whole;
    fr_multiply_back(p->real, 2 * s->wide, s->t, s->h, third(p, p->w.first, 1, s->wide, s->h),
                     third(p, p->deferred.first, 1, s->wide, s->t), 0, de);
    FR_TRY(add_up(p, s->h, de));
    FR_COMPUTE(p->real, p->real->k->add((size_t)s->h * (size_t)s->t, de, p->de));
    return FR_OK;
}

/* *dn := gradient of the normed: the sum over ranks, of own tokens; of values the rank's part
 * of it.  Other ranks' tokens that W1 read are gathered once more meanwhile, for the weights'
 * gradient. */
static fr_status enter_back(const struct fr_sublayer_pass *p, void **dn) {
    struct fr_real *real = p->real;
    const struct fr_sublayer *s = &p->s;
    MPI_Request gathered = MPI_REQUEST_NULL;
    bool crosses = s->kind == FR_SUBLAYER_CROSSING, tokens = fr_sublayer_parted(s);
    const struct fr_token_parts parts = parts_of(p);
    void *whole = p->scratch.whole, *packed = p->scratch.packed;
    const void *d = own(p, s->wide, p->deferred.first);
    *dn = tokens || s->flow == FR_FLOW_SAMPLES ? p->scratch.other : whole;
    if (crosses) FR_TRY(encoded_back(p));
    if (tokens) FR_TRY(fr_parts_gather_begin(real, &parts, p->saved.a, packed, &gathered));
    if (attends(s)) d = p->deferred.first;
    const struct fr_piece_product product = {p->w.first, s->h, s->thirds * s->wide, true};
    if (in_pieces(p)) return scatter_pieces(p, &product, d, p->deferred.a, &gathered, *dn);
    fr_multiply_back(real, (crosses ? 1 : s->thirds) * s->wide, s->t, s->h, p->w.first, d, 0,
                     whole);
    if (s->flow == FR_FLOW_SAMPLES) return collect(p, false, s->h, whole, *dn);
    if (s->flow == FR_FLOW_VALUES) return FR_OK;
    if (!tokens) return add_up(p, s->h, whole);
    FR_TRY(fr_parts_gather_end(real, &parts, packed, p->deferred.a, &gathered));
    return fr_parts_scatter(real, &parts, whole, packed, *dn);
}

static fr_status ghost_neurons_back(const struct fr_sublayer_pass *p, const void *x, void *dx) {
    struct fr_real *real = p->real;
    const struct fr_sublayer *s = &p->s;
    void *dn = p->scratch.whole;
    FR_TRY(fr_ghost_neurons_input(real, &s->up, p->w.first, p->deferred.first, p->scratch.all,
                                  p->deferred.ghost_neurons[0], dn));
    FR_COMPUTE(real, real->k->norm_sums_backward(s->o, s->t, x, p->w.gain, p->saved.mean,
                                                 p->saved.inverse, dn, p->scratch.sums,
                                                 p->g.gain, p->g.bias));
    FR_TRY(fr_real_all_reduce(real, s->group, p->scratch.sums, 2 * s->t));
    FR_COMPUTE(real, real->k->norm_part_backward(s->o, s->h, s->t, x, p->w.gain, p->saved.mean,
                                                 p->saved.inverse, dn, p->scratch.sums, dx));
    return FR_OK;
}

/* dx := through the norm, without the residual. */
static fr_status norm_back(const struct fr_sublayer_pass *p, const void *x, void *dx) {
    struct fr_real *real = p->real;
    const struct fr_sublayer *s = &p->s;
    bool values = s->flow == FR_FLOW_VALUES;
    void *dn, *sums = values ? p->scratch.other : dx;
    FR_TRY(enter_back(p, &dn));
    FR_COMPUTE(real, real->k->norm_backward(s->h, s->n, values ? p->saved.all : x, p->w.gain,
                                            p->saved.mean, p->saved.inverse, dn, sums,
                                            p->g.gain, p->g.bias));
    if (!values) return FR_OK;
    return fr_real_reduce_scatter(real, s->group, sums, dx, (int64_t)s->o * s->t);
}

fr_status fr_sublayer_input(const struct fr_sublayer_pass *p, const void *x, const void *dy,
                            void *dx) {
    const struct fr_sublayer *s = &p->s;
    size_t values = (size_t)(s->flow == FR_FLOW_VALUES ? s->o : s->h) * (size_t)s->n;
    FR_TRY(leave_back(p, dy, attends(s) ? p->scratch.mid : p->deferred.first));
    if (attends(s))
        FR_TRY(attend_back(p));
    else
        relu_back(p);
    FR_TRY(s->ghost_neurons ? ghost_neurons_back(p, x, dx) : norm_back(p, x, dx));
    FR_COMPUTE(p->real, p->real->k->add(values, dy, dx));
    return FR_OK;
}

/* W2's, and its bias': of own tokens where all ranks of a stage add it up, or where a rank has some values alone. */
static void weight_second(const struct fr_sublayer_pass *p, const void *dy) {
    struct fr_real *real = p->real;
    const struct fr_sublayer *s = &p->s;
    const void *left = own_rows(p, left_of(p, dy));
    bool here = s->flow == FR_FLOW_SAMPLES || s->flow == FR_FLOW_VALUES;
    if (s->ghost_neurons)
        fr_ghost_neurons_weight(real, &s->down, true, p->saved.made, dy,
                                p->saved.ghost_neurons[1], p->deferred.ghost_neurons[1],
                                p->g.second);
    else
        fr_add_outer(real, s->rows, s->t, s->in, left, p->saved.made, 1, p->g.second);
    FR_COMPUTE(real,
               real->k->row_sums(s->o, here ? s->n : s->t, here ? dy : left, p->g.second_bias));
}

void fr_sublayer_weight(const struct fr_sublayer_pass *p, const void *dy) {
    struct fr_real *real = p->real;
    const struct fr_sublayer *s = &p->s;
    bool crosses = s->kind == FR_SUBLAYER_CROSSING;
    const void *read = fr_sublayer_parted(s) ? p->deferred.a : p->saved.a,
               *d = attends(s) ? p->deferred.first : own(p, s->wide, p->deferred.first);
    weight_second(p, dy);
    if (s->ghost_neurons)
        fr_ghost_neurons_weight(real, &s->up, true, read, d, p->saved.ghost_neurons[0],
                                p->deferred.ghost_neurons[0], p->g.first);
    else
        fr_add_outer(real, (crosses ? 1 : s->thirds) * s->wide, s->t, s->h, d, read, 1,
                     p->g.first);
    if (crosses)
        fr_add_outer(real, 2 * s->wide, s->t, s->h, third(p, d, 1, s->wide, s->t), p->e, 1,
                     third(p, p->g.first, 1, s->wide, s->h));
    if (attends(s)) FR_COMPUTE(real, real->k->row_sums(3 * s->wide, s->t, d, p->g.first_bias));
}
