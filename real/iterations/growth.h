/** @file
 *  The laws of growth (models/plan/growth.h) of small trainings.
 *
 *  Weighted least squares of y_i = ln (nu_i / nu_0), by GSL, with a prior for each exponent:
 *
 *      minimise  sum over i of (y_i - a - sum of b_j (ln x_ij - m_j))^2 / s^2  +  sum over j of (b_j / tau)^2
 *      s^2 = sum of squared residuals / (n - tr H),     H = X (X' X + s^2 / tau^2)^-1 X'
 *
 *  tau = 0.25 says what is thought of an exponent before any training: doubling a quantity changes the ratio by a third
 *  at most, with 90 %.  It decides alone where trainings do not vary a quantity, and hardly where they do.  It is an
 *  assumption of ours, and no measurement.  s is at least 0.5 %. */
#ifndef FR_REAL_ITERATIONS_GROWTH_H
#define FR_REAL_ITERATIONS_GROWTH_H

#include "models/plan/growth.h"

#define FR_GROWTH_PRIOR 0.25
#define FR_GROWTH_LEAST 0.005

struct fr_growth_point {
    double x[FR_GROWTH_TERMS]; /**< those that the law uses: > 0 */
    double ratio;              /**< iterations over those of an exact plan */
};

/** The quantities that a law of @p of uses: k and p, or rank and share; width and depth. */
void fr_growth_uses(fr_law_along of, bool uses[FR_GROWTH_TERMS]);

/** Fit a law of @p of to @p n points.
 *  @return false where they are fewer than three, or all alike but for noise that leaves no degree of freedom */
bool fr_growth_fit(fr_law_along of, const struct fr_growth_point *points, int n,
                   struct fr_growth *law);

#endif
