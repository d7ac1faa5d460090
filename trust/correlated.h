/** @file
 *  Which combination of coefficients do runs fix, beyond each coefficient?
 *
 *  C is the covariance after the runs and S^2 that before them, so the runs brought the information C^-1 - S^-2.  For
 *  runs of one kind nearly all of it is on one sum of logarithms, which decides their times.  With z = S^-1 x it is
 *  the eigenvector u of S C^-1 S - 1 with the largest eigenvalue lambda, so that
 *
 *      sum power_k ln(value_k),   power_k ~ u_k / S_k,   is known to   sigma = 1 / (sqrt(lambda) scale)
 *
 *  where scale makes the power of the named coefficient 1.  The rest of the information is left out, and so are
 *  powers that move the sum by less than a twentieth of the largest.  Values are then stated as less certain than
 *  runs leave them, never as more. */
#ifndef FR_TRUST_CORRELATED_H
#define FR_TRUST_CORRELATED_H

#include "trust/tune.h"

/** @param first  name of the coefficient whose power is 1
 *  @return FR_OK; FR_ERR_NUMERIC where runs say nothing of it; FR_ERR_NOMEM. */
fr_status fr_tune_correlated(const struct fr_tune_result *tuned, const char *first,
                             struct fr_correlated *correlated, struct fr_error *err);

#endif
