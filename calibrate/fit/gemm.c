/* Own times of matrix products on the largest full grid that the samples cover: of operands used just
 * before, and of operands that come from memory. */
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

/* One timing of a shape, by what the machine's speed then was. */
struct product {
    int64_t shape[AXES];
    int64_t launch;
    double time_s;
};

/* Of one table, in the order of the file. */
struct products {
    struct product *item;
    size_t n;
};

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
static int cell_of(const struct grid *grid, const int64_t shape[AXES]) {
    int cell = 0;
    for (int axis = 0; axis < AXES; axis++) {
        int i = find(grid, axis, shape[axis]);
        if (i < 0) return -1;
        cell = cell * grid->count[axis] + i;
    }
    return cell;
}

struct timed {
    int cell;
    int64_t launch;
    double time_s;
};

static int by_cell(const void *x, const void *y) {
    const struct timed *a = x, *b = y;
    if (a->cell != b->cell) return FR_ORDER(a->cell, b->cell);
    if (a->launch != b->launch) return FR_ORDER(a->launch, b->launch);
    return FR_ORDER(a->time_s, b->time_s);
}

/* What a process gets of pages and caches is drawn when it starts, and is as good or bad for as long as
 * it runs: of each launch its own time, since what interrupts only adds; of the launches the median, since
 * the next run is one of them, and not the luckiest.
 * @param times_s  room for n
 * @return of all of one cell */
static double own_of_launches_s(const struct fr_fit_speed *speed, const struct timed *timed,
                                size_t n, double *times_s) {
    enum { LAUNCHES_MAX = 64 };
    double launch_s[LAUNCHES_MAX];
    size_t launches = 0;
    for (size_t i = 0, stop; i < n && launches < LAUNCHES_MAX; i = stop) {
        for (stop = i; stop < n && timed[stop].launch == timed[i].launch; stop++)
            times_s[stop - i] = timed[stop].time_s;
        launch_s[launches++] = fr_fit_own(speed, times_s, stop - i);
    }
    fr_sort(launch_s, launches);
    return fr_sorted_median(launch_s, launches);
}

