/** @file
 *  Measurements answered: fitted, judged, and a cluster file of it. */
#ifndef FR_CALIBRATE_JUDGE_FIT_H
#define FR_CALIBRATE_JUDGE_FIT_H

#include "calibrate/fit/fit.h"

/** The fit, and the measurements that it was made from. */
struct fr_fitted {
    struct fr_samples samples;
    struct fr_fit_result result; /**< with its verdict (calibrate/judge/check.h) */
    struct fr_json_document
        *base; /**< that of an accelerator's kind, where none was named; or NULL */
};

/** Read @p paths and fit; samples of an accelerator without a base to the preset of its kind.  Free with fr_fitted_free, also on error.
 *  @return FR_OK; what reading and fitting gave. */
fr_status fr_fitted_make(const char *const *paths, int n_paths,
                         const struct fr_fit_options *options, struct fr_fitted *fitted,
                         struct fr_error *err);
void fr_fitted_free(struct fr_fitted *fitted);

/** Append the cluster file, called @p name in messages: one that its reader takes.
 *  @return FR_OK, FR_ERR_NOMEM, or what reading gave. */
fr_status fr_fitted_cluster(const struct fr_fitted *fitted, const char *name,
                            struct fr_text *text, struct fr_error *err);
/** Are the powers that options state a device's?  @return FR_OK or FR_ERR_USAGE */
fr_status fr_fit_options_check_power(const struct fr_fit_options *options,
                                     struct fr_error *err);

#endif
