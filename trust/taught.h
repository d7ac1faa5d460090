/** @file
 *  What do rows teach about which questions?
 *
 *  Rows of a model say much about that model, and may say nothing of another.  Each question is tried on the rows
 *  themselves.  All rows of one model, or of one plan of a model, are left out in turn and predicted from a fit to the
 *  rest, beside the prediction of the cluster file as it is.  A question is taught where the fit is better by a
 *  twentieth of the mean error.
 *
 *  Values move where another model is taught, or where all rows are of one model and another plan of it is taught.
 *  Else all values and widths stay the file's.  The rows' statements about their own models and plans are kept beside them,
 *  so that other questions keep their answers and intervals.  Where the fit moved nothing there is nothing to try. */
#ifndef FR_TRUST_TAUGHT_H
#define FR_TRUST_TAUGHT_H

#include "trust/tune.h"

enum { FR_TAUGHT_MODEL, FR_TAUGHT_PLAN, FR_TAUGHT_COUNT };

struct fr_taught {
    const char *question; /**< "another model" */
    int folds, runs;      /**< folds 0: not tried, for one group alone or for too many */
    double stayed, tuned; /**< mean |predicted / measured - 1| of rows left out */
    bool better;
};

/** Try both questions on the @p n runs that @p result was fitted to, and where nothing is taught take its values back.
 *  @param options  that it was fitted under
 *  @return FR_OK or the error of a fit. */
fr_status fr_tune_taught(const struct fr_cluster *prior, const struct fr_run *const *runs,
                         int n, const struct fr_tune_options *options,
                         struct fr_tune_result *result,
                         struct fr_taught taught[FR_TAUGHT_COUNT], struct fr_error *err);

/** A line for each question, and what follows. */
void fr_taught_print(const struct fr_taught taught[FR_TAUGHT_COUNT],
                     const struct fr_tune_result *result, struct fr_text *text);
/** An array, as key "taught". */
void fr_taught_json(struct fr_json_writer *w, const struct fr_taught taught[FR_TAUGHT_COUNT]);

#endif
