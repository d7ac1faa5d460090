/* Own times of matrix products on the largest full grid that the samples cover. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "calibrate/fit/parts.h"
#include "calibrate/numbers/statistics.h"

enum { AXES = 3, AXIS_MAX = 64 };
static const double SHORTEST_S = 1e-12; /* as of samples */

/* Measured sizes of each axis, ascending, the own time at each shape (0: not measured), and what is
 * taken for it where it was not (0: nothing). */
struct grid {
    int count[AXES];
    int64_t size[AXES][AXIS_MAX];
    double *time_s, *taken_s;
};

static const int64_t *shape_of(const struct fr_sample_gemm *sample) { return &sample->m; }

static void add_size(struct grid *grid, int axis, int64_t size) {
    int at = grid->count[axis];
    int64_t *sizes = grid->size[axis];
    for (int i = 0; i < at; i++)
        if (sizes[i] == size) return;
    if (at == AXIS_MAX) return;
    for (; at > 0 && sizes[at - 1] > size; at--) sizes[at] = sizes[at - 1];
    sizes[at] = size;
    grid->count[axis]++;
}

static int find(const struct grid *grid, int axis, int64_t size) {
    for (int i = 0; i < grid->count[axis]; i++)
        if (grid->size[axis][i] == size) return i;
    return -1;
}

/* Index of a shape in the grid, or -1 when an axis was too long to take it. */
static int cell_of(const struct grid *grid, const struct fr_sample_gemm *sample) {
    int cell = 0;
    for (int axis = 0; axis < AXES; axis++) {
        int i = find(grid, axis, shape_of(sample)[axis]);
        if (i < 0) return -1;
        cell = cell * grid->count[axis] + i;
    }
    return cell;
}

struct timed {
    int cell;
    double time_s;
};

static int by_cell(const void *x, const void *y) {
    const struct timed *a = x, *b = y;
    if (a->cell != b->cell) return FR_ORDER(a->cell, b->cell);
    return FR_ORDER(a->time_s, b->time_s);
}

static fr_status take_times(const struct fr_samples *samples, const struct fr_fit_speed *speed,
                            fr_dtype dtype, struct grid *grid) {
    size_t n = 0, stop, cells = (size_t)(grid->count[0] * grid->count[1] * grid->count[2]);
    struct timed *timed = fr_calloc(samples->n_gemm, sizeof *timed);
    double *times_s = fr_calloc(samples->n_gemm, sizeof *times_s);
    grid->time_s = fr_calloc(2 * cells, sizeof *grid->time_s);
    grid->taken_s = grid->time_s + cells;
    fr_status status = timed && times_s && grid->time_s ? FR_OK : FR_ERR_NOMEM;
    for (size_t i = 0; status == FR_OK && i < samples->n_gemm; i++) {
        const struct fr_sample_gemm *sample = &samples->gemm[i];
        int cell = sample->dtype == dtype ? cell_of(grid, sample) : -1;
        if (cell < 0) continue;
        double slow = fr_fit_slowness(speed, speed->products, sample->probe);
        timed[n++] = (struct timed){cell, fmax(sample->time_s / slow, SHORTEST_S)};
    }
    if (n > 0) fr_sort_items(timed, n, sizeof *timed, by_cell);
    for (size_t i = 0; i < n; i = stop) {
        for (stop = i; stop < n && timed[stop].cell == timed[i].cell; stop++)
            times_s[stop - i] = timed[stop].time_s;
        grid->time_s[timed[i].cell] = fr_fit_own(speed, times_s, stop - i);
    }
    free(timed);
    free(times_s);
    return status;
}

static int cell_at(const struct grid *grid, const int index[AXES]) {
    return (index[0] * grid->count[1] + index[1]) * grid->count[2] + index[2];
}

static int cells_of(const struct grid *grid) {
    return grid->count[0] * grid->count[1] * grid->count[2];
}

static void index_of(const struct grid *grid, int cell, int index[AXES]) {
    index[0] = cell / (grid->count[1] * grid->count[2]);
    index[1] = cell / grid->count[2] % grid->count[1];
    index[2] = cell % grid->count[2];
}

/* ---- shapes that were not measured ----------------------------------------------------------- */

/* The nearest cell along an axis with a time in @p time_s, or -1. */
static int nearest(const struct grid *grid, const double *time_s, const int index[AXES],
                   int axis, int step) {
    int there[AXES] = {index[0], index[1], index[2]};
    for (there[axis] += step; there[axis] >= 0 && there[axis] < grid->count[axis];
         there[axis] += step)
        if (time_s[cell_at(grid, there)] > 0) return there[axis];
    return -1;
}

/* log t of a cell from the nearest two on one axis, linear in log size; false without both. */
static bool between(const struct grid *grid, const double *time_s, const int index[AXES],
                    int axis, double *log_s) {
    int low[AXES] = {index[0], index[1], index[2]}, high[AXES] = {index[0], index[1], index[2]};
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
static double from_neighbours_s(const struct grid *grid, const double *time_s, int cell) {
    int index[AXES], used = 0;
    double sum = 0, log_s = 0;
    index_of(grid, cell, index);
    for (int axis = 0; axis < AXES; axis++)
        if (between(grid, time_s, index, axis, &log_s)) {
            sum += log_s;
            used++;
        }
    return used > 0 ? exp(sum / used) : 0;
}

/* A calibration that was cut short leaves shapes out.  What lies between measured ones is what an
 * interpolation between them would say; the rest from these in turn.
 * @param times_s  room for all cells */
static void fill(struct grid *grid, double *times_s) {
    int cells = cells_of(grid);
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < cells; i++)
            times_s[i] = grid->time_s[i] > 0 ? grid->time_s[i] : grid->taken_s[i];
        for (int i = 0; i < cells; i++) {
            if (times_s[i] > 0) continue;
            grid->taken_s[i] = from_neighbours_s(grid, times_s, i);
            more = more || grid->taken_s[i] > 0;
        }
    }
}

