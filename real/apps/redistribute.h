/** @file
 *  Samples, or tokens, between two grids of the same ranks (Gholami et al. 2017; `layer_tp`).
 *
 *  On a grid of P_r rows each of the R / P_r columns has its share of all samples, which every rank of the column has
 *  whole.  To a grid of fewer rows a rank keeps a part of what it has.  To one of more rows, max / min neighbours gather
 *  theirs.  Activations go one way and their gradients go the other way. */
#ifndef FR_REAL_APPS_REDISTRIBUTE_H
#define FR_REAL_APPS_REDISTRIBUTE_H

#include "real/apps/app.h"

/** Samples of a column: the first, and how many. */
struct fr_real_columns {
    int first, n;
};

/** Colour of the ranks of a communicator's split that samples move among between grids of @p a and @p b rows, one of which
 *  divides the other: max / min ranks, min apart.  In the order of ranks they are in that of their samples. */
static inline int64_t fr_redistribute_colour(int64_t rank, int64_t a, int64_t b) {
    int64_t small = a < b ? a : b, large = a < b ? b : a;
    return rank / large * small + rank % small;
}

/** y (values x to.n) := those samples of x (values x from.n), of @p neighbours in the order of their samples.
 *  @param packed  buffer for values x to.n, used where they are gathered */
fr_status fr_redistribute(struct fr_real *real, MPI_Comm neighbours, int values,
                          struct fr_real_columns from, const void *x, struct fr_real_columns to,
                          void *packed, void *y);

#endif
