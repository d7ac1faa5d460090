#include "calibrate/fit/scatter.h"

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "trust/numbers/gsl_errors.h"
#include "trust/numbers/nlfit.h"
#include "trust/numbers/statistics.h"

enum { KRIGING_MIN = 20 };      /* fewer shapes have no neighbours to speak of */
static const double BEND = 0.2; /* log residual beyond which a shape pulls less */
static const double OTHER_LAYOUT = 0.8, PER_POWER_OF_TWO = 0.03;

static double trend_s(const double c[FR_SCATTER_TREND], const struct fr_scatter_point *p) {
    double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    double flop = 2 * m * n * k * (1 + c[3] / m) * (1 + c[3] / n);
    return c[0] + c[1] * flop + c[2] * (m * k + k * n + m * n);
}

struct trend_fit {
    const struct fr_scatter *s;
    double start[FR_SCATTER_TREND];
};

/* Pseudo-Huber, so that the sum of squares grows linearly for shapes far off; and a log-normal
 * prior, of width 1, around the start, so that a handful of shapes does not bend four coefficients. */
static void residuals(void *ctx, const double *params, double *out) {
    const struct trend_fit *fit = ctx;
    const struct fr_scatter *s = fit->s;
    for (int i = 0; i < s->n; i++) {
        double r = log(trend_s(params, &s->points[i]) / s->points[i].time_s) / BEND;
        double bent = sqrt(2 * (sqrt(1 + r * r) - 1));
        out[i] = r < 0 ? -bent : bent;
    }
    for (int i = 0; i < FR_SCATTER_TREND; i++) out[s->n + i] = log(params[i] / fit->start[i]);
}

static fr_status fit_trend(struct fr_scatter *s, struct fr_error *err) {
    double least_s = HUGE_VAL, per_flop = HUGE_VAL;
    for (int i = 0; i < s->n; i++) {
        const struct fr_scatter_point *p = &s->points[i];
        least_s = fmin(least_s, p->time_s);
        per_flop =
            fmin(per_flop, p->time_s / (2.0 * (double)p->m * (double)p->n * (double)p->k));
    }
    struct trend_fit fit = {s, {0.5 * least_s, per_flop, 20 * per_flop, 16}};
    memcpy(s->trend, fit.start, sizeof fit.start);
    return fr_nlfit(residuals, &fit, FR_SCATTER_TREND, (size_t)s->n + FR_SCATTER_TREND,
                    s->trend, NULL, err);
}

/* How often 2 divides a dimension, up to 128: what tiles and vectors care about. */
static int power_of_two(int64_t size) {
    int power = 0;
    while (power < 7 && size % ((int64_t)2 << power) == 0) power++;
    return power;
}

static double kernel(const struct fr_scatter_point *a, const struct fr_scatter_point *b,
                     double range) {
    const int64_t x[3] = {a->m, a->n, a->k}, y[3] = {b->m, b->n, b->k};
    double square = 0, powers = 0;
    for (int i = 0; i < 3; i++) {
        double d = log((double)x[i] / (double)y[i]) / range;
        square += d * d;
        powers += abs(power_of_two(x[i]) - power_of_two(y[i]));
    }
    return exp(-0.5 * square - PER_POWER_OF_TWO * powers) *
           (a->layout == b->layout ? 1 : OTHER_LAYOUT);
}

struct solver {
    gsl_matrix *k;
    gsl_vector *y, *w;
    double *errors;
};

/* Weights for one range and noise, and the mean leave-one-out error: residual i without point i
 * is (K^-1 y)_i / (K^-1)_ii. */
