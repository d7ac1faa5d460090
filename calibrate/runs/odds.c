#include "calibrate/runs/odds.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014), and normals by Box and Muller. */
static double uniform(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state) {
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(6.283185307179586 * uniform(state));
}

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

struct drawing {
    const struct fr_tune_result *known;
    double (*gradient)[FR_KNOWN_MAX];
    double *own; /* [n] */
    double *lower;
    const double *times;
    int n;
};

static void draw(const struct drawing *d, uint64_t *state, const struct fr_odds *odds,
                 double *log_time) {
    double z[FR_KNOWN_MAX], x[FR_KNOWN_MAX] = {0};
    int m = d->known->n_known;
    for (int a = 0; a < m; a++) z[a] = normal(state);
    for (int a = 0; a < m; a++)
        for (int b = 0; b <= a; b++) x[a] += d->lower[a * m + b] * z[b];
    for (int i = 0; i < d->n; i++) {
        log_time[i] = log(odds[i].predicted_s) + d->own[i] * normal(state);
        if (d->times) log_time[i] += log(d->times[i]);
        for (int a = 0; a < m; a++) log_time[i] += d->gradient[i][a] * x[a];
    }
}

static void count(const struct drawing *d, struct fr_odds *odds) {
    double log_time[FR_ODDS_PLANS_MAX];
    uint64_t state = FR_ODDS_SEED;
    for (int k = 0; k < FR_ODDS_DRAWS; k++) {
        int best = 0;
        draw(d, &state, odds, log_time);
        for (int i = 1; i < d->n; i++)
            if (log_time[i] < log_time[best]) best = i;
        odds[best].best += 1.0 / FR_ODDS_DRAWS;
        for (int i = 0; i < d->n; i++)
            odds[i].regret += expm1(log_time[i] - log_time[best]) / FR_ODDS_DRAWS;
    }
}

fr_status fr_odds_make(const struct fr_tune_result *known, const struct fr_workload *workload,
                       const struct fr_plan *const *plans, const double *times, int n,
                       struct fr_odds *odds, struct fr_error *err) {
    size_t room = FR_KNOWN_MAX * FR_KNOWN_MAX;
    struct drawing d = {.known = known,
                        .gradient = fr_calloc((size_t)n + 1, sizeof *d.gradient),
                        .lower = fr_calloc(room, sizeof *d.lower),
                        .own = fr_calloc((size_t)n + 1, sizeof *d.own),
                        .times = times,
                        .n = n};
    fr_status status = d.gradient && d.lower && d.own
                           ? factor(known, d.lower, err)
                           : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (status == FR_OK) shrink(known, d.lower);
    for (int i = 0; i < n && status == FR_OK; i++) {
        const struct fr_run run = {.workload = *workload, .plan = *plans[i]};
        double half;
        odds[i] = (struct fr_odds){0};
        odds[i].predicted_s = fr_tune_gradient(known, &run, d.gradient[i]);
        odds[i].predicted_s *= exp(fr_tune_missed(known, d.gradient[i]));
        half = fr_tune_half(known, &run, d.gradient[i]);
        d.own[i] = fr_tune_drawn(known) * fr_tune_own(known, &run);
        odds[i].low_s = odds[i].predicted_s * exp(-half);
        odds[i].high_s = odds[i].predicted_s * exp(half);
    }
    if (status == FR_OK && n > 0) count(&d, odds);
    free(d.gradient);
    free(d.lower);
    free(d.own);
    return status;
}
