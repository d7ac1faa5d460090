/** @file
 *  Results of method grid as a table: P ranks by P_r, in each cell the fastest plan. */
#ifndef FR_PLOTS_GRID_TABLE_H
#define FR_PLOTS_GRID_TABLE_H

#include "plots/results.h"

enum { FR_GRID_COLUMNS_MAX = 12, FR_GRID_ROWS_MAX = 14 };

struct fr_grid_table {
    int64_t row[FR_GRID_ROWS_MAX];       /**< P, ascending; the largest are kept */
    int64_t column[FR_GRID_COLUMNS_MAX]; /**< P_r, ascending; the smallest are kept */
    int n_rows, n_columns;
    /** NULL where there is none. */
    const struct fr_result *cell[FR_GRID_ROWS_MAX][FR_GRID_COLUMNS_MAX];
    int best[FR_GRID_ROWS_MAX]; /**< column of the fastest */
    int64_t left_out;           /**< grids that do not fit */
    const char *unit;           /**< that the fastest reads well in */
    double unit_s;
};

/** Fill from @p results, which must outlive the table; n_rows is 0 without any grid. */
void fr_grid_table_fill(const struct fr_results *results, struct fr_grid_table *table);

/** Time of a cell [s]; infinite where there is none. */
double fr_grid_table_s(const struct fr_grid_table *table, int row, int column);

#endif
