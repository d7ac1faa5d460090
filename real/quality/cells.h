/** @file
 *  Trainings of plans as cells of a file (real/cells.h): lines "learn" and "learnt" (real/apps/learn/learn.h).  Plans, rates
 *  and seeds may grow from run to run; trainings of plans that are not asked for stay in the file. */
#ifndef FR_REAL_QUALITY_CELLS_H
#define FR_REAL_QUALITY_CELLS_H

#include "real/cells.h"
#include "real/quality/quality.h"

struct fr_cells_of fr_quality_cells_of(const struct fr_quality_options *o);

/** Append a cell, unless it is there.  FR_OK or FR_ERR_NOMEM. */
fr_status fr_quality_want(struct fr_cells *cells, const struct fr_quality_options *o, int plan,
                          double rate, int64_t seed, struct fr_error *err);

/** Ask for what is to be trained next.  @param[out] more  is there any? */
fr_status fr_quality_next(const struct fr_quality_options *o, struct fr_cells *cells,
                          bool *more, struct fr_error *err);

/** Summarise the cells in quality->rows.  FR_OK or FR_ERR_NOMEM. */
fr_status fr_quality_rows(const struct fr_quality_options *o, const struct fr_cells *cells,
                          struct fr_quality *quality, struct fr_error *err);
/** row->observed of the @p n cells of a row; their texts are read.  FR_OK, FR_ERR_INPUT, FR_ERR_NOMEM. */
fr_status fr_quality_observe(const struct fr_cell *const *cells, int n,
                             struct fr_quality_row *row, struct fr_error *err);
void fr_quality_observed_free(struct fr_quality_row *row);

/** Which are distinguished: quality->pairs.  FR_OK or FR_ERR_NOMEM. */
fr_status fr_quality_compare(const struct fr_quality_options *o, struct fr_quality *quality,
                             struct fr_error *err);

/** Put the rates tried for a plan on seed 0, and their losses, into @p row.  Its rate is set
 *  where it is resolved: the best has been tried with a smaller and a larger one beside it, or
 *  the grid is full. */
void fr_quality_rates(const struct fr_cells *cells, const struct fr_quality_options *o,
                      struct fr_quality_row *row);

#endif
