#include "real/iterations/laws.h"

#include <math.h>

#include "trust/numbers/least_squares.h"

enum { COEFFICIENTS_MAX = FR_LEAST_SQUARES_MAX };

/* Least squares of y = sum of c_j x_j over n rows of m columns.  @return false where they do not tell the
 * columns apart. */
static bool solve(const double *x, const double *y, int n, int m, double *c) {
    struct fr_least_squares s = {.columns = m};
    for (int i = 0; i < n; i++) fr_least_squares_add(&s, x + i * m, y[i]);
    return fr_least_squares_solve(&s, 1e-9, c);
}

static int different(const struct fr_law_point *p, int n, bool of_tp) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        bool seen = false;
        for (int j = 0; j < i; j++)
            seen = seen || (of_tp ? p[i].tp == p[j].tp : p[i].at == p[j].at);
        count += !seen;
    }
    return count;
}

static double law_at(const struct fr_iterations_law *law, const struct fr_law_point *p,
                     double s) {
    if (law->along == FR_LAW_BATCH) return s * (1 + law->critical_batch / p->at);
    if (law->along == FR_LAW_GHOST)
        return law->iterations * pow(p->at, law->ghost_power) * pow(p->tp, law->tp_power);
    return exp(law->slope * p->at);
}

/* The span of the points, and the error of the law on them. */
static void describe(const struct fr_law_point *p, int n, double s,
                     struct fr_iterations_law *law) {
    double squares = 0;
    law->from = law->to = p[0].at;
    law->tp_from = law->tp_to = p[0].tp;
    for (int i = 0; i < n; i++) {
        law->from = fmin(law->from, p[i].at);
        law->to = fmax(law->to, p[i].at);
        law->tp_from = fmin(law->tp_from, p[i].tp);
        law->tp_to = fmax(law->tp_to, p[i].tp);
        squares += pow(log(p[i].iterations / law_at(law, &p[i], s)), 2) / n;
    }
    law->error = sqrt(squares);
}

/* ln nu = ln nu(1, 1) + a ln k + b ln p, b only where p varies. */
static bool fit_ghost(const struct fr_law_point *p, int n, double *x, double *y,
                      struct fr_iterations_law *law) {
    double c[COEFFICIENTS_MAX] = {0};
    int m = different(p, n, true) > 1 ? 3 : 2;
    if (n <= m || different(p, n, false) < 2) return false;
    for (int i = 0; i < n; i++) {
        const double row[] = {1, log(p[i].at), log(p[i].tp)};
        for (int j = 0; j < m; j++) x[i * m + j] = row[j];
        y[i] = log(p[i].iterations);
    }
    if (!solve(x, y, n, m, c)) return false;
    law->iterations = exp(c[0]);
    law->ghost_power = c[1];
    law->tp_power = c[2];
    describe(p, n, 0, law);
    return true;
}

/* nu = S + S B_c / B, each row over its nu. */
static bool fit_batch(const struct fr_law_point *p, int n, double *x, double *y,
                      struct fr_iterations_law *law) {
    double c[COEFFICIENTS_MAX] = {0};
    if (different(p, n, false) < 3) return false;
    for (int i = 0; i < n; i++) {
        x[2 * i] = 1 / p[i].iterations;
        x[2 * i + 1] = 1 / (p[i].at * p[i].iterations);
        y[i] = 1;
    }
    if (!solve(x, y, n, 2, c) || !(c[0] > 0) || !(c[1] >= 0)) return false;
    law->critical_batch = c[1] / c[0];
    describe(p, n, c[0], law);
    return true;
}

/* ln of the ratio = slope s: through none at s = 0, where the law begins. */
static bool fit_share(const struct fr_law_point *p, int n, struct fr_iterations_law *law) {
    double products = 0, squares = 0;
    if (different(p, n, false) < 2) return false;
    for (int i = 0; i < n; i++) {
        products += p[i].at * log(p[i].iterations);
        squares += p[i].at * p[i].at;
    }
    law->slope = products / squares;
    describe(p, n, 0, law);
    law->from = 0;
    return true;
}

bool fr_law_fit(fr_law_along along, const struct fr_law_point *points, int n,
                struct fr_iterations_law *law) {
    enum { POINTS_MAX = 256 };
    double x[POINTS_MAX * COEFFICIENTS_MAX], y[POINTS_MAX];
    *law = (struct fr_iterations_law){.along = along};
    if (n < 2 || n > POINTS_MAX) return false;
    if (along == FR_LAW_GHOST) return fit_ghost(points, n, x, y, law);
    if (along == FR_LAW_BATCH) return fit_batch(points, n, x, y, law);
    return fit_share(points, n, law);
}