/* Holes in the plane axis = index. */
static int holes(const struct grid *grid, int axis, int index) {
    int count = 0;
    for (int i = 0; i < grid->count[0]; i++)
        for (int j = 0; j < grid->count[1]; j++)
            for (int k = 0; k < grid->count[2]; k++) {
                int here = axis == 0 ? i : axis == 1 ? j : k;
                int cell = cell_at(grid, (int[AXES]){i, j, k});
                count += here == index && grid->time_s[cell] + grid->taken_s[cell] <= 0;
            }
    return count;
}

/* Take a plane out.  Times move towards the front, so it is done in place. */
static void remove_plane(struct grid *grid, int axis, int index) {
    struct grid old = *grid;
    int to = 0, cells = cells_of(&old);
    for (int cell = 0; cell < cells; cell++) {
        int here[AXES];
        index_of(&old, cell, here);
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
static void complete(struct grid *grid) {
    for (;;) {
        int worst_axis = -1, worst_index = 0;
        double worst = 0;
        int cells = cells_of(grid);
        for (int axis = 0; axis < AXES; axis++)
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

/* Every measured point that has two measured neighbours on some axis is interpolated without itself,
 * over a gap at least twice as wide as the table's; so this is an upper estimate of the table's own
 * error. */
static fr_status judge(const struct grid *grid, struct fr_fit_quality *quality) {
    size_t cells = (size_t)cells_of(grid);
    double *predicted_s = fr_calloc(2 * cells, sizeof *predicted_s),
           *measured_s = predicted_s + cells;
    int n = 0;
    if (!predicted_s) return FR_ERR_NOMEM;
    for (int cell = 0; cell < (int)cells; cell++) {
        if (!(grid->time_s[cell] > 0)) continue;
        predicted_s[n] = from_neighbours_s(grid, grid->time_s, cell);
        measured_s[n] = grid->time_s[cell];
        n += predicted_s[n] > 0;
    }
    fr_status status = fr_fit_measure(predicted_s, measured_s, n, quality);
    free(predicted_s);
    return status;
}

static int count_measured(const struct grid *grid) {
    int n = 0;
    for (int i = 0; i < cells_of(grid); i++) n += grid->time_s[i] > 0;
    return n;
}

static int64_t *copy_axis(const struct grid *grid, int axis) {
    int64_t *copy = fr_calloc((size_t)grid->count[axis], sizeof *copy);
    for (int i = 0; copy && i < grid->count[axis]; i++) copy[i] = grid->size[axis][i];
    return copy;
}

static fr_status keep(struct grid *grid, struct fr_fit_gemm *gemm) {
    gemm->m = copy_axis(grid, 0);
    gemm->n = copy_axis(grid, 1);
    gemm->k = copy_axis(grid, 2);
    if (!gemm->m || !gemm->n || !gemm->k) return FR_ERR_NOMEM;
    gemm->n_m = grid->count[0];
    gemm->n_n = grid->count[1];
    gemm->n_k = grid->count[2];
    gemm->time_s = grid->time_s;
    for (int i = 0; i < cells_of(grid); i++)
        if (!(gemm->time_s[i] > 0)) {
            gemm->time_s[i] = grid->taken_s[i];
            gemm->n_filled++;
        }
    grid->time_s = NULL;
    return FR_OK;
}

fr_status fr_fit_gemm_table(const struct fr_samples *samples, const struct fr_fit_speed *speed,
                            fr_dtype dtype, struct fr_fit_gemm *gemm) {
    struct grid grid = {0};
    for (size_t i = 0; i < samples->n_gemm; i++)
        for (int axis = 0; axis < AXES && samples->gemm[i].dtype == dtype; axis++)
            add_size(&grid, axis, shape_of(&samples->gemm[i])[axis]);
    if (grid.count[0] == 0) return FR_OK;
    fr_status status = take_times(samples, speed, dtype, &grid);
    double *room = fr_malloc((size_t)cells_of(&grid), sizeof *room);
    if (!room) status = FR_ERR_NOMEM;
    if (status == FR_OK) {
        int measured = count_measured(&grid);
        fill(&grid, room);
        complete(&grid);
        gemm->n_dropped = measured - count_measured(&grid);
    }
    free(room);
    if (status == FR_OK && grid.count[0] > 0) status = judge(&grid, &gemm->quality);
    if (status == FR_OK && grid.count[0] > 0) status = keep(&grid, gemm);
    free(grid.time_s);
    return status;
}

void fr_fit_gemm_free(struct fr_fit_gemm *gemm) {
    free(gemm->m);
    free(gemm->n);
    free(gemm->k);
    free(gemm->time_s);
    *gemm = (struct fr_fit_gemm){0};
}
