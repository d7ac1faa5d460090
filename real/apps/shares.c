#include "real/apps/shares.h"

MPI_Comm fr_shares_comm(const struct fr_real *real, int holder) {
    return holder == FR_HELD_BY_STAGE ? real->stage : real->dp;
}

int fr_shares_own(const struct fr_real *real, int holder) {
    if (real->division.holders[holder] <= 1) return 0;
    return holder == FR_HELD_BY_STAGE ? real->stage_rank : real->dp_rank;
}

static int64_t share_of(const struct fr_division *d, int holder) {
    int64_t sum = 0;
    for (int way = 0; way < FR_DIVISION_WAYS; way++)
        sum += d->part[fr_division_part_of(holder, way)].share;
    return sum;
}

int64_t fr_shares_room(const struct fr_division *d) {
    int64_t most = 0;
    for (int h = 0; h < FR_HOLDERS && !fr_division_plain(d); h++) {
        int64_t all = d->holders[h] > 1 ? share_of(d, h) * d->holders[h] : 0;
        most = all > most ? all : most;
    }
    return most;
}

/* Shares of place @p own between the block and where all of them lie packed. */
static void move_parameters(struct fr_real *real, int holder, int own, bool into_block) {
    const struct fr_division *d = &real->division;
    size_t at = (size_t)(own * share_of(d, holder));
    for (int way = 0; way < FR_DIVISION_WAYS; way++) {
        int part = fr_division_part_of(holder, way);
        FR_COMPUTE(real, fr_division_copy(real->k, d, part, own, into_block, real->parameters,
                                          fr_at(real->k, real->packed, at)));
        at += (size_t)d->part[part].share;
    }
}

static fr_status gather(struct fr_real *real, int holder, struct fr_error *err) {
    const struct fr_division *d = &real->division;
    int own = fr_shares_own(real, holder);
    bool plain = fr_division_plain(d);
    if (!plain) move_parameters(real, holder, own, false);
    FR_TRY(fr_real_all_gather(real, fr_shares_comm(real, holder), MPI_IN_PLACE,
                              share_of(d, holder), plain ? real->parameters : real->packed,
                              err));
    for (int i = 0; !plain && i < d->holders[holder]; i++)
        if (i != own) move_parameters(real, holder, i, true);
    return FR_OK;
}

fr_status fr_shares_gather(struct fr_real *real, struct fr_error *err) {
    for (int h = 0; h < FR_HOLDERS; h++)
        if (real->division.holders[h] > 1 && share_of(&real->division, h) > 0)
            FR_TRY(gather(real, h, err));
    return FR_OK;
}

fr_status fr_shares_scatter(struct fr_real *real, int holder, void *own, struct fr_error *err) {
    const struct fr_division *d = &real->division;
    int part = fr_division_part_of(holder, FR_DIVISION_SCATTERED);
    int64_t share = d->part[part].share;
    bool plain = fr_division_plain(d);
    for (int i = 0; !plain && i < d->holders[holder]; i++)
        FR_COMPUTE(real, fr_division_copy(real->k, d, part, i, false, real->gradients,
                                          fr_at(real->k, real->packed, (size_t)(i * share))));
    return fr_real_reduce_scatter(real, fr_shares_comm(real, holder),
                                  plain ? real->gradients : real->packed, own, share, err);
}

void fr_shares_put(struct fr_real *real, int holder, void *own) {
    int part = fr_division_part_of(holder, FR_DIVISION_SCATTERED);
    FR_COMPUTE(real, fr_division_copy(real->k, &real->division, part,
                                      fr_shares_own(real, holder), true, real->gradients, own));
}
