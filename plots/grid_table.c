#include "plots/grid_table.h"

#include <math.h>
#include <string.h>

#include "models/plan/method.h"

static bool is_grid(const struct fr_result *r) { return FR_METHOD_IS(r->method, grids); }

/* Insert @p value into an ascending list; when it is full the smallest goes if @p keep_large,
 * else the largest. */
static void insert(int64_t *list, int *n, int max, bool keep_large, int64_t value) {
    int at = 0;
    while (at < *n && list[at] < value) at++;
    if (at < *n && list[at] == value) return;
    if (*n == max && keep_large && at == 0) return;
    if (*n == max && !keep_large && at == max) return;
    if (*n == max && keep_large) {
        memmove(list, list + 1, (max - 1) * sizeof *list);
        at--, (*n)--;
    }
    if (*n == max) (*n)--;
    memmove(list + at + 1, list + at, (*n - at) * sizeof *list);
    list[at] = value;
    (*n)++;
}

static int find(const int64_t *list, int n, int64_t value) {
    for (int i = 0; i < n; i++)
        if (list[i] == value) return i;
    return -1;
}

double fr_grid_table_s(const struct fr_grid_table *t, int row, int column) {
    return t->cell[row][column] ? t->cell[row][column]->iteration_time_s : (double)INFINITY;
}

static void choose_unit(struct fr_grid_table *t) {
    double least_s = (double)INFINITY;
    for (int i = 0; i < t->n_rows; i++)
        least_s = fmin(least_s, fr_grid_table_s(t, i, t->best[i]));
    t->unit = least_s < 1e-4 ? "us" : least_s < 10 ? "ms" : "s";
    t->unit_s = least_s < 1e-4 ? 1e-6 : least_s < 10 ? 1e-3 : 1;
}

/* A row whose grids all lie beyond the last column would be empty. */
static void drop_empty_rows(struct fr_grid_table *t) {
    int kept = 0;
    for (int i = 0; i < t->n_rows; i++) {
        bool any = false;
        for (int j = 0; j < t->n_columns; j++) any = any || t->cell[i][j];
        if (!any) continue;
        t->row[kept] = t->row[i];
        memmove(t->cell[kept++], t->cell[i], sizeof t->cell[i]);
    }
    t->n_rows = kept;
}

void fr_grid_table_fill(const struct fr_results *results, struct fr_grid_table *t) {
    *t = (struct fr_grid_table){0};
    for (size_t i = 0; i < results->count; i++) {
        const struct fr_result *r = &results->items[i];
        if (!is_grid(r)) continue;
        insert(t->row, &t->n_rows, FR_GRID_ROWS_MAX, true, r->ranks);
        insert(t->column, &t->n_columns, FR_GRID_COLUMNS_MAX, false, r->tp);
    }
    for (size_t i = 0; i < results->count; i++) {
        const struct fr_result *r = &results->items[i];
        int row = find(t->row, t->n_rows, r->ranks);
        int column = find(t->column, t->n_columns, r->tp);
        if (!is_grid(r)) continue;
        if (row < 0 || column < 0)
            t->left_out++;
        else if (r->iteration_time_s < fr_grid_table_s(t, row, column))
            t->cell[row][column] = r;
    }
    drop_empty_rows(t);
    for (int i = 0; i < t->n_rows; i++)
        for (int j = 0; j < t->n_columns; j++)
            if (fr_grid_table_s(t, i, j) < fr_grid_table_s(t, i, t->best[i])) t->best[i] = j;
    choose_unit(t);
}
