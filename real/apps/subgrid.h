/** @file
 *  Segmented collectives of sub-grids (Jain et al. 2021): ranks of equal place exchange where branches split and
 *  join, all at once on disjoint communicators. */
#ifndef FR_REAL_APPS_SUBGRID_H
#define FR_REAL_APPS_SUBGRID_H

#include "real/apps/app.h"

/** The group of g ranks, one of each sub-grid, and this one's. */
struct fr_subgrid {
    int g, subgrid;
    MPI_Comm group;
    bool c_sub;      /**< the first sub-grid alone has what is common */
    bool gather_all; /**< slices whole, and what is not one's own is dropped */
    void *buffer;    /**< packed messages */
};

/** From common layers to branches: x becomes y.  x is values x t tokens of a rank's own
 *  samples, or all of them on the first sub-grid.  y is all rows, or 1/g of them, for all
 *  samples of the group. */
fr_status fr_subgrid_spread(struct fr_real *real, const struct fr_subgrid *s, bool slices,
                            int values, int t, const void *x, void *y);
/** And back: y (values x g t tokens summed over the group, or 1/g of the rows) becomes x. */
fr_status fr_subgrid_collect(struct fr_real *real, const struct fr_subgrid *s, bool slices,
                             int values, int t, void *y, void *x);

#endif
