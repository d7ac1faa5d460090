/* Own times of matrix products on the largest full grid that the samples cover: of operands used just
 * before, of those with one of them transposed, and of operands that come from memory. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "calibrate/fit/gemm_grid.h"
#include "calibrate/fit/parts.h"
#include "trust/numbers/statistics.h"

static const double SHORTEST_S = 1e-12; /* as of samples */

/* One timing of a shape, by what the machine's speed then was. */
struct product {
    int64_t shape[FR_GRID_AXES];
    int64_t launch;
    double time_s;
};

/* Of one table, in the order of the file. */
struct products {
    struct product *item;
    size_t n;
};

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
                            struct fr_gemm_grid *grid) {
    size_t n = 0, stop, cells = (size_t)(grid->count[0] * grid->count[1] * grid->count[2]);
    struct timed *timed = fr_calloc(products->n, sizeof *timed);
    double *times_s = fr_calloc(products->n, sizeof *times_s);
    grid->time_s = fr_calloc(2 * cells, sizeof *grid->time_s);
    grid->taken_s = grid->time_s + cells;
    fr_status status = timed && times_s && grid->time_s ? FR_OK : FR_ERR_NOMEM;
    for (size_t i = 0; status == FR_OK && i < products->n; i++) {
        const struct product *p = &products->item[i];
        int cell = fr_grid_cell_of(grid, p->shape);
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

/* Every measured point that has two measured neighbours on some axis is interpolated without itself,
 * over a gap at least twice as wide as the table's; so this is an upper estimate of the table's own
 * error. */
static fr_status judge(const struct fr_gemm_grid *grid, struct fr_fit_quality *quality) {
    size_t cells = (size_t)fr_grid_cells(grid);
    double *predicted_s = fr_calloc(2 * cells, sizeof *predicted_s),
           *measured_s = predicted_s + cells;
    int n = 0;
    if (!predicted_s) return FR_ERR_NOMEM;
    for (int cell = 0; cell < (int)cells; cell++) {
        if (!(grid->time_s[cell] > 0)) continue;
        predicted_s[n] = fr_grid_from_neighbours_s(grid, grid->time_s, cell);
        measured_s[n] = grid->time_s[cell];
        n += predicted_s[n] > 0;
    }
    fr_status status = fr_fit_measure(predicted_s, measured_s, n, quality);
    free(predicted_s);
    return status;
}

static int count_measured(const struct fr_gemm_grid *grid) {
    int n = 0;
    for (int i = 0; i < fr_grid_cells(grid); i++) n += grid->time_s[i] > 0;
    return n;
}

static int64_t *copy_axis(const struct fr_gemm_grid *grid, int axis) {
    int64_t *copy = fr_calloc((size_t)grid->count[axis], sizeof *copy);
    for (int i = 0; copy && i < grid->count[axis]; i++) copy[i] = grid->size[axis][i];
    return copy;
}

static fr_status keep(struct fr_gemm_grid *grid, struct fr_fit_gemm *gemm) {
    gemm->m = copy_axis(grid, 0);
    gemm->n = copy_axis(grid, 1);
    gemm->k = copy_axis(grid, 2);
    if (!gemm->m || !gemm->n || !gemm->k) return FR_ERR_NOMEM;
    gemm->n_m = grid->count[0];
    gemm->n_n = grid->count[1];
    gemm->n_k = grid->count[2];
    gemm->time_s = grid->time_s;
    for (int i = 0; i < fr_grid_cells(grid); i++)
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
    const int count[FR_GRID_AXES] = {g->n_m, g->n_n, g->n_k};
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
    double *error = fr_malloc((size_t)(FR_GRID_AXES * g->n_m * g->n_n * g->n_k), sizeof *error);
    if (!error) return FR_ERR_NOMEM;
    for (int axis = 0; axis < FR_GRID_AXES; axis++) n += leave_out_largest(g, axis, error + n);
    fr_sort(error, n);
    g->beyond_octave = n > 0 ? fmin(fr_sorted_median(error, n) / NORMAL_MEDIAN, MOST) : 0;
    free(error);
    return FR_OK;
}

/* ---- tables ----------------------------------------------------------------------------------- */

static fr_status make_table(struct fr_gemm_grid *grid, struct fr_fit_gemm *gemm) {
    double *scratch = fr_malloc((size_t)fr_grid_cells(grid), sizeof *scratch);
    if (!scratch) return FR_ERR_NOMEM;
    int measured = count_measured(grid);
    fr_grid_fill(grid, scratch);
    fr_grid_complete(grid);
    gemm->n_dropped = measured - count_measured(grid);
    free(scratch);
    if (grid->count[0] == 0) return FR_OK;
    FR_TRY(judge(grid, &gemm->quality));
    FR_TRY(keep(grid, gemm));
    return judge_beyond(gemm);
}

static void add_sizes(struct fr_gemm_grid *grid, const struct products *products) {
    for (size_t i = 0; i < products->n; i++)
        for (int axis = 0; axis < FR_GRID_AXES; axis++)
            fr_grid_add_size(grid, axis, products->item[i].shape[axis]);
}

/* Time of a shape that @p g has, or 0. */
static double time_at_s(const struct fr_fit_gemm *g, const int64_t shape[FR_GRID_AXES]) {
    int m = 0, n = 0, k = 0;
    while (m < g->n_m && g->m[m] != shape[0]) m++;
    while (n < g->n_n && g->n[n] != shape[1]) n++;
    while (k < g->n_k && g->k[k] != shape[2]) k++;
    if (m == g->n_m || n == g->n_n || k == g->n_k) return 0;
    return g->time_s[(m * g->n_n + n) * g->n_k + k];
}

/* Times that are not measured where all dimensions of a shape are at least `from`: as in another table. */
struct rest {
    const struct fr_fit_gemm *table;
    int64_t from;
};

static void shape_of(const struct fr_gemm_grid *grid, int cell, int64_t shape[FR_GRID_AXES]) {
    int at[FR_GRID_AXES];
    fr_grid_index_of(grid, cell, at);
    for (int axis = 0; axis < FR_GRID_AXES; axis++) shape[axis] = grid->size[axis][at[axis]];
}

static void take_rest(struct fr_gemm_grid *grid, const struct rest *rest) {
    for (int cell = 0; cell < fr_grid_cells(grid); cell++) {
        int64_t shape[FR_GRID_AXES];
        bool large = true;
        shape_of(grid, cell, shape);
        for (int axis = 0; axis < FR_GRID_AXES; axis++)
            large = large && shape[axis] >= rest->from;
        if (large && !(grid->time_s[cell] > 0))
            grid->taken_s[cell] = time_at_s(rest->table, shape);
    }
}

/* Times over those of a table that has all sizes of the grid, while holes are filled: a ratio changes little from shape
 * to shape. */
static void divide(struct fr_gemm_grid *grid, const struct fr_fit_gemm *over) {
    for (int cell = 0; cell < fr_grid_cells(grid); cell++) {
        int64_t shape[FR_GRID_AXES];
        shape_of(grid, cell, shape);
        grid->time_s[cell] /= time_at_s(over, shape);
        grid->taken_s[cell] /= time_at_s(over, shape);
    }
}

static void multiply(struct fr_fit_gemm *gemm, const struct fr_fit_gemm *by) {
    for (int i = 0; i < gemm->n_m * gemm->n_n * gemm->n_k; i++) {
        const int64_t shape[] = {gemm->m[i / (gemm->n_n * gemm->n_k)],
                                 gemm->n[i / gemm->n_k % gemm->n_n], gemm->k[i % gemm->n_k]};
        gemm->time_s[i] *= time_at_s(by, shape);
    }
}

/* @param rest, over  or NULL: nothing, and times as they are */
static fr_status tabulate(const struct products *products, const struct fr_fit_speed *speed,
                          const struct rest *rest, const struct fr_fit_gemm *over,
                          struct fr_fit_gemm *gemm) {
    struct fr_gemm_grid grid = {0};
    if (products->n == 0) return FR_OK;
    add_sizes(&grid, products);
    fr_status status = take_times(products, speed, &grid);
    if (status == FR_OK && rest) take_rest(&grid, rest);
    if (status == FR_OK && over) divide(&grid, over);
    if (status == FR_OK) status = make_table(&grid, gemm);
    if (status == FR_OK && over) multiply(gemm, over);
    free(grid.time_s);
    return status;
}

/* A file of before does not say how operands lie. */
static bool says(const struct fr_samples *samples, fr_dtype dtype) {
    for (size_t i = 0; i < samples->n_gemm; i++)
        if (samples->gemm[i].dtype == dtype && samples->gemm[i].transposed) return true;
    return false;
}

/* A full table has every shape of the sizes that it has. */
static bool in(const struct fr_fit_gemm *table, const struct fr_sample_gemm *s) {
    return !table || time_at_s(table, (const int64_t[]){s->m, s->n, s->k}) > 0;
}

static fr_status alone_table(const struct fr_samples *samples, const struct fr_fit_speed *speed,
                             fr_dtype dtype, fr_transposed transposed, const struct rest *rest,
                             const struct fr_fit_gemm *over, struct fr_fit_gemm *gemm) {
    struct products products = {fr_malloc(samples->n_gemm + 1, sizeof *products.item), 0};
    if (!products.item) return FR_ERR_NOMEM;
    for (size_t i = 0; i < samples->n_gemm; i++) {
        const struct fr_sample_gemm *s = &samples->gemm[i];
        double slow = fr_fit_slowness(speed, speed->products, s->probe);
        if (s->dtype == dtype && s->transposed == (int)transposed && in(over, s))
            products.item[products.n++] = (struct product){
                {s->m, s->n, s->k}, s->launch, fmax(s->time_s / slow, SHORTEST_S)};
    }
    fr_status status = tabulate(&products, speed, rest, over, gemm);
    free(products.item);
    return status;
}

fr_status fr_fit_gemm_table(const struct fr_samples *samples, const struct fr_fit_speed *speed,
                            fr_dtype dtype, struct fr_fit_gemm *gemm) {
    fr_transposed none = says(samples, dtype) ? FR_TRANSPOSED_NONE : FR_TRANSPOSED_MIXED;
    return alone_table(samples, speed, dtype, none, NULL, NULL, gemm);
}

/* ---- from memory ------------------------------------------------------------------------------ */

static bool is_from_memory(const struct fr_sample_memory *s, bool adds, double size_B) {
    return s->kernel == FR_TRAFFIC_OPERANDS && s->adds == adds && s->m > 0 &&
           s->size_B > s->moved_B && s->size_B >= size_B;
}

static double largest_set_B(const struct fr_samples *samples, bool adds) {
    double size_B = 0;
    for (size_t i = 0; i < samples->n_memory; i++)
        if (is_from_memory(&samples->memory[i], adds, size_B))
            size_B = samples->memory[i].size_B;
    return size_B;
}

/* The few shapes that go through sets of every size are none. */
static bool is_grid(const struct fr_fit_gemm *g) {
    return g->n_m > 1 && g->n_n > 1 && g->n_k > 1;
}

static fr_status memory_table(const struct fr_samples *samples,
                              const struct fr_fit_speed *speed, bool adds,
                              const struct rest *rest, struct fr_fit_gemm *from_memory) {
    double size_B = largest_set_B(samples, adds), slow = fr_fit_memory_slowness(speed);
    struct products products = {fr_malloc(samples->n_memory + 1, sizeof *products.item), 0};
    if (!products.item) return FR_ERR_NOMEM;
    for (size_t i = 0; i < samples->n_memory; i++) {
        const struct fr_sample_memory *s = &samples->memory[i];
        if (is_from_memory(s, adds, size_B))
            products.item[products.n++] = (struct product){
                {s->m, s->n, s->k}, s->launch, fmax(s->time_s / slow, SHORTEST_S)};
    }
    fr_status status = tabulate(&products, speed, rest, NULL, from_memory);
    if (!is_grid(from_memory)) fr_fit_gemm_free(from_memory);
    free(products.item);
    return status;
}

fr_status fr_fit_gemm_from_memory(const struct fr_samples *samples,
                                  const struct fr_fit_speed *speed, struct fr_fit_gemm *alone,
                                  struct fr_fit_gemm *from_memory) {
    const struct rest rest = {alone, FR_SAMPLE_LARGE};
    if (alone->n_m == 0) return FR_OK;
    FR_TRY(memory_table(samples, speed, false, &rest, from_memory));
    if (from_memory->n_m > 0) alone->beyond_octave = from_memory->beyond_octave;
    return FR_OK;
}

fr_status fr_fit_gemm_adds(const struct fr_samples *samples, const struct fr_fit_speed *speed,
                           struct fr_fit_gemm *adds) {
    return memory_table(samples, speed, true, NULL, adds);
}

fr_status fr_fit_gemm_transposed(const struct fr_samples *samples,
                                 const struct fr_fit_speed *speed, fr_transposed transposed,
                                 const struct fr_fit_gemm *none, struct fr_fit_gemm *gemm) {
    const struct rest rest = {none, FR_SAMPLE_PLAIN};
    FR_TRY(alone_table(samples, speed, FR_FP32, transposed, &rest, none, gemm));
    if (!is_grid(gemm)) fr_fit_gemm_free(gemm);
    return FR_OK;
}

void fr_fit_gemm_free(struct fr_fit_gemm *gemm) {
    free(gemm->m);
    free(gemm->n);
    free(gemm->k);
    free(gemm->time_s);
    *gemm = (struct fr_fit_gemm){0};
}
