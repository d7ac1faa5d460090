#include "real/apps/app.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static int64_t share_of(int holders, int64_t n) { return (n + holders - 1) / holders; }

struct fr_division fr_division_none(const int holders[FR_HOLDERS], int pieces) {
    struct fr_division d = {.pieces = pieces, .n_parts = pieces * FR_DIVISION_PARTS};
    for (int i = 0; i < FR_HOLDERS; i++) d.holders[i] = holders[i];
    d.part = fr_calloc((size_t)d.n_parts, sizeof *d.part);
    return d;
}

struct fr_division fr_division_of(int replicas, int64_t n) {
    int holders[FR_HOLDERS];
    for (int h = 0; h < FR_HOLDERS; h++) holders[h] = h == FR_HELD_BY_REPLICAS ? replicas : 1;
    struct fr_division d = fr_division_none(holders, 1);
    if (d.part)
        d.part[FR_DIVISION_SCATTERED] =
            (struct fr_division_part){.n_spans = 1, .n = n, .share = share_of(replicas, n)};
    return d;
}

bool fr_division_add(struct fr_division *d, int part, size_t at, int64_t n) {
    if (n <= 0) return true;
    struct fr_division_part *p = &d->part[part];
    struct fr_division_span *more =
        fr_realloc(p->span, (size_t)p->n_spans + 1, sizeof *p->span);
    if (!more) return false;
    p->span = more;
    p->span[p->n_spans++] = (struct fr_division_span){at, n, p->n};
    p->n += n;
    p->share = share_of(fr_division_holders(d, part), p->n);
    return true;
}

void fr_division_free(struct fr_division *d) {
    for (int i = 0; d->part && i < d->n_parts; i++) free(d->part[i].span);
    free(d->part);
    *d = (struct fr_division){0};
}

int64_t fr_division_before(const struct fr_division *d, int part) {
    int64_t sum = 0;
    for (int i = 0; i < part; i++) sum += d->part[i].share;
    return sum;
}

int64_t fr_division_share(const struct fr_division *d) {
    return fr_division_before(d, d->n_parts);
}

int64_t fr_division_piece(const struct fr_division *d, int part, int own, int i, size_t *at,
                          size_t *to) {
    const struct fr_division_part *p = &d->part[part];
    const struct fr_division_span all =
        p->span ? p->span[i] : (struct fr_division_span){0, p->n, 0};
    int64_t first = own * p->share, end = first + p->share, stop = all.before + all.n,
            from = first > all.before ? first : all.before;
    if (end < stop) stop = end;
    *at = all.at + (size_t)(from - all.before);
    *to = (size_t)(from - first);
    return stop > from ? stop - from : 0;
}

void fr_division_copy(const struct fr_kernels *k, const struct fr_division *d, int part,
                      int own, bool into_block, void *block, void *packed) {
    for (int i = 0; i < d->part[part].n_spans; i++) {
        size_t at, to;
        int64_t n = fr_division_piece(d, part, own, i, &at, &to);
        void *inside = fr_at(k, block, at), *outside = fr_at(k, packed, to);
        if (n > 0)
            memcpy(into_block ? inside : outside, into_block ? outside : inside,
                   (size_t)n * k->size_B);
    }
}

/* ---- on their way ------------------------------------------------------------------------------ */

MPI_Comm fr_shares_comm(const struct fr_real *real, int holder) { return real->held[holder]; }

MPI_Comm fr_shares_dividing(const struct fr_real *real, int holder) {
    MPI_Comm some = real->dividing[holder];
    return some == MPI_COMM_NULL ? fr_shares_comm(real, holder) : some;
}

int fr_shares_own(const struct fr_real *real, int holder) {
    int holders = real->division.holders[holder];
    if (holders <= 1) return 0;
    return real->held_rank[holder] % holders;
}

int64_t fr_shares_owned(const struct fr_division *d, int piece, int holder) {
    int64_t sum = 0;
    for (int way = 0; way < FR_DIVISION_WAYS; way++)
        sum += d->part[fr_division_part_of(piece, holder, way)].share;
    return sum;
}

static int64_t owned_of_all(const struct fr_division *d, int holder) {
    int64_t sum = 0;
    for (int piece = 0; piece < d->pieces; piece++) sum += fr_shares_owned(d, piece, holder);
    return sum;
}

int64_t fr_shares_scratch(const struct fr_division *d) {
    int64_t most = 0;
    for (int h = 0; h < FR_HOLDERS && !fr_division_plain(d); h++) {
        int64_t all = d->holders[h] > 1 ? owned_of_all(d, h) * d->holders[h] : 0;
        most = all > most ? all : most;
    }
    return most;
}

/* The share of place @p own of a piece between the block and @p packed.  @return values of it */
static int64_t move_piece(struct fr_real *real, int piece, int holder, int own, bool into_block,
                          void *packed) {
    const struct fr_division *d = &real->division;
    int64_t at = 0;
    for (int way = 0; way < FR_DIVISION_WAYS; way++) {
        int part = fr_division_part_of(piece, holder, way);
        FR_COMPUTE(real, fr_division_copy(real->k, d, part, own, into_block, real->parameters,
                                          fr_at(real->k, packed, (size_t)at)));
        at += d->part[part].share;
    }
    return at;
}

