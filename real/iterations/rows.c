/* Results of trainings over seeds, and which k is best. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "answer/outcome/report.h"
#include "base/alloc.h"
#include "base/sort.h"
#include "real/iterations/cells.h"
#include "trust/numbers/statistics.h"

static bool same(const struct fr_trained *row, const struct fr_cell *cell) {
    return row->tp == cell->tp && row->ghost == cell->ghost;
}

static int by_tp_and_ghost(const void *a, const void *b) {
    const struct fr_trained *x = a, *y = b;
    if (x->tp != y->tp) return FR_ORDER(x->tp, y->tp);
    return FR_ORDER(x->ghost, y->ghost);
}

static void add_cell(struct fr_trained *row, const struct fr_cell *cell, double *reached) {
    row->n_seeds++;
    row->parameters = cell->parameters;
    row->train_s += cell->train_s;
    if (cell->iterations > 0) {
        reached[row->n_reached++] = cell->iterations;
        return;
    }
    row->loss = fmin(row->loss, cell->lowest); /* fmin and fmax pass over NaN */
    row->gave_up = fmax(row->gave_up, cell->steps);
}

static void summarise(struct fr_trained *row, const struct fr_cells *cells, double *reached) {
    row->iterations = row->low = row->high = row->loss = row->gave_up = NAN;
    for (int i = 0; i < cells->n; i++)
        if (cells->items[i].done && same(row, &cells->items[i]))
            add_cell(row, &cells->items[i], reached);
    size_t n = (size_t)row->n_reached;
    if (n == 0) return;
    fr_sort(reached, n);
    row->iterations = fr_sorted_median(reached, n);
    row->low = reached[0];
    row->high = reached[n - 1];
}

fr_status fr_training_rows(const struct fr_cells *cells, struct fr_trained **rows, int *n_rows,
                           struct fr_error *err) {
    double *reached = fr_calloc((size_t)cells->n + 1, sizeof *reached);
    *rows = fr_calloc((size_t)cells->n + 1, sizeof **rows);
    *n_rows = 0;
    if (!reached || !*rows) {
        free(reached);
        return fr_fail(err, FR_ERR_NOMEM, NULL, "%d trainings", cells->n);
    }
    for (int i = 0; i < cells->n; i++) {
        const struct fr_cell *cell = &cells->items[i];
        int j = 0;
        while (j < *n_rows && !same(&(*rows)[j], cell)) j++;
        if (j < *n_rows || !cell->done) continue;
        (*rows)[(*n_rows)++] = (struct fr_trained){.tp = cell->tp, .ghost = cell->ghost};
    }
    for (int j = 0; j < *n_rows; j++) summarise(&(*rows)[j], cells, reached);
    fr_sort_items(*rows, (size_t)*n_rows, sizeof **rows, by_tp_and_ghost);
    free(reached);
    return FR_OK;
}

/* ---- the best k ------------------------------------------------------------------------------ */

/* An iteration of @p row on @p p ranks, and in words why it has no price. */
static double price(const struct fr_training_options *o, const struct fr_trained *row,
                    int64_t p, char *why, size_t capacity) {
    struct fr_job job = {.cluster = *o->cluster};
    struct fr_plan plan = fr_plan_default();
    struct fr_outcome out;
    struct fr_text text = {0};
    if (fr_training_workload(o, &job.workload, NULL) != FR_OK) return NAN;
    plan.method = fr_trained_method(row);
    plan.tp = p;
    plan.ghost = row->ghost;
    fr_cost(&job, &plan, &out);
    for (int r = 0; out.reasons >> r; r++)
        if (out.reasons >> r & 1 && !text.length) fr_report_reason(&job, &out, r, &text);
    snprintf(why, capacity, "%s",
             text.length ? fr_text_get(&text) : "the cluster states no power of its device");
    fr_text_free(&text);
    fr_workload_free(&job.workload);
    return out.reasons ? NAN : out.energy_J;
}

double fr_training_cost(const struct fr_training_options *o, const struct fr_trained *row,
                        int64_t p) {
    char why[8];
    return o->cluster ? price(o, row, p, why, sizeof why) : row->parameters;
}

struct fr_best_ghost fr_training_best(const struct fr_training_options *o,
                                      const struct fr_trained *rows, int n_rows, int64_t p) {
    struct fr_best_ghost best = {.total = INFINITY};
    for (int i = 0; i < n_rows; i++) {
        const struct fr_trained *row = &rows[i];
        if (row->tp != p || p == 1 || row->n_seeds == 0 || row->n_reached < row->n_seeds)
            continue;
        double total = row->iterations * fr_training_cost(o, row, p);
        if (isnan(total) && !best.unpriced[0])
            price(o, row, p, best.unpriced, sizeof best.unpriced);
        if (!(total < best.total)) continue;
        best.total = total;
        best.row = row;
    }
    for (int i = 0; best.row && i < n_rows; i++) {
        if (rows[i].tp != p) continue;
        best.below = best.below || rows[i].ghost < best.row->ghost;
        best.above = best.above || rows[i].ghost > best.row->ghost;
    }
    if (!best.row) return best;
    best.smallest = best.row->ghost == 1;
    best.largest = best.row->ghost == fr_ladder_most(o->width, p);
    return best;
}

const char *fr_best_ghost_text(const struct fr_best_ghost *best, char *out, size_t capacity) {
    const char *why = "a minimum: smaller and larger k cost more";
    if (!best->row && best->unpriced[0]) {
        snprintf(out, capacity, "not known: the energy of an iteration is not, since %s",
                 best->unpriced);
        return out;
    }
    if (!best->row)
        why = "none: no k reached the loss with every seed";
    else if (best->largest)
        why = "the largest that Eq. 8 allows: no minimum inside";
    else if (best->smallest)
        why = "the smallest there is: no minimum inside";
    else if (!best->above)
        why = "the largest tried: the minimum may lie above";
    else if (!best->below)
        why = "the smallest tried: the minimum may lie below";
    snprintf(out, capacity, "%s", why);
    return out;
}
