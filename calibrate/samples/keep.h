/** @file
 *  Measurements cost time that nobody gets back: a file of them is not replaced unasked. */
#ifndef FR_CALIBRATE_SAMPLES_KEEP_H
#define FR_CALIBRATE_SAMPLES_KEEP_H

#include <stdbool.h>

#include "base/status.h"

/** May measurements be written to @p path?  A file that holds something is only gone on with
 *  (@p resume) or replaced because the user said so (@p force).
 *  @return FR_OK; FR_ERR_USAGE with a sentence that names both options; FR_ERR_IO when it
 *          cannot be written at all. */
fr_status fr_keep_measurements(const char *path, bool resume, bool force, struct fr_error *err);

#endif
