#include "calibrate/fit/gemm_grid.h"

#include <math.h>
#include <stdbool.h>

void fr_grid_add_size(struct fr_gemm_grid *grid, int axis, int64_t size) {
    int at = grid->count[axis];
    int64_t *sizes = grid->size[axis];
    for (int i = 0; i < at; i++)
        if (sizes[i] == size) return;
    if (at == FR_GRID_AXIS_MAX) return;
    for (; at > 0 && sizes[at - 1] > size; at--) sizes[at] = sizes[at - 1];
    sizes[at] = size;
    grid->count[axis]++;
}

static int find(const struct fr_gemm_grid *grid, int axis, int64_t size) {
    for (int i = 0; i < grid->count[axis]; i++)
        if (grid->size[axis][i] == size) return i;
    return -1;
}

/* Index of a shape in the grid, or -1 when an axis was too long to take it. */
int fr_grid_cell_of(const struct fr_gemm_grid *grid, const int64_t shape[FR_GRID_AXES]) {
    int cell = 0;
    for (int axis = 0; axis < FR_GRID_AXES; axis++) {
        int i = find(grid, axis, shape[axis]);
        if (i < 0) return -1;
        cell = cell * grid->count[axis] + i;
    }
    return cell;
}

static int cell_at(const struct fr_gemm_grid *grid, const int index[FR_GRID_AXES]) {
    return (index[0] * grid->count[1] + index[1]) * grid->count[2] + index[2];
}

int fr_grid_cells(const struct fr_gemm_grid *grid) {
    return grid->count[0] * grid->count[1] * grid->count[2];
}

void fr_grid_index_of(const struct fr_gemm_grid *grid, int cell, int index[FR_GRID_AXES]) {
    index[0] = cell / (grid->count[1] * grid->count[2]);
    index[1] = cell / grid->count[2] % grid->count[1];
    index[2] = cell % grid->count[2];
}

/* The nearest cell along an axis with a time in @p time_s, or -1. */
static int nearest(const struct fr_gemm_grid *grid, const double *time_s,
                   const int index[FR_GRID_AXES], int axis, int step) {
    int there[FR_GRID_AXES] = {index[0], index[1], index[2]};
    for (there[axis] += step; there[axis] >= 0 && there[axis] < grid->count[axis];
         there[axis] += step)
        if (time_s[cell_at(grid, there)] > 0) return there[axis];
    return -1;
}

/* log t of a cell from the nearest two on one axis, linear in log size; false without both. */
static bool between(const struct fr_gemm_grid *grid, const double *time_s,
                    const int index[FR_GRID_AXES], int axis, double *log_s) {
    int low[FR_GRID_AXES] = {index[0], index[1], index[2]},
        high[FR_GRID_AXES] = {index[0], index[1], index[2]};
    low[axis] = nearest(grid, time_s, index, axis, -1);
    high[axis] = nearest(grid, time_s, index, axis, 1);
    if (low[axis] < 0 || high[axis] < 0) return false;
    const int64_t *size = grid->size[axis];
    double x0 = log((double)size[low[axis]]), x1 = log((double)size[high[axis]]);
    double share = (log((double)size[index[axis]]) - x0) / (x1 - x0);
    double y0 = log(time_s[cell_at(grid, low)]), y1 = log(time_s[cell_at(grid, high)]);
    *log_s = y0 + share * (y1 - y0);
    return true;
}

/* Mean over the axes that have both neighbours; 0 without any. */
double fr_grid_from_neighbours_s(const struct fr_gemm_grid *grid, const double *time_s,
                                 int cell) {
    int index[FR_GRID_AXES], used = 0;
    double sum = 0, log_s = 0;
    fr_grid_index_of(grid, cell, index);
    for (int axis = 0; axis < FR_GRID_AXES; axis++)
        if (between(grid, time_s, index, axis, &log_s)) {
            sum += log_s;
            used++;
        }
    return used > 0 ? exp(sum / used) : 0;
}

/* A calibration that was cut short leaves shapes out.  Shapes between measured ones are
 * interpolated from them; the rest from these in turn.
 * @param times_s  capacity for all cells */
void fr_grid_fill(struct fr_gemm_grid *grid, double *times_s) {
    int cells = fr_grid_cells(grid);
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < cells; i++)
            times_s[i] = grid->time_s[i] > 0 ? grid->time_s[i] : grid->taken_s[i];
        for (int i = 0; i < cells; i++) {
            if (times_s[i] > 0) continue;
            grid->taken_s[i] = fr_grid_from_neighbours_s(grid, times_s, i);
            more = more || grid->taken_s[i] > 0;
        }
    }
}

/* Holes in the plane axis = index. */
static int holes(const struct fr_gemm_grid *grid, int axis, int index) {
    int count = 0;
    for (int i = 0; i < grid->count[0]; i++)
        for (int j = 0; j < grid->count[1]; j++)
            for (int k = 0; k < grid->count[2]; k++) {
                int here = axis == 0 ? i : axis == 1 ? j : k;
                int cell = cell_at(grid, (int[FR_GRID_AXES]){i, j, k});
                count += here == index && grid->time_s[cell] + grid->taken_s[cell] <= 0;
            }
    return count;
}

/* Take a plane out.  Times move towards the front, so it is done in place. */
static void remove_plane(struct fr_gemm_grid *grid, int axis, int index) {
    struct fr_gemm_grid old = *grid;
    int to = 0, cells = fr_grid_cells(&old);
    for (int cell = 0; cell < cells; cell++) {
        int here[FR_GRID_AXES];
        fr_grid_index_of(&old, cell, here);
        if (here[axis] == index) continue;
        grid->time_s[to] = old.time_s[cell];
        grid->taken_s[to++] = old.taken_s[cell];
    }
    grid->count[axis]--;
    for (int i = index; i < grid->count[axis]; i++)
        grid->size[axis][i] = grid->size[axis][i + 1];
}

/* Until no shape is missing, drop the plane with the largest share of missing ones: those at the rim
 * of what a killed run measured, and the table must be full. */
void fr_grid_complete(struct fr_gemm_grid *grid) {
    for (;;) {
        int worst_axis = -1, worst_index = 0;
        double worst = 0;
        int cells = fr_grid_cells(grid);
        for (int axis = 0; axis < FR_GRID_AXES; axis++)
            for (int i = 0; i < grid->count[axis]; i++) {
                double share = (double)holes(grid, axis, i) * grid->count[axis] / cells;
                if (share <= worst) continue;
                worst = share;
                worst_axis = axis;
                worst_index = i;
            }
        if (worst_axis < 0) return;
        remove_plane(grid, worst_axis, worst_index);
        if (grid->count[worst_axis] == 0) {
            grid->count[0] = grid->count[1] = grid->count[2] = 0;
            return;
        }
    }
}
