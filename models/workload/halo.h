/** @file
 *  Which rows of an image does a rank read from its neighbours, where ranks divide images by height?
 *
 *  An image of H rows lies on p ranks in blocks: rank r has rows floor(r H / p) to floor((r + 1) H / p) - 1.  Windows of
 *  k rows that move by s over the image, with q rows of zeros around it, make O = floor((H + 2 q - k) / s) + 1 rows,
 *  which lie in blocks likewise.  Row j of them reads the rows j s - q to j s - q + k - 1.  So row i of the image is
 *  read by the rows
 *
 *      ceil((i + q - k + 1) / s)  to  floor((i + q) / s)
 *
 *  Forward a rank needs what its rows read.  Backward, for the gradient of its rows of the image, it needs the gradients
 *  of all rows that read them.  Rows outside its own block are its halo, above and below.  With s = 1, odd k and
 *  q = (k - 1) / 2 each of the four is floor(k / 2).  Our derivation. */
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

/** Rows of the image that rank @p r reads beside its own, and rows of gradients that it needs beside its own. */
struct fr_halo fr_halo_forward(const struct fr_window *windows, int64_t p, int64_t r);
struct fr_halo fr_halo_backward(const struct fr_window *windows, int64_t p, int64_t r);

/** The same of the ranks that have most, above and below apart; `held`: most rows of the image that one rank then has. */
struct fr_halo_most {
    struct fr_halo forward, backward;
    int64_t held;
};
struct fr_halo_most fr_halo_most(const struct fr_window *windows, int64_t p);

/** Does every rank have a row on either side, and do direct neighbours have all of its halos? */
bool fr_halo_fits(const struct fr_window *windows, int64_t p);

#endif
