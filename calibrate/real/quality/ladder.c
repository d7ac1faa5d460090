/* What to train next: rates on the seed that is for that, then seeds at the best rate. */
#include <math.h>

#include "calibrate/real/quality/cells.h"

static void insert(struct fr_quality_row *row, double rate, double loss) {
    int at = row->n_tried++;
    for (; at > 0 && row->tried[at - 1] > rate; at--) {
        row->tried[at] = row->tried[at - 1];
        row->tried_loss[at] = row->tried_loss[at - 1];
    }
    row->tried[at] = rate;
    row->tried_loss[at] = loss;
}

/* Of equal ones the smallest rate; -1: all diverged. */
static int best_of(const struct fr_quality_row *row) {
    int best = -1;
    for (int i = 0; i < row->n_tried; i++)
        if (isfinite(row->tried_loss[i]) &&
            (best < 0 || row->tried_loss[i] < row->tried_loss[best]))
            best = i;
    return best;
}

/* Is there a rate tried on both sides of the best, or no room for more? */
static bool settled(const struct fr_quality_row *row, int best) {
    bool inside = best > 0 && best < row->n_tried - 1;
    return best >= 0 && (inside || row->n_tried == FR_QUALITY_RATES_MAX || row->n_tried == 1);
}

void fr_quality_rates(const struct fr_quality_cells *cells, const struct fr_quality_options *o,
                      struct fr_quality_row *row) {
    int last = fr_quality_points(o) - 1;
    bool all = true;
    row->n_tried = 0;
    row->rate = NAN;
    for (int i = 0; i < cells->n; i++) {
        const struct fr_quality_cell *c = &cells->items[i];
        if (c->plan != row->plan || c->seed != 0) continue;
        if (!c->done)
            all = false;
        else if (row->n_tried < FR_QUALITY_RATES_MAX)
            insert(row, c->rate, c->loss[last]);
    }
    int best = best_of(row);
    if (all && settled(row, best)) row->rate = row->tried[best];
}

/* The rate beyond the end at which the best is; all diverged: below the smallest. */
static double beyond(const struct fr_quality_row *row) {
    int best = best_of(row), last = row->n_tried - 1;
    double step = row->tried[1] / row->tried[0];
    if (best == last) return row->tried[last] * step;
    return row->tried[0] / step;
}

static fr_status next_of(const struct fr_quality_options *o, int plan,
                         struct fr_quality_cells *cells, struct fr_error *err) {
    struct fr_quality_row row = {.plan = plan};
    for (int i = 0; i < o->n_rates; i++)
        FR_TRY(fr_quality_want(cells, o, plan, o->rates[i], 0, err));
    fr_quality_rates(cells, o, &row);
    if (row.n_tried < o->n_rates) return FR_OK;
    for (int64_t seed = 1; seed <= o->seeds && row.rate > 0; seed++)
        FR_TRY(fr_quality_want(cells, o, plan, row.rate, seed, err));
    if (row.rate > 0 || row.n_tried < 2 || row.n_tried == FR_QUALITY_RATES_MAX) return FR_OK;
    return fr_quality_want(cells, o, plan, beyond(&row), 0, err);
}

fr_status fr_quality_next(const struct fr_quality_options *o, struct fr_quality_cells *cells,
                          bool *more, struct fr_error *err) {
    int before = cells->n;
    for (int plan = 0; plan < o->n_plans; plan++) FR_TRY(next_of(o, plan, cells, err));
    *more = cells->n > before || cells->n_done < cells->n;
    return FR_OK;
}
