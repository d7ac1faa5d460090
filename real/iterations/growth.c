#include "real/iterations/growth.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_multifit.h>
#include <math.h>

enum { SIZE = FR_GROWTH_TERMS + 1 };

/* The system of one fit: rows of trainings, then one for each exponent's prior. */
struct system {
    gsl_matrix *x, *covariance;
    gsl_vector *y, *weight, *c;
    gsl_multifit_linear_workspace *work;
    int n, terms, term[FR_GROWTH_TERMS];
};

void fr_growth_uses(fr_law_along of, bool uses[FR_GROWTH_TERMS]) {
    const bool ghosts = of == FR_LAW_GHOST;
    uses[FR_GROWTH_GHOST] = uses[FR_GROWTH_TP] = ghosts;
    uses[FR_GROWTH_RANK] = uses[FR_GROWTH_SHARE] = !ghosts;
    uses[FR_GROWTH_WIDTH] = uses[FR_GROWTH_DEPTH] = true;
}

static void close_system(struct system *s) {
    if (s->work) gsl_multifit_linear_free(s->work);
    gsl_matrix_free(s->x);
    gsl_matrix_free(s->covariance);
    gsl_vector_free(s->y);
    gsl_vector_free(s->weight);
    gsl_vector_free(s->c);
}

static bool open_system(const struct fr_growth_point *points, int n, struct fr_growth *law,
                        struct system *s) {
    for (int t = 0; t < FR_GROWTH_TERMS; t++)
        if (law->uses[t]) s->term[s->terms++] = t;
    const size_t rows = (size_t)(n + s->terms), columns = (size_t)(1 + s->terms);
    s->n = n;
    s->x = gsl_matrix_calloc(rows, columns);
    s->covariance = gsl_matrix_calloc(columns, columns);
    s->y = gsl_vector_calloc(rows);
    s->weight = gsl_vector_calloc(rows);
    s->c = gsl_vector_calloc(columns);
    s->work = gsl_multifit_linear_alloc(rows, columns);
    if (!s->x || !s->covariance || !s->y || !s->weight || !s->c || !s->work) return false;
    for (int j = 0; j < s->terms; j++)
        for (int i = 0; i < n; i++) law->centre[s->term[j]] += log(points[i].x[s->term[j]]) / n;
    for (int i = 0; i < n; i++) {
        gsl_matrix_set(s->x, (size_t)i, 0, 1);
        gsl_vector_set(s->y, (size_t)i, log(points[i].ratio));
        for (int j = 0; j < s->terms; j++)
            gsl_matrix_set(s->x, (size_t)i, (size_t)(1 + j),
                           log(points[i].x[s->term[j]]) - law->centre[s->term[j]]);
    }
    for (int j = 0; j < s->terms; j++) {
        gsl_matrix_set(s->x, (size_t)(n + j), (size_t)(1 + j), 1);
        gsl_vector_set(s->weight, (size_t)(n + j), 1 / (FR_GROWTH_PRIOR * FR_GROWTH_PRIOR));
    }
    return true;
}

/* The best coefficients at deviation @p deviation of a training; what of the degrees of freedom is left, and the squared
 * residuals.  @return false where GSL finds none */
static bool solve(struct system *s, double deviation, double *left, double *squares) {
    double chi_squared, trace = 0;
    for (int i = 0; i < s->n; i++)
        gsl_vector_set(s->weight, (size_t)i, 1 / (deviation * deviation));
    if (gsl_multifit_wlinear(s->x, s->weight, s->y, s->c, s->covariance, &chi_squared, s->work))
        return false;
    *squares = 0;
    for (int i = 0; i < s->n; i++) {
        gsl_vector_const_view row = gsl_matrix_const_row(s->x, (size_t)i);
        double at, spread;
        gsl_multifit_linear_est(&row.vector, s->c, s->covariance, &at, &spread);
        *squares += pow(gsl_vector_get(s->y, (size_t)i) - at, 2);
        trace += pow(spread / deviation, 2);
    }
    *left = s->n - trace;
    return true;
}

static void take(const struct system *s, struct fr_growth *law) {
    int at[SIZE] = {0};
    for (int j = 0; j < s->terms; j++) at[1 + j] = 1 + s->term[j];
    law->intercept = gsl_vector_get(s->c, 0);
    for (int j = 0; j < s->terms; j++)
        law->power[s->term[j]] = gsl_vector_get(s->c, (size_t)(1 + j));
    for (int i = 0; i <= s->terms; i++)
        for (int j = 0; j <= s->terms; j++)
            law->covariance[at[i]][at[j]] = gsl_matrix_get(s->covariance, (size_t)i, (size_t)j);
}

bool fr_growth_fit(fr_law_along of, const struct fr_growth_point *points, int n,
                   struct fr_growth *law) {
    enum { ROUNDS = 60, LEAST = 3 };
    struct system s = {.n = n};
    double deviation = 0.1, left = 0, squares = 0;
    *law = (struct fr_growth){.of = of};
    fr_growth_uses(of, law->uses);
    if (n < LEAST) return false;
    bool good = open_system(points, n, law, &s);
    for (int i = 0; good && i < ROUNDS; i++) {
        good = solve(&s, deviation, &left, &squares) && left > 0;
        if (good) deviation = fmax(FR_GROWTH_LEAST, sqrt(squares / left));
    }
    good = good && solve(&s, deviation, &left, &squares) && left > 0;
    if (good) take(&s, law);
    law->deviation = deviation;
    law->quantile = good ? gsl_cdf_tdist_Pinv(0.95, fmax(1, left)) : 0;
    close_system(&s);
    return good;
}
