/** @file
 *  Times over a grid of shapes m x n x k, some of which were not measured.
 *
 *  A cluster file's tables are full.  A shape between measured ones is what an interpolation between them would
 *  say, linear in the logarithms of size and time; where that fills not all, rims are given up. */
#ifndef FR_CALIBRATE_FIT_GEMM_GRID_H
#define FR_CALIBRATE_FIT_GEMM_GRID_H

#include <stdint.h>

enum { FR_GRID_AXES = 3, FR_GRID_AXIS_MAX = 64 };

/** Measured sizes of each axis, ascending, the own time at each shape (0: not measured), and what is
 *  taken for it where it was not (0: nothing). */
struct fr_gemm_grid {
    int count[FR_GRID_AXES];
    int64_t size[FR_GRID_AXES][FR_GRID_AXIS_MAX];
    double *time_s, *taken_s;
};

/** A size more, where it fits. */
void fr_grid_add_size(struct fr_gemm_grid *grid, int axis, int64_t size);
int fr_grid_cells(const struct fr_gemm_grid *grid);
/** Index of a shape in the grid, or -1 when an axis was too long to take it. */
int fr_grid_cell_of(const struct fr_gemm_grid *grid, const int64_t shape[FR_GRID_AXES]);
void fr_grid_index_of(const struct fr_gemm_grid *grid, int cell, int index[FR_GRID_AXES]);
/** A cell estimated from the other @p time_s: mean over the axes that have both neighbours; 0
 *  without any. */
double fr_grid_from_neighbours_s(const struct fr_gemm_grid *grid, const double *time_s,
                                 int cell);
/** Take what lies between measured shapes from them, the rest from these in turn.
 *  @param times_s  buffer for all cells */
void fr_grid_fill(struct fr_gemm_grid *grid, double *times_s);
/** Until no shape is missing, drop the plane with the largest share of missing ones: those at the rim of what a
 *  killed run measured. */
void fr_grid_complete(struct fr_gemm_grid *grid);

#endif
