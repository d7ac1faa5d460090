#include "calibrate/energy/line.h"

#include <gsl/gsl_fit.h>
#include <math.h>

/* Least squares of a constant. */
static double level(const double *y, const double *weight, int n) {
    double sum = 0, weights = 0;
    for (int i = 0; i < n; i++) {
        sum += weight[i] * y[i];
        weights += weight[i];
    }
    return sum / weights;
}

void fr_line_fit(const double *x, const double *y, int n, double *constant, double *slope) {
    double weight[FR_LINE_POINTS_MAX], v00, v01, v11, squares, spread = 0;
    size_t count = (size_t)n;
    for (int i = 0; i < n; i++) {
        weight[i] = 1 / (y[i] * y[i]);
        spread = fmax(spread, fabs(x[i] - x[0]));
    }
    *slope = 0;
    *constant = level(y, weight, n);
    if (spread <= 1e-12 * fabs(x[0])) return; /* one x: no slope to be seen */
    gsl_fit_wlinear(x, 1, weight, 1, y, 1, count, constant, slope, &v00, &v01, &v11, &squares);
    if (*slope < 0) {
        *slope = 0;
        *constant = level(y, weight, n);
    } else if (*constant < 0) {
        *constant = 0;
        gsl_fit_wmul(x, 1, weight, 1, y, 1, count, slope, &v00, &squares);
    }
}
