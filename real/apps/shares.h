/** @file
 *  Shares of a division (real/apps/division.h) on their way between those who hold a block alike:
 *  gradients to who updates them, parameters from there to all.  Where shares are not one piece of the block
 *  each they are packed in real->packed. */
#ifndef FR_REAL_APPS_SHARES_H
#define FR_REAL_APPS_SHARES_H

#include "real/apps/app.h"

/** The ranks of @p holder, and this one's place among them. */
MPI_Comm fr_shares_comm(const struct fr_real *real, int holder);
int fr_shares_own(const struct fr_real *real, int holder);

/** Values of real->packed. */
int64_t fr_shares_room(const struct fr_division *d);
/** Parameters of all holders' shares to the blocks of all. */
fr_status fr_shares_gather(struct fr_real *real, struct fr_error *err);
/** own := the sum over @p holder of this rank's share of gradients that are scattered. */
fr_status fr_shares_scatter(struct fr_real *real, int holder, void *own, struct fr_error *err);
/** This rank's share of gradients that @p holder scatter, from @p own to its place in the block. */
void fr_shares_put(struct fr_real *real, int holder, void *own);

#endif
