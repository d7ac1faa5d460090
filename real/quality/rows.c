/* What trainings say, over seeds. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "real/quality/cells.h"

static const double CONFIDENCE = 0.95;

struct fr_quality_mean fr_quality_mean_of(const double *x, int n, double confidence) {
    struct fr_quality_mean m = {0, NAN, NAN};
    double squares = 0;
    for (int i = 0; i < n; i++) m.mean += x[i] / n;
    for (int i = 0; i < n; i++) squares += (x[i] - m.mean) * (x[i] - m.mean);
    if (n == 0) m.mean = NAN;
    if (n < 2 || !isfinite(m.mean)) return m;
    double half =
        gsl_cdf_tdist_Qinv((1 - confidence) / 2, n - 1) * sqrt(squares / ((double)n * (n - 1)));
    m.low = m.mean - half;
    m.high = m.mean + half;
    return m;
}

double fr_quality_reached(const struct fr_quality_options *o, const double *loss) {
    int n = fr_quality_points(o), i = 0;
    while (i < n && !(loss[i] <= o->target)) i++;
    if (i == n || i == 0) return i == 0 ? 1 : NAN;
    double share = (loss[i - 1] - o->target) / (loss[i - 1] - loss[i]);
    return (double)o->every * (i - 1 + share);
}

static const struct fr_cell *find(const struct fr_cells *cells,
                                  const struct fr_quality_row *row, int64_t seed) {
    for (int i = 0; i < cells->n; i++) {
        const struct fr_cell *c = &cells->items[i];
        if (c->done && c->plan == row->plan && c->rate == row->rate && c->seed == seed)
            return c;
    }
    return NULL;
}

/* At one evaluation, over the seeds that are done. */
static struct fr_quality_mean at_point(const struct fr_quality_options *o,
                                       const struct fr_cells *cells,
                                       const struct fr_quality_row *row, int point,
                                       double *scratch) {
    int n = 0;
    for (int64_t seed = 1; seed <= o->seeds; seed++) {
        const struct fr_cell *c = find(cells, row, seed);
        if (c) scratch[n++] = c->loss[point];
    }
    return fr_quality_mean_of(scratch, n, CONFIDENCE);
}

static void add_seeds(const struct fr_quality_options *o, const struct fr_cells *cells,
                      struct fr_quality_row *row, double *scratch) {
    int last = fr_quality_points(o) - 1;
    for (int64_t i = 0; i < o->seeds; i++) {
        const struct fr_cell *c = find(cells, row, i + 1);
        row->loss_of[i] = c ? c->loss[last] : NAN;
        row->iterations_of[i] = c ? fr_quality_reached(o, c->loss) : NAN;
        row->n_seeds += c != NULL;
        if (c) row->sent_B = c->sent_B;
        if (row->iterations_of[i] > 0) scratch[row->n_reached++] = log(row->iterations_of[i]);
    }
    struct fr_quality_mean m = fr_quality_mean_of(scratch, row->n_reached, CONFIDENCE);
    /* A mean of only those seeds that reached the loss would flatter. */
    if (row->n_reached < row->n_seeds || row->n_reached == 0)
        m = fr_quality_mean_of(NULL, 0, 0);
    row->steps = (struct fr_quality_mean){exp(m.mean), exp(m.low), exp(m.high)};
}

/* Of the seeds that did not diverge: what they saw of it since then is nothing. */
static fr_status observe(const struct fr_quality_options *o, const struct fr_cells *cells,
                         struct fr_quality_row *row, struct fr_error *err) {
    const struct fr_cell **done = fr_calloc((size_t)o->seeds, sizeof *done);
    int n = 0, last = fr_quality_points(o) - 1;
    if (!done) return fr_fail(err, FR_ERR_NOMEM, NULL, "seeds");
    for (int64_t seed = 1; seed <= o->seeds; seed++) {
        const struct fr_cell *c = find(cells, row, seed);
        if (c && isfinite(c->loss[last])) done[n++] = c;
    }
    fr_status status = fr_quality_observe(done, n, row, err);
    free(done);
    return status;
}

static fr_status make(const struct fr_quality_options *o, const struct fr_cells *cells,
                      struct fr_quality_row *row, struct fr_error *err) {
    int points = fr_quality_points(o);
    size_t seeds = (size_t)o->seeds;
    double *scratch = fr_calloc(seeds, sizeof *scratch);
    row->curve = fr_calloc((size_t)points, sizeof *row->curve);
    row->loss_of = fr_calloc(2 * seeds, sizeof *row->loss_of);
    if (!scratch || !row->curve || !row->loss_of) {
        free(scratch);
        return fr_fail(err, FR_ERR_NOMEM, NULL, "%d evaluations", points);
    }
    row->iterations_of = row->loss_of + seeds;
    row->sent_B = NAN;
    fr_quality_rates(cells, o, row);
    for (int i = 0; i < points; i++) row->curve[i] = at_point(o, cells, row, i, scratch);
    row->loss = row->curve[points - 1];
    add_seeds(o, cells, row, scratch);
    free(scratch);
    return observe(o, cells, row, err);
}

fr_status fr_quality_rows(const struct fr_quality_options *o, const struct fr_cells *cells,
                          struct fr_quality *quality, struct fr_error *err) {
    quality->rows = fr_calloc((size_t)o->n_plans, sizeof *quality->rows);
    if (!quality->rows) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d plans", o->n_plans);
    quality->n_rows = o->n_plans;
    for (int i = 0; i < o->n_plans; i++) {
        quality->rows[i].plan = i;
        FR_TRY(make(o, cells, &quality->rows[i], err));
    }
    return FR_OK;
}

void fr_quality_free(struct fr_quality *quality) {
    for (int i = 0; i < quality->n_rows; i++) {
        free(quality->rows[i].curve);
        free(quality->rows[i].loss_of);
        fr_quality_observed_free(&quality->rows[i]);
    }
    free(quality->rows);
    free(quality->pairs);
    *quality = (struct fr_quality){0};
}
