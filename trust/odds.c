#include "trust/odds.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/random.h"
#include "trust/effects/differences.h"
#include "trust/numbers/statistics.h"

/* Lower triangle L with L L' = covariance (Cholesky), of which a little more is the diagonal: what is
 * certain has a row of zeros.  By hand, since GSL's errors are a setting of the whole process, and
 * several threads may search at once. */
static fr_status factor(const struct fr_tune_result *known, double *lower,
                        struct fr_error *err) {
    int n = known->n_known;
    for (int a = 0; a < n; a++)
        for (int b = 0; b <= a; b++) {
            double rest = known->covariance[a * n + b] + (a == b ? 1e-12 : 0);
            for (int k = 0; k < b; k++) rest -= lower[a * n + k] * lower[b * n + k];
            if (a == b && !(rest > 0))
                return fr_fail(err, FR_ERR_NUMERIC, "cluster#/tuning/covariance",
                               "is not the covariance of anything");
            lower[a * n + b] = a == b ? sqrt(rest) : rest / lower[b * n + b];
        }
    return FR_OK;
}

/* As far off as intervals say, which are narrower than normal ones of these deviations; but for what was measured. */
static void shrink(const struct fr_tune_result *known, double *lower) {
    const double by = fr_tune_drawn(known);
    int n = known->n_known;
    for (int a = 0; a < n; a++)
        if (!fr_known_is_measured(known->index[a]))
            for (int b = 0; b <= a; b++) lower[a * n + b] *= by;
}

/* Inputs and state of the draws. */
struct drawing {
    const struct fr_tune_result *known;
    double (*gradient)[FR_KNOWN_MAX];
    double *lower;        /* of the coefficients */
    double *shared;       /* [n][terms] */
    double *mean, *log_s; /* [n] */
    double *error;        /* [n] */
    int n, terms;
};

static void free_drawing(struct drawing *d) {
    free(d->gradient), free(d->lower), free(d->shared);
    free(d->mean), free(d->log_s), free(d->error);
}

/* Own errors of plans under presets, of which the sizes of differ.c are. */
static double own_of_presets(void) {
    double effect[FR_EFFECTS];
    fr_effect_scales(FR_TUNE_MODEL_ERROR, true, effect);
    return FR_TUNE_STRETCH / FR_NORMAL_90 *
           fr_effects_of(effect, 1, (const bool[FR_SEEN_COUNT]){false, true, true});
}

static fr_status share(struct drawing *d, const struct fr_workload *workload,
                       const struct fr_plan *const *plans, struct fr_error *err) {
    const double presets = own_of_presets(), drawn = fr_tune_drawn(d->known);
    struct fr_differ_point *points = fr_malloc((size_t)d->n + 1, sizeof *points);
    for (int i = 0; points && i < d->n; i++) fr_differ_point_of(workload, plans[i], &points[i]);
    d->shared = points ? fr_differ_matrix(points, d->n, &d->terms) : NULL;
    free(points);
    if (!d->shared) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int i = 0; i < d->n; i++) {
        const struct fr_run run = {.workload = *workload, .plan = *plans[i]};
        double scale = drawn * fr_tune_own(d->known, &run) / presets;
        for (int k = 0; k < d->terms; k++) d->shared[i * d->terms + k] *= scale;
    }
    return FR_OK;
}

/* Gradients, factors and expected logarithms of the times; intervals too where @p odds is not NULL. */
static fr_status prepare(struct drawing *d, const struct fr_workload *workload,
                         const struct fr_plan *const *plans, const double *times,
                         struct fr_odds *odds, struct fr_error *err) {
    size_t capacity = FR_KNOWN_MAX * FR_KNOWN_MAX, n = (size_t)d->n + 1;
    d->gradient = fr_calloc(n, sizeof *d->gradient);
    d->lower = fr_calloc(capacity, sizeof *d->lower);
    d->mean = fr_calloc(n, sizeof *d->mean);
    d->log_s = fr_calloc(n, sizeof *d->log_s);
    d->error = fr_calloc(n, sizeof *d->error);
    if (!d->gradient || !d->lower || !d->mean || !d->log_s || !d->error)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    FR_TRY(factor(d->known, d->lower, err));
    shrink(d->known, d->lower);
    FR_TRY(share(d, workload, plans, err));
    for (int i = 0; i < d->n; i++) {
        const struct fr_run run = {.workload = *workload, .plan = *plans[i]};
        double predicted_s = fr_tune_gradient(d->known, &run, d->gradient[i]);
        predicted_s *= exp(fr_tune_model_error(d->known, d->gradient[i]));
        d->mean[i] = log(predicted_s) + (times ? log(times[i]) : 0);
        if (!odds) continue;
        double half = fr_tune_half(d->known, &run, d->gradient[i]);
        odds[i] = (struct fr_odds){.predicted_s = predicted_s,
                                   .low_s = predicted_s * exp(-half),
                                   .high_s = predicted_s * exp(half)};
    }
    return FR_OK;
}

