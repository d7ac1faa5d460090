/* Which k to train next: all that were asked for, or rungs of a ladder around the best so far. */
#include <inttypes.h>
#include <math.h>

#include "real/iterations/cells.h"

enum { RUNGS_MAX = 32 };

int64_t fr_ladder_most(int64_t width, int64_t p) {
    if (p < 2 || width % p != 0) return 0;
    double limit = (double)width / (double)p * (1 - 1 / (double)p);
    return (int64_t)ceil(limit) - 1;
}

/* 1, 2, 4, ... and the largest. */
static int make_rungs(int64_t most, int64_t rung[RUNGS_MAX]) {
    int n = 0;
    for (int64_t k = 1; k < most && n < RUNGS_MAX - 1; k *= 2) rung[n++] = k;
    if (most > 0) rung[n++] = most;
    return n;
}

static int find_rung(const int64_t *rung, int n, int64_t ghost) {
    int i = 0;
    while (i < n - 1 && rung[i] < ghost) i++;
    return i;
}

static bool tried(const struct fr_trained *rows, int n_rows, int64_t p, int64_t ghost) {
    for (int i = 0; i < n_rows; i++)
        if (rows[i].tp == p && rows[i].ghost == ghost) return true;
    return false;
}

/* Rungs at p: three in the middle, then the best one's neighbours; while none reached the
 * loss, the next larger, since more ghost neurons can represent more. */
static fr_status climb(const struct fr_training_options *o, const struct fr_trained *rows,
                       int n_rows, const struct fr_best_ghost *best_so_far, int64_t p,
                       struct fr_cells *cells, struct fr_error *err) {
    int64_t rung[RUNGS_MAX];
    int n = make_rungs(fr_ladder_most(o->width, p), rung), middle = n / 2, top = -1;
    struct fr_best_ghost best = *best_so_far;
    for (int i = 0; i < n; i++)
        if (tried(rows, n_rows, p, rung[i])) top = i;
    if (best.row)
        middle = find_rung(rung, n, best.row->ghost);
    else if (top >= 0)
        middle = top;
    for (int i = middle - 1; i <= middle + 1; i++)
        if (i >= 0 && i < n) FR_TRY(fr_training_want(cells, o, p, rung[i], err));
    return FR_OK;
}

/* By energy, and by iterations times parameters too: what is best on one machine need not be on
 * another, and the table serves both. */
static fr_status climb_both(const struct fr_training_options *o, const struct fr_trained *rows,
                            int n_rows, int64_t p, struct fr_cells *cells,
                            struct fr_error *err) {
    struct fr_training_options unpriced = *o;
    unpriced.cluster = NULL;
    struct fr_best_ghost by_energy = fr_training_best(o, rows, n_rows, p),
                         by_work = fr_training_best(&unpriced, rows, n_rows, p);
    if (!by_energy.unpriced[0] || by_energy.row)
        FR_TRY(climb(o, rows, n_rows, &by_energy, p, cells, err));
    return climb(o, rows, n_rows, &by_work, p, cells, err);
}

static fr_status every(const struct fr_training_options *o, int64_t p, struct fr_cells *cells,
                       struct fr_error *err) {
    for (size_t j = 0; j < o->n_ghost; j++)
        if (o->ghost[j] <= fr_ladder_most(o->width, p))
            FR_TRY(fr_training_want(cells, o, p, o->ghost[j], err));
    return FR_OK;
}

fr_status fr_ladder_next(const struct fr_training_options *o, const struct fr_trained *rows,
                         int n_rows, struct fr_cells *cells, bool *more, struct fr_error *err) {
    int before = cells->n, phantom = 0;
    FR_TRY(fr_training_want(cells, o, 1, 0, err));
    for (size_t i = 0; i < o->n_tp; i++)
        FR_TRY(o->n_ghost ? every(o, o->tp[i], cells, err)
                          : climb_both(o, rows, n_rows, o->tp[i], cells, err));
    *more = cells->n > before;
    for (int i = 0; i < cells->n; i++) phantom += cells->items[i].tp > 1;
    if (phantom > 0) return FR_OK;
    return fr_fail(err, FR_ERR_INPUT, o->n_ghost ? "--ghost" : "--tp",
                   "none of them fits a width of %" PRId64 ": k must be below (n/p)(1 - 1/p), "
                   "and p divide n",
                   o->width);
}
