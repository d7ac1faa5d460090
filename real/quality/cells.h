/** @file
 *  Single trainings, and the file that holds them: a line that says what all have in common, then
 *  lines "learn" and "learnt" (real/apps/learn/learn.h).  Plans, rates and seeds may grow
 *  from run to run; trainings of plans that are not asked for stay in the file. */
#ifndef FR_REAL_QUALITY_CELLS_H
#define FR_REAL_QUALITY_CELLS_H

#include "real/quality/quality.h"

struct fr_quality_cell {
    char *plan_text;
    int plan; /**< -1: of none that is asked for */
    double rate;
    int64_t seed;    /**< 0: to find the rate */
    bool done, lost; /**< lost: what it trains is not known, its line did not verify */
    double train_s, sent_B;
    char *observed; /**< JSON text of what compression did, a list of ranks; NULL until done */
    double *loss, *train_loss; /**< fr_quality_points each, NaN from where it diverged */
};

struct fr_quality_cells {
    struct fr_quality_cell *items; /**< a cell's place is its id in the file */
    int n, n_done;
};

void fr_quality_cells_free(struct fr_quality_cells *cells);

/** Append a cell, unless it is there.  FR_OK or FR_ERR_NOMEM. */
fr_status fr_quality_want(struct fr_quality_cells *cells, const struct fr_quality_options *o,
                          int plan, double rate, int64_t seed, struct fr_error *err);

/** Read the file; a training whose line is dropped is in it no more.  @return FR_ERR_INPUT when it is of other trainings,
 *  with what differs. */
fr_status fr_quality_cells_read(struct fr_quality_cells *cells,
                                const struct fr_quality_options *o, struct fr_error *err);
/** Write the file anew: all cells, and the results that are known. */
fr_status fr_quality_cells_write(const struct fr_quality_cells *cells,
                                 const struct fr_quality_options *o, struct fr_error *err);

/** Ask for what is to be trained next.  @param[out] more  is there any? */
fr_status fr_quality_next(const struct fr_quality_options *o, struct fr_quality_cells *cells,
                          bool *more, struct fr_error *err);

/** What the cells say: quality->rows.  FR_OK or FR_ERR_NOMEM. */
fr_status fr_quality_rows(const struct fr_quality_options *o,
                          const struct fr_quality_cells *cells, struct fr_quality *quality,
                          struct fr_error *err);
/** row->observed of the @p n cells of a row; their texts are read.  FR_OK, FR_ERR_INPUT, FR_ERR_NOMEM. */
fr_status fr_quality_observe(const struct fr_quality_cell *const *cells, int n,
                             struct fr_quality_row *row, struct fr_error *err);
void fr_quality_observed_free(struct fr_quality_row *row);

/** Which are told apart: quality->pairs.  FR_OK or FR_ERR_NOMEM. */
fr_status fr_quality_compare(const struct fr_quality_options *o, struct fr_quality *quality,
                             struct fr_error *err);

/** The rates tried for a plan on seed 0, and their losses, into @p row; its rate where it is settled:
 *  the best has been tried with a smaller and a larger one beside it, or the grid is full. */
void fr_quality_rates(const struct fr_quality_cells *cells, const struct fr_quality_options *o,
                      struct fr_quality_row *row);

#endif