/* The share of place @p own of all pieces, between the block and where all shares lie packed. */
static void move_all(struct fr_real *real, int holder, int own, bool into_block) {
    const struct fr_division *d = &real->division;
    int64_t at = own * owned_of_all(d, holder);
    for (int piece = 0; piece < d->pieces; piece++)
        at += move_piece(real, piece, holder, own, into_block,
                         fr_at(real->k, real->packed, (size_t)at));
}

static fr_status gather(struct fr_real *real, int holder) {
    const struct fr_division *d = &real->division;
    int own = fr_shares_own(real, holder);
    bool plain = fr_division_plain(d);
    if (!plain) move_all(real, holder, own, false);
    FR_TRY(fr_real_all_gather(real, fr_shares_dividing(real, holder), MPI_IN_PLACE,
                              owned_of_all(d, holder),
                              plain ? real->parameters : real->packed));
    for (int i = 0; !plain && i < d->holders[holder]; i++)
        if (i != own) move_all(real, holder, i, true);
    return FR_OK;
}

fr_status fr_shares_gather(struct fr_real *real) {
    for (int h = 0; h < FR_HOLDERS; h++)
        if (real->division.holders[h] > 1 && owned_of_all(&real->division, h) > 0)
            FR_TRY(gather(real, h));
    return FR_OK;
}

/* A piece's gradients that are scattered, each share @p apart from the one before. */
static void pack_gradients(struct fr_real *real, int piece, int holder, int64_t apart,
                           void *packed) {
    const struct fr_division *d = &real->division;
    int part = fr_division_part_of(piece, holder, FR_DIVISION_SCATTERED);
    for (int i = 0; i < d->holders[holder]; i++)
        FR_COMPUTE(real, fr_division_copy(real->k, d, part, i, false, real->gradients,
                                          fr_at(real->k, packed, (size_t)(i * apart))));
}

fr_status fr_shares_scatter(struct fr_real *real, int piece, int holder, void *own) {
    const struct fr_division *d = &real->division;
    int64_t share = fr_division_scattered(d, piece, holder);
    bool plain = fr_division_plain(d);
    if (!plain) pack_gradients(real, piece, holder, share, real->packed);
    FR_TRY(fr_real_reduce_scatter(real, fr_shares_dividing(real, holder),
                                  plain ? real->gradients : real->packed, own, share));
    if (real->across[holder] == MPI_COMM_NULL) return FR_OK;
    return fr_real_all_reduce(real, real->across[holder], own, share);
}

void fr_shares_put(struct fr_real *real, int piece, int holder, void *own) {
    int part = fr_division_part_of(piece, holder, FR_DIVISION_SCATTERED);
    FR_COMPUTE(real, fr_division_copy(real->k, &real->division, part,
                                      fr_shares_own(real, holder), true, real->gradients, own));
}

/* ---- beside what is computed ------------------------------------------------------------------- */

fr_status fr_shares_gather_begin(struct fr_real *real, struct fr_shares_flight *f) {
    int64_t n = fr_shares_owned(&real->division, f->piece, f->holder);
    int own = fr_shares_own(real, f->holder);
    move_piece(real, f->piece, f->holder, own, false,
               fr_at(real->k, f->packed, (size_t)(own * n)));
    return fr_real_all_gather_begin(real, fr_shares_dividing(real, f->holder), MPI_IN_PLACE, n,
                                    f->packed, &f->request);
}

fr_status fr_shares_gather_end(struct fr_real *real, struct fr_shares_flight *f) {
    int64_t n = fr_shares_owned(&real->division, f->piece, f->holder);
    FR_TRY(fr_real_wait(real, &f->request));
    for (int i = 0; i < real->division.holders[f->holder]; i++)
        if (i != fr_shares_own(real, f->holder))
            move_piece(real, f->piece, f->holder, i, true,
                       fr_at(real->k, f->packed, (size_t)(i * n)));
    return FR_OK;
}

int64_t fr_shares_scattered(const struct fr_division *d, const struct fr_shares_flight *f) {
    int64_t sum = 0;
    for (int i = 0; i < f->n_pieces; i++)
        sum += fr_division_scattered(d, f->piece + i, f->holder);
    return sum;
}

fr_status fr_shares_scatter_begin(struct fr_real *real, struct fr_shares_flight *f) {
    const struct fr_division *d = &real->division;
    int64_t all = fr_shares_scattered(d, f), at = 0;
    for (int i = 0; i < f->n_pieces; i++) {
        pack_gradients(real, f->piece + i, f->holder, all,
                       fr_at(real->k, f->packed, (size_t)at));
        at += fr_division_scattered(d, f->piece + i, f->holder);
    }
    return fr_real_scatter_sum_begin(real, fr_shares_dividing(real, f->holder), f->packed, all,
                                     f->own, &f->request);
}

fr_status fr_shares_scatter_end(struct fr_real *real, struct fr_shares_flight *f) {
    return fr_real_scatter_sum_end(real, fr_shares_dividing(real, f->holder),
                                   fr_shares_scattered(&real->division, f), f->own,
                                   &f->request);
}

fr_status fr_shares_across_begin(struct fr_real *real, struct fr_shares_flight *f) {
    return fr_real_all_reduce_begin(real, real->across[f->holder], f->own,
                                    fr_shares_scattered(&real->division, f), &f->request);
}
