/** @file
 *  What do runs say of coefficients together, that they do not say of each?
 *
 *  With C the covariance that runs leave and S^2 what it was before them, they brought the information C^-1 - S^-2.  Of
 *  runs of one kind nearly all of it is one sum of logarithms, what their times hang on: with z = S^-1 x, the eigenvector u
 *  of S C^-1 S - 1 whose eigenvalue lambda is largest, so that
 *
 *      sum power_k ln(value_k),   power_k ~ u_k / S_k,   is known to   sigma = 1 / (sqrt(lambda) scale)
 *
 *  where scale makes the power of the coefficient that is named 1.  The rest of the information is left out, and powers
 *  that move the sum by less than a twentieth of what the largest does: values are then known less well than runs leave
 *  them, never better. */
#ifndef FR_TRUST_CORRELATED_H
#define FR_TRUST_CORRELATED_H

#include "trust/tune.h"

/** @param first  name of the coefficient whose power is 1
 *  @return FR_OK; FR_ERR_NUMERIC where runs say nothing of it; FR_ERR_NOMEM. */
fr_status fr_tune_correlated(const struct fr_tune_result *tuned, const char *first,
                             struct fr_correlated *correlated, struct fr_error *err);

#endif
