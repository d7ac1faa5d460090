#include "trust/effects/blup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "trust/numbers/statistics.h"

/* Share by which the left-out errors must fall. */
static const double enough = 0.01;
/* Deviation of models, which are fixed: next to none. */
static const double nothing = 1e-6;

struct turns {
    const struct fr_run *const *runs;
    const struct fr_effects_rows *rows;
    double sd[FR_EFFECTS];
    size_t models;
    double *weight, *model_error; /* [n]; [models + plans] */
    double *alone, *beside; /* [n] errors left out: as they are, with what the others say */
};

static size_t count(const int *group, size_t n) {
    int most = -1;
    for (size_t i = 0; i < n; i++)
        if (group[i] > most) most = group[i];
    return (size_t)(most + 1);
}

/* Do two runs have one plan at one micro-batch? */
static bool correlated(const struct turns *t, size_t a, size_t b) {
    const int *plan = t->rows->group[FR_EFFECT_PLAN];
    return plan[a] == plan[b] && t->runs[a]->plan.micro_batch == t->runs[b]->plan.micro_batch;
}

static bool leave_out(struct turns *t, size_t first) {
    const struct fr_effects_rows *r = t->rows;
    struct fr_effects_rows rows = *r;
    for (size_t i = 0; i < r->n; i++) t->weight[i] = correlated(t, i, first) ? 0 : r->weight[i];
    rows.weight = t->weight;
    struct fr_effects *others = fr_effects_make(&rows);
    bool fits = others && isfinite(fr_effects_all(others, t->sd, t->model_error, NULL));
    fr_effects_free(others);
    for (size_t i = first; i < r->n && fits; i++) {
        if (!correlated(t, i, first)) continue;
        double model_error = t->model_error[t->models + (size_t)r->group[FR_EFFECT_PLAN][i]];
        t->alone[i] = fabs(r->error[i]);
        t->beside[i] = fabs(r->error[i] + r->times[i] * model_error);
    }
    return fits;
}

/* Lower in the mean and in the median, so that few rows far off do not move all others. */
static bool lower(const struct turns *t) {
    size_t n = t->rows->n;
    double alone = 0, beside = 0;
    for (size_t i = 0; i < n; i++) {
        alone += t->rows->weight[i] * t->alone[i];
        beside += t->rows->weight[i] * t->beside[i];
    }
    fr_sort(t->alone, n);
    fr_sort(t->beside, n);
    return beside < (1 - enough) * alone &&
           fr_sorted_median(t->beside, n) < (1 - enough) * fr_sorted_median(t->alone, n);
}

void fr_runs_blup(const struct fr_run *const *runs, const struct fr_effects_rows *rows,
                  const double *sd, bool fixed[FR_SEEN_COUNT]) {
    size_t models = count(rows->group[FR_EFFECT_MODEL], rows->n),
           plans = count(rows->group[FR_EFFECT_PLAN], rows->n);
    struct turns t = {.runs = runs, .rows = rows, .models = models};
    memcpy(t.sd, sd, sizeof t.sd);
    t.sd[FR_EFFECT_MODEL] = nothing;
    t.weight = fr_calloc(3 * rows->n + 1, sizeof *t.weight);
    t.model_error = fr_calloc(models + plans + 1, sizeof *t.model_error);
    bool fits = t.weight && t.model_error && models > 1;
    if (fits) {
        t.alone = t.weight + rows->n;
        t.beside = t.alone + rows->n;
    }
    for (size_t i = 0; i < rows->n && fits; i++) {
        size_t first = 0;
        while (!correlated(&t, first, i)) first++;
        if (first == i) fits = leave_out(&t, i);
    }
    fixed[FR_SEEN_MODEL] = true;
    fixed[FR_SEEN_PLAN] = !fits || !lower(&t);
    fixed[FR_SEEN_KIND] = false;
    free(t.weight);
    free(t.model_error);
}