static double try_kernel(const struct fr_scatter *s, struct solver *v, double range,
                         double noise, double *median) {
    double sum = 0;
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++)
            gsl_matrix_set(v->k, (size_t)i, (size_t)j,
                           kernel(&s->points[i], &s->points[j], range) + (i == j ? noise : 0));
    if (gsl_linalg_cholesky_decomp1(v->k)) return HUGE_VAL;
    if (gsl_linalg_cholesky_solve(v->k, v->y, v->w)) return HUGE_VAL;
    if (gsl_linalg_cholesky_invert(v->k)) return HUGE_VAL;
    for (int i = 0; i < s->n; i++) {
        double off =
            gsl_vector_get(v->w, (size_t)i) / gsl_matrix_get(v->k, (size_t)i, (size_t)i);
        v->errors[i] = fabs(expm1(off));
        sum += fmin(v->errors[i], 1);
    }
    fr_sort(v->errors, (size_t)s->n);
    *median = fr_sorted_median(v->errors, (size_t)s->n);
    return sum / s->n;
}

static fr_status krige(struct fr_scatter *s, struct solver *v) {
    static const double ranges[] = {0.8, 1.5, 2.5}, noises[] = {0.01, 0.05, 0.3};
    double least = HUGE_VAL, median = 0;
    s->weights = fr_calloc((size_t)s->n, sizeof *s->weights);
    if (!s->weights) return FR_ERR_NOMEM;
    for (int i = 0; i < s->n; i++)
        s->mean += log(s->points[i].time_s / trend_s(s->trend, &s->points[i])) / s->n;
    for (int i = 0; i < s->n; i++)
        gsl_vector_set(v->y, (size_t)i,
                       log(s->points[i].time_s / trend_s(s->trend, &s->points[i])) - s->mean);
    for (size_t r = 0; r < 3; r++)
        for (size_t e = 0; e < 3; e++) {
            double error = try_kernel(s, v, ranges[r], noises[e], &median);
            if (!(error < least)) continue;
            least = error;
            s->range = ranges[r];
            s->noise = noises[e];
            s->left_out = median;
            for (int i = 0; i < s->n; i++) s->weights[i] = gsl_vector_get(v->w, (size_t)i);
        }
    return least < HUGE_VAL ? FR_OK : FR_ERR_NUMERIC;
}

static fr_status krige_with_scratch(struct fr_scatter *s) {
    size_t n = (size_t)s->n;
    struct solver v = {gsl_matrix_alloc(n, n), gsl_vector_alloc(n), gsl_vector_alloc(n),
                       fr_malloc(n, sizeof *v.errors)};
    fr_status status = v.k && v.y && v.w && v.errors ? krige(s, &v) : FR_ERR_NOMEM;
    gsl_matrix_free(v.k);
    gsl_vector_free(v.y);
    gsl_vector_free(v.w);
    free(v.errors);
    return status;
}

fr_status fr_scatter_fit(const struct fr_scatter_point *points, int n, struct fr_scatter *s,
                         struct fr_error *err) {
    *s = (struct fr_scatter){.n = n, .left_out = -1};
    if (n <= FR_SCATTER_TREND)
        return fr_fail(err, FR_ERR_NUMERIC, NULL, "%d shapes are too few for the trend", n);
    s->points = fr_malloc((size_t)n, sizeof *s->points);
    if (!s->points) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    memcpy(s->points, points, (size_t)n * sizeof *s->points);
    FR_TRY(fit_trend(s, err));
    if (n < KRIGING_MIN) return FR_OK;
    gsl_error_handler_t *before = fr_gsl_errors();
    fr_status status = krige_with_scratch(s);
    gsl_set_error_handler(before);
    return status == FR_OK ? status
                           : fr_fail(err, status, NULL, "shapes cannot be interpolated");
}

double fr_scatter_time_s(const struct fr_scatter *s, const struct fr_scatter_point *point) {
    double left = s->weights ? s->mean : 0;
    for (int i = 0; s->weights && i < s->n; i++)
        left += s->weights[i] * kernel(&s->points[i], point, s->range);
    return trend_s(s->trend, point) * exp(left);
}

void fr_scatter_free(struct fr_scatter *s) {
    free(s->points);
    free(s->weights);
    *s = (struct fr_scatter){0};
}
