/** @file
 *  Shared parts of calibrate and fit: options, the fit, printing and writing. */
#ifndef FR_APP_FITTING_H
#define FR_APP_FITTING_H

#include "app/options.h"
#include "calibrate/fit/fit.h"

#define FR_FITTING_OPTIONS                                                                     \
    {"form", "NAME", "best (default), log, segments, algorithm or similarity", 0},             \
        {"series", "TEXT",                                                                     \
         "fit series with TEXT in their names; of one cluster in other versions: together",    \
         0},                                                                                   \
        {"name", "TEXT", "name of the cluster (default: that of Slurm, SLURM_CLUSTER_NAME)",   \
         0},                                                                                   \
        {"power-busy", "Q", "power of a rank at work, e.g. \"6.3 W\"", 0}, {                   \
        "power-idle", "Q", "power of a rank that waits", 0                                     \
    }

fr_status fr_fitting_options(const struct fr_args *args, struct fr_fit_options *options,
                             struct fr_error *err);

/** How a fit is printed. */
typedef enum { FR_FITTING_BRIEF, FR_FITTING_WHOLE, FR_FITTING_JSON } fr_fitting_form;

/** Read samples, fit, and write the cluster file to @p out (NULL: nowhere).  @p form chooses the
 *  output: one screen on the fit, all residuals, or the document "forerun/fit/1".  With --page
 *  among @p args (NULL: no options) a page is written, too.  With out "-" only the cluster file is
 *  printed.
 *  @param ended_early  the calibration did: a file there is kept also where it rests on more points
 *  @return FR_ERR_PARTIAL where @p out is kept, since it is more complete (app/completeness.h) */
fr_status fr_fitting_run(const char *const *samples, int n_samples, const char *out,
                         bool ended_early, const struct fr_fit_options *options,
                         fr_fitting_form form, const struct fr_args *args,
                         struct fr_error *err);

#endif
