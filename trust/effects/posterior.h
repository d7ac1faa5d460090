/** @file
 *  How sure are coefficients after runs?  trust/numbers/effects.h with the groups of trust/effects/groups.h.
 *
 *  All is linear about x, the final values of the coefficients: e_i = ln(predicted / measured) there, J its
 *  derivatives.  m and C are the mean and covariance of x over all sizes that the effects may have.  The uncertainty
 *  about the final values is
 *
 *      covariance = C + (m - x) (m - x)'
 *
 *  So values that stay although rows disagree are less certain, and values with which rows agree are as certain as
 *  the rows make them.
 *
 *  The model errors of the models, plans and plans of models among the rows are further unknowns s of the same
 *  system.  The final coefficients are decided, so the mean of s is the one given h, the fixed unknowns at their
 *  final values,
 *
 *      missed = m_s + C_sh C_hh^-1 (h - m_h),
 *
 *  over all sizes that the effects may have given h.  It is the best linear unbiased prediction (Henderson,
 *  Biometrics 31, 1975): runs of the same group take so much longer or shorter than predicted.  The covariance is
 *  about (x, missed).  Fixed are x, and at 0 the models and plans that predict no others (trust/effects/blup.h);
 *  plans of models then take the whole error.
 *
 *  Rows of one model and plan fix the sum of a coefficient and these errors, and say little of each.  So a run of the
 *  same plan is known far better than separate uncertainties would make it. */
#ifndef FR_TRUST_EFFECTS_POSTERIOR_H
#define FR_TRUST_EFFECTS_POSTERIOR_H

#include "trust/effects/groups.h"

/** Posterior from the rows at the values of a cluster. */
struct fr_posterior_input {
    const struct fr_run *const *runs;
    int n, n_coefficients;
    const double *error;    /**< [n] */
    const double *jacobian; /**< [n_coefficients][n] */
    const double *moved;    /**< [n_coefficients]: x, in logarithms from the prior */
    const double *sigma;    /**< [n_coefficients] of the priors */
    const double
        *stated; /**< [n_known][n_coefficients]: sums that are known beforehand (effects.h) */
    int n_known;
    const int *of;      /**< [n_coefficients]: FR_EFFECT_DEVICE or FR_EFFECT_NETWORK */
    double model_error; /**< in place of FR_TUNE_MODEL_ERROR */
    const struct fr_tuning_seen *seen; /**< who of the runs is asked for */
    int n_seen;
    bool one_release; /**< whatever the rows say, all are of the release that is asked for */
};

/** @param[out] covariance  [n_coefficients + n_seen][@p stride]: the coefficients', then of the model error of each
 *                          of `seen`
 *  @param[out] missed      [n_seen]: in the mean
 *  @param[out] sd          [FR_EFFECTS]: root mean squares over what they may be
 *  @param[out] stretch     half a 90 % interval of a run of a new model, plan and release over its standard
 *                          deviation: of a normal distribution 1.645
 *  @return FR_OK; FR_ERR_NUMERIC; FR_ERR_NOMEM. */
fr_status fr_runs_posterior(const struct fr_posterior_input *input, double *covariance,
                            size_t stride, double *model_error, double sd[FR_EFFECTS],
                            double *stretch, struct fr_error *err);

#endif
