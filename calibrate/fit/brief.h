/** @file
 *  A fitted calibration on one screen: how far to trust it, and what a rank and a link do.
 *  The whole of it: fr_fit_print. */
#ifndef FR_CALIBRATE_FIT_BRIEF_H
#define FR_CALIBRATE_FIT_BRIEF_H

#include "calibrate/fit/fit.h"

/** @param file     cluster file that was written, or NULL
 *  @param samples  first file of what it was fitted to */
void fr_fit_brief(const struct fr_fit_result *result, const char *file, const char *samples,
                  struct fr_text *text);

#endif
