/** @file
 *  Trainings to a loss as cells of a file (real/cells.h): lines "train", then, as they end, "trained" (real/apps/train.h). */
#ifndef FR_REAL_ITERATIONS_CELLS_H
#define FR_REAL_ITERATIONS_CELLS_H

#include "real/cells.h"
#include "real/iterations/iterations.h"

/** The table, what @p asked answers, which is @p o with its rate. */
struct fr_cells_of fr_training_cells_of(const struct fr_training_options *o,
                                        struct fr_training_options *asked);

/** Append a cell for each seed of (tp, ghost), unless they are there.  FR_OK or FR_ERR_NOMEM. */
fr_status fr_training_want(struct fr_cells *cells, const struct fr_training_options *o,
                           int64_t tp, int64_t ghost, struct fr_error *err);

/** Summarise the cells over seeds, in order of tp and ghost; cells not done are left out. */
fr_status fr_training_rows(const struct fr_cells *cells, struct fr_trained **rows, int *n_rows,
                           struct fr_error *err);

/** Ask for every pair that is to be trained next.  @param[out] more  is there any?
 *  FR_ERR_INPUT when Eq. 8 allows none. */
fr_status fr_ladder_next(const struct fr_training_options *o, const struct fr_trained *rows,
                         int n_rows, struct fr_cells *cells, bool *more, struct fr_error *err);

/** The largest k that Eq. 8 allows at p, k < (n/p)(1 - 1/p); 0: none. */
int64_t fr_ladder_most(int64_t width, int64_t p);

#endif
