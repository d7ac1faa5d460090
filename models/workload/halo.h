/** @file
 *  Which rows of an image does a rank read from its neighbours, where ranks divide images by height?
 *
 *  An image of H rows lies on p ranks in blocks: rank r has rows floor(r H / p) to floor((r + 1) H / p) - 1.  Windows of
 *  k rows that move by s over the image, with q rows of zeros around it, make O = floor((H + 2 q - k) / s) + 1 rows,
 *  which lie in blocks likewise.  Row j of them reads the rows j s - q to j s - q + k - 1.
 *
 *  Forward a rank needs what its rows read.  Rows outside its own block are its halo, above and below.  Backward, the
 *  gradients of these rows go back and are added to those of their owners.  With s = 1, odd k and q = (k - 1) / 2 a halo is
 *  floor(k / 2) rows above and as many below.  Our derivation. */
#ifndef FR_MODELS_WORKLOAD_HALO_H
#define FR_MODELS_WORKLOAD_HALO_H

#include "models/workload/workload.h"

/** Rows of a block, @c from up to but not with @c to. */
struct fr_rows {
    int64_t from, to;
};

/** Rows of a halo. */
struct fr_halo {
    int64_t above, below;
};

/** The block of rank @p r of @p p. */
struct fr_rows fr_rows_of(int64_t height, int64_t p, int64_t r);
/** Rows and columns that @p windows make. */
int64_t fr_window_rows(const struct fr_window *windows);
int64_t fr_window_columns(const struct fr_window *windows);

/** Rows of the image that rank @p r reads beside its own. */
struct fr_halo fr_halo_of(const struct fr_window *windows, int64_t p, int64_t r);

/** Most rows of them that a rank reads, above and below apart. */
struct fr_halo fr_halo_most(const struct fr_window *windows, int64_t p);
/** Most rows of the image that one rank has, its own with its halo. */
int64_t fr_halo_held(const struct fr_window *windows, int64_t p);

/** Does every rank have a row of the image and one that windows make, and do direct neighbours have all of its halo? */
bool fr_halo_fits(const struct fr_window *windows, int64_t p);

#endif
