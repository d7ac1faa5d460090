/** @file
 *  A length of time as people type it on a command line: "90", "90s", "10m", "1.5h", "2d". */
#ifndef FR_BASE_DURATION_H
#define FR_BASE_DURATION_H

#include "base/status.h"

/** Parse @p text; a bare number is seconds, and "min" is also minutes.
 *  @param option  for the message, "--budget"
 *  @return FR_OK, or FR_ERR_USAGE when it is no time within [min_s, max_s]. */
fr_status fr_duration_parse(const char *text, const char *option, double min_s, double max_s,
                            double *time_s, struct fr_error *err);

#endif
