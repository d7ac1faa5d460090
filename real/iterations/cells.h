/** @file
 *  Single trainings, and the file that holds them: a line that says what all have in common, then
 *  a line "train" each, then, as they end, a line "trained" each (real/apps/train.h). */
#ifndef FR_REAL_ITERATIONS_CELLS_H
#define FR_REAL_ITERATIONS_CELLS_H

#include "real/iterations/iterations.h"

struct fr_training_cell {
    int64_t tp, ghost, seed; /**< tp 1: dense */
    bool done, lost;         /**< lost: what it trains is not known, its line did not verify */
    double iterations;       /**< 0: the loss was not reached */
    double loss, steps, parameters, train_s;
};

struct fr_training_cells {
    struct fr_training_cell *items; /**< a cell's place is its id in the file */
    int n;
};

/** Append a cell for each seed of (tp, ghost), unless they are there.  FR_OK or FR_ERR_NOMEM. */
fr_status fr_cells_want(struct fr_training_cells *cells, const struct fr_training_options *o,
                        int64_t tp, int64_t ghost, struct fr_error *err);

/** Read the file; a training whose line is dropped is in it no more.  @return FR_ERR_INPUT when it is of other
 *  trainings, with what differs. */
fr_status fr_cells_read(struct fr_training_cells *cells, const struct fr_training_options *o,
                        struct fr_error *err);

/** Write the file anew: all cells, and the results that are known. */
fr_status fr_cells_write(const struct fr_training_cells *cells,
                         const struct fr_training_options *o, struct fr_error *err);

/** What the cells say, over seeds, in order of tp and ghost; cells not done are left out. */
fr_status fr_cells_rows(const struct fr_training_cells *cells, struct fr_trained **rows,
                        int *n_rows, struct fr_error *err);

/** Ask for every pair that is to be trained next.  @param[out] more  is there any?
 *  FR_ERR_INPUT when Eq. 8 allows none. */
fr_status fr_ladder_next(const struct fr_training_options *o, const struct fr_trained *rows,
                         int n_rows, struct fr_training_cells *cells, bool *more,
                         struct fr_error *err);

/** The largest k that Eq. 8 allows at p, k < (n/p)(1 - 1/p); 0: none. */
int64_t fr_ladder_most(int64_t width, int64_t p);

#endif
