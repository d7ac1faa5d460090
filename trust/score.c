#include "trust/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "trust/numbers/statistics.h"

static bool counts(const struct fr_scored *row) {
    return isfinite(row->predicted_s) && isfinite(row->measured_s);
}

static int sign(double x) { return (x > 0) - (x < 0); }

struct pairs {
    double agree, x, y;
};

static void add_pair(struct pairs *p, const struct fr_scored *a, const struct fr_scored *b) {
    int x = sign(a->predicted_s - b->predicted_s), y = sign(a->measured_s - b->measured_s);
    p->agree += x * y;
    p->x += x != 0;
    p->y += y != 0;
}

static double tau(const struct pairs *p) {
    return p->x > 0 && p->y > 0 ? p->agree / sqrt(p->x * p->y) : NAN;
}

static void correlate(const struct fr_scored *rows, int n, struct fr_score *score) {
    struct pairs within = {0}, all = {0};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            if (!counts(&rows[i]) || !counts(&rows[j])) continue;
            add_pair(&all, &rows[i], &rows[j]);
            if (rows[i].group[0] && strcmp(rows[i].group, rows[j].group) == 0)
                add_pair(&within, &rows[i], &rows[j]);
        }
    score->kendall_tau = tau(&all);
    score->kendall_tau_within = tau(&within);
}

/* Regret of the group that row @p first begins; NaN where there is nothing to choose. */
static double regret_of(const struct fr_scored *rows, int n, int first) {
    const struct fr_scored *chosen = NULL;
    double best_s = INFINITY;
    int members = 0;
    for (int i = 0; i < n; i++) {
        if (!counts(&rows[i]) || strcmp(rows[i].group, rows[first].group) != 0) continue;
        if (i < first) return NAN; /* told already */
        members++;
        best_s = fmin(best_s, rows[i].measured_s);
        if (!chosen || rows[i].predicted_s < chosen->predicted_s) chosen = &rows[i];
    }
    return members > 1 ? chosen->measured_s / best_s - 1 : NAN;
}

static void regret(const struct fr_scored *rows, int n, double *scratch,
                   struct fr_score *score) {
    double sum = 0;
    size_t groups = 0;
    for (int i = 0; i < n; i++) {
        if (!counts(&rows[i]) || !rows[i].group[0]) continue;
        double value = regret_of(rows, n, i);
        if (isnan(value)) continue;
        scratch[groups++] = value;
        sum += value;
    }
    score->groups = (int)groups;
    score->regret_mean = score->regret_median = score->regret_worst = NAN;
    if (groups == 0) return;
    fr_sort(scratch, groups);
    score->regret_mean = sum / (double)groups;
    score->regret_median = fr_sorted_median(scratch, groups);
    score->regret_worst = scratch[groups - 1];
}

static void errors(const struct fr_scored *rows, int n, double *scratch,
                   struct fr_score *score) {
    int stated = 0, covered = 0;
    for (int i = 0; i < n; i++) {
        if (!counts(&rows[i])) {
            score->missing++;
            continue;
        }
        double e = rows[i].predicted_s / rows[i].measured_s - 1;
        score->bias += e;
        score->mape += fabs(e);
        scratch[score->n++] = fabs(e);
        if (isnan(rows[i].low_s)) continue;
        stated++;
        covered += rows[i].low_s <= rows[i].measured_s && rows[i].measured_s <= rows[i].high_s;
    }
    score->coverage = stated ? (double)covered / stated : NAN;
    if (score->n == 0) {
        score->mape = score->bias = score->median_error = score->p90_error =
            score->worst_error = NAN;
        return;
    }
    score->mape /= score->n;
    score->bias /= score->n;
    fr_sort(scratch, (size_t)score->n);
    score->median_error = fr_sorted_median(scratch, (size_t)score->n);
    score->p90_error = fr_sorted_quantile(scratch, (size_t)score->n, 0.9);
    score->worst_error = scratch[score->n - 1];
}

fr_status fr_score_make(const struct fr_scored *rows, int n, struct fr_score *score,
                        struct fr_error *err) {
    double *scratch = fr_malloc((size_t)n + 1, sizeof *scratch);
    *score = (struct fr_score){0};
    if (!scratch) return fr_fail(err, FR_ERR_NOMEM, NULL, "the score does not fit in memory");
    errors(rows, n, scratch, score);
    regret(rows, n, scratch, score);
    correlate(rows, n, score);
    free(scratch);
    return FR_OK;
}