static fr_status take_times(const struct products *products, const struct fr_fit_speed *speed,
                            struct grid *grid) {
    size_t n = 0, stop, cells = (size_t)(grid->count[0] * grid->count[1] * grid->count[2]);
    struct timed *timed = fr_calloc(products->n, sizeof *timed);
    double *times_s = fr_calloc(products->n, sizeof *times_s);
    grid->time_s = fr_calloc(2 * cells, sizeof *grid->time_s);
    grid->taken_s = grid->time_s + cells;
    fr_status status = timed && times_s && grid->time_s ? FR_OK : FR_ERR_NOMEM;
    for (size_t i = 0; status == FR_OK && i < products->n; i++) {
        const struct product *p = &products->item[i];
        int cell = cell_of(grid, p->shape);
        if (cell >= 0) timed[n++] = (struct timed){cell, p->launch, p->time_s};
    }
    if (n > 0) fr_sort_items(timed, n, sizeof *timed, by_cell);
    for (size_t i = 0; i < n; i = stop) {
        for (stop = i; stop < n && timed[stop].cell == timed[i].cell;) stop++;
        grid->time_s[timed[i].cell] = own_of_launches_s(speed, timed + i, stop - i, times_s);
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

/* ---- beyond the largest --------------------------------------------------------------------------- */

/* Appends how far each time of the largest size of an axis lies from that of the size before times the work, in
 * logarithms for each doubling. */
static size_t leave_out_largest(const struct fr_fit_gemm *g, int axis, double *error) {
    const int count[AXES] = {g->n_m, g->n_n, g->n_k};
    const int64_t *size = axis == 0 ? g->m : axis == 1 ? g->n : g->k;
    int last = count[axis] - 1, step = axis == 0 ? g->n_n * g->n_k : axis == 1 ? g->n_k : 1;
    size_t n = 0;
    if (last < 1) return 0;
    double nats = log((double)size[last] / (double)size[last - 1]);
    for (int cell = 0; cell < count[0] * count[1] * count[2]; cell++)
        if (cell / step % count[axis] == last)
            error[n++] =
                fabs(log(g->time_s[cell] / g->time_s[cell - step]) - nats) / nats * log(2);
    return n;
}

/* Spread that absolute errors with this median have, were they normal. */
static fr_status judge_beyond(struct fr_fit_gemm *g) {
    static const double NORMAL_MEDIAN = 0.6745, MOST = 10; /* that a cluster file may state */
    size_t n = 0;
    double *error = fr_malloc((size_t)(AXES * g->n_m * g->n_n * g->n_k), sizeof *error);
    if (!error) return FR_ERR_NOMEM;
    for (int axis = 0; axis < AXES; axis++) n += leave_out_largest(g, axis, error + n);
    fr_sort(error, n);
    g->beyond_octave = n > 0 ? fmin(fr_sorted_median(error, n) / NORMAL_MEDIAN, MOST) : 0;
    free(error);
    return FR_OK;
}

/* ---- tables ----------------------------------------------------------------------------------- */

static fr_status make_table(struct grid *grid, struct fr_fit_gemm *gemm) {
    double *room = fr_malloc((size_t)cells_of(grid), sizeof *room);
    if (!room) return FR_ERR_NOMEM;
    int measured = count_measured(grid);
    fill(grid, room);
    complete(grid);
    gemm->n_dropped = measured - count_measured(grid);
    free(room);
    if (grid->count[0] == 0) return FR_OK;
    FR_TRY(judge(grid, &gemm->quality));
    FR_TRY(keep(grid, gemm));
    return judge_beyond(gemm);
}

static void add_sizes(struct grid *grid, const struct products *products) {
    for (size_t i = 0; i < products->n; i++)
        for (int axis = 0; axis < AXES; axis++)
            add_size(grid, axis, products->item[i].shape[axis]);
}

fr_status fr_fit_gemm_table(const struct fr_samples *samples, const struct fr_fit_speed *speed,
                            fr_dtype dtype, struct fr_fit_gemm *gemm) {
    struct grid grid = {0};
    struct products products = {fr_malloc(samples->n_gemm + 1, sizeof *products.item), 0};
    if (!products.item) return FR_ERR_NOMEM;
    for (size_t i = 0; i < samples->n_gemm; i++) {
        const struct fr_sample_gemm *s = &samples->gemm[i];
        double slow = fr_fit_slowness(speed, speed->products, s->probe);
        if (s->dtype == dtype)
            products.item[products.n++] = (struct product){
                {s->m, s->n, s->k}, s->launch, fmax(s->time_s / slow, SHORTEST_S)};
    }
    add_sizes(&grid, &products);
    fr_status status = products.n > 0 ? take_times(&products, speed, &grid) : FR_OK;
    if (status == FR_OK && products.n > 0) status = make_table(&grid, gemm);
    free(products.item);
    free(grid.time_s);
    return status;
}

/* ---- from memory ------------------------------------------------------------------------------ */

static bool is_from_memory(const struct fr_sample_memory *s, double size_B) {
    return s->kernel == FR_TRAFFIC_OPERANDS && s->m > 0 && s->size_B > s->moved_B &&
           s->size_B >= size_B;
}

static double largest_set_B(const struct fr_samples *samples) {
    double size_B = 0;
    for (size_t i = 0; i < samples->n_memory; i++)
        if (is_from_memory(&samples->memory[i], size_B)) size_B = samples->memory[i].size_B;
    return size_B;
}

/* Time of a shape that @p g has, or 0. */
static double time_at_s(const struct fr_fit_gemm *g, const int64_t shape[AXES]) {
    int m = 0, n = 0, k = 0;
    while (m < g->n_m && g->m[m] != shape[0]) m++;
    while (n < g->n_n && g->n[n] != shape[1]) n++;
    while (k < g->n_k && g->k[k] != shape[2]) k++;
    if (m == g->n_m || n == g->n_n || k == g->n_k) return 0;
    return g->time_s[(m * g->n_n + n) * g->n_k + k];
}

static void take_large(struct grid *grid, const struct fr_fit_gemm *alone) {
    for (int cell = 0; cell < cells_of(grid); cell++) {
        int at[AXES];
        int64_t shape[AXES];
        bool large = true;
        index_of(grid, cell, at);
        for (int axis = 0; axis < AXES; axis++) {
            shape[axis] = grid->size[axis][at[axis]];
            large = large && shape[axis] >= FR_SAMPLE_LARGE;
        }
        if (large && !(grid->time_s[cell] > 0)) grid->taken_s[cell] = time_at_s(alone, shape);
    }
}

/* The few shapes that go through sets of every size are none. */
static bool is_grid(const struct fr_fit_gemm *g) {
    return g->n_m > 1 && g->n_n > 1 && g->n_k > 1;
}

fr_status fr_fit_gemm_from_memory(const struct fr_samples *samples,
                                  const struct fr_fit_speed *speed, struct fr_fit_gemm *alone,
                                  struct fr_fit_gemm *from_memory) {
    struct grid grid = {0};
    double size_B = largest_set_B(samples), slow = fr_fit_memory_slowness(speed);
    struct products products = {fr_malloc(samples->n_memory + 1, sizeof *products.item), 0};
    if (!products.item) return FR_ERR_NOMEM;
    for (size_t i = 0; i < samples->n_memory && alone->n_m > 0; i++) {
        const struct fr_sample_memory *s = &samples->memory[i];
        if (is_from_memory(s, size_B))
            products.item[products.n++] = (struct product){
                {s->m, s->n, s->k}, s->launch, fmax(s->time_s / slow, SHORTEST_S)};
    }
    add_sizes(&grid, &products);
    fr_status status = products.n > 0 ? take_times(&products, speed, &grid) : FR_OK;
    if (status == FR_OK && products.n > 0) {
        take_large(&grid, alone);
        status = make_table(&grid, from_memory);
    }
    if (!is_grid(from_memory)) fr_fit_gemm_free(from_memory);
    if (from_memory->n_m > 0) alone->beyond_octave = from_memory->beyond_octave;
    free(products.item);
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
