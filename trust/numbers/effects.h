/** @file
 *  What rows say of coefficients when rows that are alike share what the model misses.
 *
 *  A linear mixed model.  Of row i, of model a, plan b, kind c (a plan of a model), release d of a kind,
 *
 *      e_i = e0_i + sum_k J_ik x_k + t_i (A_a + B_b + C_c) + D_d + r_i / sqrt(w_i)
 *
 *  with x_k normal about 0 of width sigma_k (the priors) times sd of the device or network, and the effects A to
 *  D and r normal about 0 of standard deviations sd[FR_EFFECT_...].  So a thousand rows of one plan are one opinion of its plan and a
 *  thousand of iterations' noise.  Kinds lie within one model and plan each, models and plans cross.
 *  Kinds and releases are integrated by Sherman and Morrison, what is left by Cholesky (Henderson's equations):
 *  with V what kinds, releases and rows add up to, and u = (x, A, B), design U, widths S,
 *
 *      M = U' V^-1 U + S^-2,   mean = -M^-1 U' V^-1 e0,   covariance = M^-1,
 *      -2 ln L = ln |V| + ln |S^2| + ln |M| + e0' V^-1 e0 - mean' M mean + n ln 2 pi      (Searle, Casella,
 *      McCulloch, Variance Components, 1992, ch. 6 and 7)
 *
 *  Of sums of coefficients g' x it may be known beforehand, from whatever set the values, that they are 0 to a
 *  standard deviation of 1 (what g is divided by): the priors' precision is then S^-2 + sum g g' in place of S^-2 for
 *  coefficients, and ln |S^2| minus its logarithmic determinant.
 *
 *  Kinds' own effects C may be Student's of d > 2 degrees, of variance sd^2 all the same: normal of variance
 *  v_c sd^2, (d - 2) / v_c chi-squared of d degrees (Lange, Little, Taylor, JASA 84, 1989).  So a few kinds far off
 *  say of themselves that they are wide, and not of all. */
#ifndef FR_TRUST_NUMBERS_EFFECTS_H
#define FR_TRUST_NUMBERS_EFFECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum {
    FR_EFFECT_MODEL,
    FR_EFFECT_PLAN,
    FR_EFFECT_KIND,
    FR_EFFECT_RELEASE,
    FR_EFFECT_ROW,
    FR_EFFECT_DEVICE,  /**< of its and the host's coefficients, in widths of their priors */
    FR_EFFECT_NETWORK, /**< likewise */
    FR_EFFECTS
};

/** Who shares what, and what is at hand of it. */
struct fr_effects_rows {
    size_t n, n_coefficients;
    const double *jacobian;          /**< [n_coefficients][n] */
    const double *error;             /**< [n]: e0 */
    const double *weight;            /**< [n]; 0: takes no part */
    const double *times;             /**< [n]: t, one value a kind */
    const double *sigma;             /**< [n_coefficients] > 0 */
    const int *of;                   /**< [n_coefficients]: FR_EFFECT_DEVICE or _NETWORK */
    const int *group[FR_EFFECT_ROW]; /**< [n] each, from 0 on */
    const double *stated; /**< [n_known][n_coefficients]: sums that are known beforehand */
    size_t n_known;
};

/** Sums over rows, made once for many standard deviations. */
struct fr_effects;

/** @return NULL where memory runs out.  The rows are borrowed for the call alone. */
struct fr_effects *fr_effects_make(const struct fr_effects_rows *rows);
void fr_effects_free(struct fr_effects *effects);

/** The coefficients at standard deviations @p sd[FR_EFFECTS], all > 0.
 *  @param[out] mean        [n_coefficients]; may be NULL
 *  @param[out] covariance  [n_coefficients][n_coefficients]; may be NULL
 *  @return ln L; NaN where nothing can be inverted. */
double fr_effects_at(struct fr_effects *effects, const double *sd, double *mean,
                     double *covariance);

/** Coefficients, models and plans: how many. */
size_t fr_effects_unknowns(const struct fr_effects *effects);
/** The same of all of them, in that order, as they were numbered: what rows say of the models and plans that they
 *  are of. */
double fr_effects_all(struct fr_effects *effects, const double *sd, double *mean,
                      double *covariance);

/** What kind @p kind 's own effect comes to beside unknowns u, once those have been asked for at the same @p sd:
 *      C = constant + slope u, of variance v_C;   slope = -t_c S / P,   P = 1 / (v_c sd^2) + t_c^2 W,   v_C = 1 / P
 *  with S and W the sums of its rows, over what releases and rows vary by.
 *  @param[out] slope  [fr_effects_unknowns] */
void fr_effects_kind(const struct fr_effects *effects, const double *sd, int kind,
                     double *slope, double *constant, double *variance);

/** All kinds as wide as stated again, as they are when made. */
void fr_effects_narrow(struct fr_effects *effects);
/** ln of the density of ln v_c at what it is, over all kinds, less half the logarithm of the curvature there of what
 *  rows and that say of it, (d + 1) / 2 (Laplace): with it ln L is about that of Student's. */
double fr_effects_wide_density(const struct fr_effects *effects, double degrees);

/** One step of that paper's EM, all else at its mean: v_c = (d - 2 + C_c^2 / sd^2) / (d + 1), from 1 on.
 *  @return false, and nothing done, where nothing can be inverted */
bool fr_effects_widen(struct fr_effects *effects, const double *sd, double degrees);

#endif
