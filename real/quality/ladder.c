/* What to train next: rates on the seeds that are for that, then seeds at the best rate. */
#include <math.h>

#include "real/quality/cells.h"

/* Losses of a rate are added up, and where there are none yet it takes its place. */
static void add(struct fr_quality_row *row, int *n, double rate, double loss) {
    int at = 0;
    while (at < row->n_tried && row->tried[at] < rate) at++;
    if (at == row->n_tried || row->tried[at] != rate) {
        if (row->n_tried == FR_QUALITY_RATES_MAX) return;
        for (int i = row->n_tried++; i > at; i--) {
            row->tried[i] = row->tried[i - 1];
            row->tried_loss[i] = row->tried_loss[i - 1];
            n[i] = n[i - 1];
        }
        row->tried[at] = rate;
        row->tried_loss[at] = n[at] = 0;
    }
    row->tried_loss[at] += loss;
    n[at]++;
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
static bool resolved(const struct fr_quality_row *row, int best) {
    bool inside = best > 0 && best < row->n_tried - 1;
    return best >= 0 && (inside || row->n_tried == FR_QUALITY_RATES_MAX);
}

void fr_quality_rates(const struct fr_cells *cells, const struct fr_quality_options *o,
                      struct fr_quality_row *row) {
    int last = fr_quality_points(o) - 1, n[FR_QUALITY_RATES_MAX] = {0};
    bool all = true;
    row->n_tried = 0;
    row->rate = NAN;
    for (int i = 0; i < cells->n; i++) {
        const struct fr_cell *c = &cells->items[i];
        if (c->plan != row->plan || !fr_quality_is_tuning(c->seed)) continue;
        all = all && c->done;
        if (c->done) add(row, n, c->rate, c->loss[last]);
    }
    for (int i = 0; i < row->n_tried; i++) row->tried_loss[i] /= n[i];
    int best = best_of(row);
    if (o->n_rates == 1)
        row->rate = o->rates[0];
    else if (all && resolved(row, best))
        row->rate = row->tried[best];
}

/* The rate beyond the end at which the best is; all diverged: below the smallest. */
static double beyond(const struct fr_quality_row *row) {
    int best = best_of(row), last = row->n_tried - 1;
    double step = row->tried[1] / row->tried[0];
    if (best == last) return row->tried[last] * step;
    return row->tried[0] / step;
}

static fr_status try_rate(const struct fr_quality_options *o, int plan, double rate,
                          struct fr_cells *cells, struct fr_error *err) {
    for (int i = 0; i < FR_QUALITY_TUNINGS; i++)
        FR_TRY(fr_quality_want(cells, o, plan, rate, fr_quality_tuning_seed(i), err));
    return FR_OK;
}

/* A rate that is given alone is taken as it is. */
static fr_status next_of(const struct fr_quality_options *o, int plan, struct fr_cells *cells,
                         struct fr_error *err) {
    struct fr_quality_row row = {.plan = plan};
    for (int i = 0; o->n_rates > 1 && i < o->n_rates; i++)
        FR_TRY(try_rate(o, plan, o->rates[i], cells, err));
    fr_quality_rates(cells, o, &row);
    if (row.n_tried < o->n_rates && o->n_rates > 1) return FR_OK;
    for (int64_t seed = 1; seed <= o->seeds && row.rate > 0; seed++)
        FR_TRY(fr_quality_want(cells, o, plan, row.rate, seed, err));
    if (row.rate > 0 || row.n_tried < 2 || row.n_tried == FR_QUALITY_RATES_MAX) return FR_OK;
    return try_rate(o, plan, beyond(&row), cells, err);
}

fr_status fr_quality_next(const struct fr_quality_options *o, struct fr_cells *cells,
                          bool *more, struct fr_error *err) {
    int before = cells->n;
    for (int plan = 0; plan < o->n_plans; plan++) FR_TRY(next_of(o, plan, cells, err));
    *more = cells->n > before || fr_cells_done(cells) < cells->n;
    return FR_OK;
}
