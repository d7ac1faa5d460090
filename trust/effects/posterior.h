/** @file
 *  How sure coefficients are that runs have spoken of: trust/numbers/effects.h with runs that are alike
 *  (trust/effects/groups.h).
 *
 *  About where the coefficients were left, x, everything is linear: e_i = ln(predicted / measured) there, J its
 *  derivatives.  With m and C the mean and covariance of x over all that the effects' sizes may be, what is not
 *  known about where they were left is
 *
 *      covariance = C + (m - x) (m - x)'
 *
 *  so that values which stay although rows say otherwise are the less certain for it, and values which rows agree
 *  with are as sure as those make them.
 *
 *  The model errors of the models, plans and plans of models among the rows are further unknowns of the same.  Where
 *  coefficients are left is decided, so of these the mean is that given h, what is held where it was left,
 *
 *      missed = m_s + C_sh C_hh^-1 (h - m_h),
 *
 *  over all that the sizes may be given that h is there: the best linear unbiased prediction (Henderson, Biometrics
 *  31, 1975), by which runs of the same take longer or shorter than the model says; the covariance is about (x, missed).
 *  Held are x, and at 0 models and plans that say nothing of others (trust/effects/blup.h): plans of models
 *  take the whole of it then.
 *
 *  Rows of one model and plan say what a coefficient and these come to together and little of each, so that a run of
 *  the same plan is known far better than each apart would make it. */
#ifndef FR_TRUST_EFFECTS_POSTERIOR_H
#define FR_TRUST_EFFECTS_POSTERIOR_H

#include "trust/effects/groups.h"

/** What the rows say at the values of a cluster. */
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
fr_status fr_runs_posterior(const struct fr_posterior_input *said, double *covariance,
                            size_t stride, double *model_error, double sd[FR_EFFECTS],
                            double *stretch, struct fr_error *err);

#endif
