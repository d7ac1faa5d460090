/** @file
 *  Which values of a block of parameters each of those who hold them updates (zero).
 *
 *  Replicas hold a block alike; of sub-grids what is common is held by all ranks of a stage, a branch by its
 *  replicas.  Products on a grid of their own (`layer_tp`) are held by the columns of that grid.  Gradients reach
 *  their holders in parts, each by a collective of its own: one is scattered, what
 *  an all-reduce or a gather of codes made is whole on all.  A part is divided equally by itself, so that its
 *  collective moves equal shares; a holder's share is that of each part, one after the other, the last
 *  ones' beyond the part's end.
 *
 *  With `pieces` above one (zero 2 and 3, and zero 1 with overlap) each unit's parameters are divided by themselves, and
 *  a tied table's.  Passes gather and scatter them piece by piece.
 *
 *      D holders, part of n values:  share ceil(n / D), values [d share, (d + 1) share) of the part's
 *
 *  Where groups of D neighbours divide (`zero_ranks`), a scatter ends with an all-reduce of the share over groups. */
#ifndef FR_REAL_APPS_DIVISION_H
#define FR_REAL_APPS_DIVISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "calibrate/measure/harness/kernels.h"
#include "models/plan/copies.h"

/** Values from @p at of the block on, @p before of the part's being in earlier spans. */
struct fr_division_span {
    size_t at;
    int64_t n, before;
};
struct fr_division_part {
    struct fr_division_span *span; /**< NULL: one, from 0 on */
    int n_spans;
    int64_t n, share;
};
/** Who holds something alike: replicas, or all ranks of a stage.  A transformer's attention, its MLP, and its embedding and
 *  logits may have a grid of their own (`layer_tp`); then the copies of that group do, in the order of FR_GRID_... */
enum {
    FR_HELD_BY_REPLICAS,
    FR_HELD_BY_STAGE,
    FR_HELD_BY_GRIDS,
    FR_HOLDERS = FR_HELD_BY_GRIDS + FR_GRIDS
};
enum { FR_DIVISION_SCATTERED, FR_DIVISION_WHOLE, FR_DIVISION_WAYS };
enum { FR_DIVISION_PARTS = FR_HOLDERS * FR_DIVISION_WAYS };
struct fr_division {
    int holders[FR_HOLDERS]; /**< that divide what they hold; 1: nothing is */
    int pieces, n_parts;
    struct fr_division_part *part; /**< [pieces FR_DIVISION_PARTS]; NULL: memory is exhausted */
};
/** The part of @p piece that @p holder scatter, or have whole. */
static inline int fr_division_part_of(int piece, int holder, int way) {
    return piece * FR_DIVISION_PARTS + holder * FR_DIVISION_WAYS + way;
}
/** Values of a rank's share of what @p holder scatter of @p piece. */
static inline int64_t fr_division_scattered(const struct fr_division *d, int piece,
                                            int holder) {
    return d->part[fr_division_part_of(piece, holder, FR_DIVISION_SCATTERED)].share;
}
static inline int fr_division_holder(int part) {
    return part % FR_DIVISION_PARTS / FR_DIVISION_WAYS;
}
static inline int fr_division_holders(const struct fr_division *d, int part) {
    return d->holders[fr_division_holder(part)];
}

/** All of a block of @p n in the first part, without spans. */
struct fr_division fr_division_of(int replicas, int64_t n);
/** An empty division. */
struct fr_division fr_division_none(const int holders[FR_HOLDERS], int pieces);
/** A span more. @return false when memory is exhausted; free with fr_division_free in any case. */
bool fr_division_add(struct fr_division *d, int part, size_t at, int64_t n);
void fr_division_free(struct fr_division *d);

/** Is a share in one piece of the block? */
static inline bool fr_division_plain(const struct fr_division *d) {
    const struct fr_division_part *p = &d->part[FR_DIVISION_SCATTERED];
    return p->n_spans == 1 && !p->span;
}
/** Values of a rank's share, and of it those of parts before @p part. */
int64_t fr_division_share(const struct fr_division *d);
int64_t fr_division_before(const struct fr_division *d, int part);

/** The piece of span @p i of @p part that belongs to holder @p own: values from @p at of the
 *  block on.  They are those from @p to on of its share of the part.  @return how many; 0:
 *  none */
int64_t fr_division_piece(const struct fr_division *d, int part, int own, int i, size_t *at,
                          size_t *to);
/** Copy a holder's share of @p part between block and @p packed. */
void fr_division_copy(const struct fr_kernels *k, const struct fr_division *d, int part,
                      int own, bool into_block, void *block, void *packed);

/* Shares on their way between those who hold a block alike: gradients to who updates them, parameters from there to
 * all.  Where shares are not one piece of the block each they are packed in real->packed. */
struct fr_real;
/** The ranks of @p holder, and those of them that divide what they hold; this one's place among the latter. */
MPI_Comm fr_shares_comm(const struct fr_real *real, int holder);
MPI_Comm fr_shares_dividing(const struct fr_real *real, int holder);
int fr_shares_own(const struct fr_real *real, int holder);

/** Values of real->packed. */
int64_t fr_shares_scratch(const struct fr_division *d);
/** Values of a rank's share of @p piece that @p holder have, scattered and whole. */
int64_t fr_shares_owned(const struct fr_division *d, int piece, int holder);
/** Parameters of all holders' shares to the blocks of all. */
fr_status fr_shares_gather(struct fr_real *real);
/** own := the sum over all ranks of @p holder of this rank's share of a piece's gradients that are scattered. */
fr_status fr_shares_scatter(struct fr_real *real, int piece, int holder, void *own);
/** This rank's share of gradients that @p holder scatter, from @p own to its place in the block. */
void fr_shares_put(struct fr_real *real, int piece, int holder, void *own);

/** Pieces of a holder on their way, beside what is computed meanwhile. */
struct fr_shares_flight {
    int piece, n_pieces, holder; /**< the first of them, and how many; a gather's is one */
    void *packed;                /**< shares of all who divide it */
    void *own; /**< of a scatter: what all send to this rank, and at its end their sum first */
    MPI_Request request;
};
/** Parameters as fr_shares_gather has them, of the flight's piece alone: they are in the block at its end. */
fr_status fr_shares_gather_begin(struct fr_real *real, struct fr_shares_flight *f);
fr_status fr_shares_gather_end(struct fr_real *real, struct fr_shares_flight *f);
/** Values of the flight's share that is scattered. */
int64_t fr_shares_scattered(const struct fr_division *d, const struct fr_shares_flight *f);
/** Gradients as fr_shares_scatter has them.  The block may be written again once it has begun.  After its end the sum is that
 *  of those who divide; a second leg adds up over groups of them, where there are some. */
fr_status fr_shares_scatter_begin(struct fr_real *real, struct fr_shares_flight *f);
fr_status fr_shares_scatter_end(struct fr_real *real, struct fr_shares_flight *f);
fr_status fr_shares_across_begin(struct fr_real *real, struct fr_shares_flight *f);

#endif
