/** @file
 *  Which coefficients do runs resolve?  Those whose move makes predictions of runs left out better.
 *
 *  Runs are left out model by model and plan by plan (trust/effects/groups.h), of one model and plan kind by kind,
 *  about a fit, where everything is linear: with S the coefficients that move, h_i a run's weight in the fit,
 *
 *      x_S without group g = argmin sum_(i not in g) h_i (e0_i + J_i x)^2 + sum_S (x / sigma)^2
 *
 *  and the score is the sum of |e0_i + J_i x| over the runs left out, each way.  S grows by the coefficient that
 *  lowers it most, as long as it does by a hundredth.  What is not in S stays at the preset: rows that cannot tell
 *  such a coefficient from the model error of their model and plan would make others worse. */
#ifndef FR_TRUST_EFFECTS_IDENTIFIABLE_H
#define FR_TRUST_EFFECTS_IDENTIFIABLE_H

#include "trust/effects/groups.h"

/** A fit: n runs, n_coefficients of it. */
struct fr_linear_fit {
    const struct fr_run *const *runs;
    int n, n_coefficients;
    const double *before;   /**< [n]: ln(predicted / measured) of the preset */
    const double *error;    /**< [n]: of the fit */
    const double *jacobian; /**< [n_coefficients][n], there */
    const double *weight;   /**< [n] */
    const double *moved;    /**< [n_coefficients]: x of the fit */
    const double *sigma;    /**< [n_coefficients] */
};

/** @param[out] resolved  [n_coefficients]; none where nothing helps
 *  @param[out] ways      how many ways runs were left out; 0: all are of one kind, and nothing was tried
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_identify(const struct fr_linear_fit *fitted, bool *resolved, int *ways,
                      struct fr_error *err);

#endif
