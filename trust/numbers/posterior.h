/** @file
 *  How sure coefficients are that were fitted to rows about priors.
 *
 *  With normal errors of spread s and normal priors of width sigma_j, about the maximum,
 *
 *      covariance = (J' W J / s^2 + diag(1 / sigma^2))^-1,  J_ij = d e_i / d x_j */
#ifndef FR_TRUST_NUMBERS_POSTERIOR_H
#define FR_TRUST_NUMBERS_POSTERIOR_H

#include <stddef.h>

#include "base/status.h"

struct fr_posterior {
    const double *jacobian; /**< [n_coefficients][n_rows] */
    const double *weight;   /**< [n_rows] */
    const double *sigma;    /**< [n_coefficients], of the priors */
    size_t n_rows, n_coefficients;
    double spread;
};

/** @param[out] covariance  [n_coefficients][@p stride], the first n_coefficients of each row
 *  @return FR_OK; FR_ERR_NUMERIC where there is none; FR_ERR_NOMEM. */
fr_status fr_posterior_covariance(const struct fr_posterior *posterior, double *covariance,
                                  size_t stride, struct fr_error *err);

#endif
