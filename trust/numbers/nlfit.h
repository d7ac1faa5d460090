/** @file
 *  Small nonlinear least squares with positive parameters.
 *
 *  Coefficients of hardware (rates, latencies, efficiencies) are positive and differ by orders
 *  of magnitude, so they are fitted in their logarithms: that bounds them below by zero and
 *  gives every one the same scale.  Minimises sum r_i(params)^2 by a trust region
 *  (Levenberg-Marquardt, GSL multifit_nlinear) with derivatives by finite differences.
 */
#ifndef FR_TRUST_NUMBERS_NLFIT_H
#define FR_TRUST_NUMBERS_NLFIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/** Fill residuals[n_residuals] at @p params (all > 0).  A residual that is not finite makes
 *  the step be taken back. */
typedef void (*fr_residuals_fn)(void *ctx, const double *params, double *residuals);

/** When a fit ends, and at what price a derivative comes. */
struct fr_nlfit_limits {
    double tolerance; /**< of the parameters' logarithms */
    size_t iterations_max;
    bool accept_last; /**< the point reached then is an answer: for residuals with kinks */
    bool forward;     /**< differences from one side: half the evaluations */
};

/** fr_nlfit within @p limits. */
fr_status fr_nlfit_within(const struct fr_nlfit_limits *limits, fr_residuals_fn residuals,
                          void *ctx, size_t n_params, size_t n_residuals, double *params,
                          double *rms, struct fr_error *err);

/** @param params  in: start, all > 0; out: the best found; untouched on error
 *  @param rms     root mean square of the residuals there; may be NULL
 *  @return FR_OK; FR_ERR_INPUT for a start that is not positive or fewer residuals than
 *          parameters; FR_ERR_NUMERIC when the residuals at the start are not finite or no
 *          step helps; FR_ERR_NOMEM. */
fr_status fr_nlfit(fr_residuals_fn residuals, void *ctx, size_t n_params, size_t n_residuals,
                   double *params, double *rms, struct fr_error *err);

#endif