static void draw(const struct drawing *d, uint64_t *state, double *z) {
    double raw[FR_KNOWN_MAX], x[FR_KNOWN_MAX] = {0};
    int m = d->known->n_known;
    for (int a = 0; a < m; a++) raw[a] = fr_random_normal(state);
    for (int a = 0; a < m; a++)
        for (int b = 0; b <= a; b++) x[a] += d->lower[a * m + b] * raw[b];
    for (int k = 0; k < d->terms; k++) z[k] = fr_random_normal(state);
    for (int i = 0; i < d->n; i++) {
        const double *row = d->shared + i * d->terms;
        double error = 0;
        for (int k = 0; k < d->terms; k++) error += row[k] * z[k];
        for (int a = 0; a < m; a++) error += d->gradient[i][a] * x[a];
        d->error[i] = error;
        d->log_s[i] = d->mean[i] + error;
    }
}

/* One draw: who is fastest, what each loses to it, and what trying some in turn finds. */
static void count_one(const struct drawing *d, struct fr_odds *odds) {
    const double each = 1.0 / FR_ODDS_DRAWS;
    double least = d->log_s[0], flattered = 0;
    int ties = 0;
    for (int i = 0; i < d->n; i++) {
        least = fmin(least, d->log_s[i]);
        odds[i].tried += expm1(d->log_s[0] - least) * each;
    }
    for (int i = 0; i < d->n; i++)
        if (d->log_s[i] == least) ties++, flattered = d->error[i];
    for (int i = 0; i < d->n; i++) {
        if (d->log_s[i] == least) odds[i].best += each / ties;
        odds[i].regret += expm1(d->log_s[i] - least) * each;
        odds[i].luck += (d->error[i] - flattered) * each;
    }
}

static fr_status count(const struct drawing *d, struct fr_odds *odds, struct fr_error *err) {
    uint64_t state = FR_ODDS_SEED;
    double *z = fr_malloc((size_t)d->terms + 1, sizeof *z);
    if (!z) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int k = 0; k < FR_ODDS_DRAWS; k++) {
        draw(d, &state, z);
        count_one(d, odds);
    }
    free(z);
    return FR_OK;
}

fr_status fr_odds_make(const struct fr_tune_result *known, const struct fr_workload *workload,
                       const struct fr_plan *const *plans, const double *times, int n,
                       struct fr_odds *odds, struct fr_error *err) {
    struct drawing d = {.known = known, .n = n};
    fr_status status = prepare(&d, workload, plans, times, odds, err);
    if (status == FR_OK && n > 0) status = count(&d, odds, err);
    free_drawing(&d);
    return status;
}

fr_status fr_odds_pair(const struct fr_tune_result *known, const struct fr_workload *workload,
                       const struct fr_plan *a, const struct fr_plan *b, double *difference,
                       double *deviation, struct fr_error *err) {
    const struct fr_plan *const plans[] = {a, b};
    struct drawing d = {.known = known, .n = 2};
    double variance = 0;
    fr_status status = prepare(&d, workload, plans, NULL, NULL, err);
    for (int col = 0; status == FR_OK && col < known->n_known; col++) {
        double sum = 0;
        for (int k = col; k < known->n_known; k++)
            sum += (d.gradient[0][k] - d.gradient[1][k]) * d.lower[k * known->n_known + col];
        variance += sum * sum;
    }
    for (int k = 0; status == FR_OK && k < d.terms; k++)
        variance += pow(d.shared[k] - d.shared[d.terms + k], 2);
    if (status == FR_OK) {
        *difference = d.mean[0] - d.mean[1];
        *deviation = sqrt(variance);
    }
    free_drawing(&d);
    return status;
}

double fr_odds_normal(double x) { return 0.5 * erfc(-x / sqrt(2)); }

struct fr_interval fr_odds_chosen(const struct fr_odds *odds) {
    double half = hypot(log(odds->high_s / odds->predicted_s), FR_ODDS_LUCK_SD * odds->luck),
           expected_s = odds->predicted_s * exp(FR_ODDS_LUCK * odds->luck);
    return (struct fr_interval){odds->predicted_s, expected_s, expected_s * exp(-half),
                                expected_s * exp(half)};
}
