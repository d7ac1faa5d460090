/** @file
 *  Before a calibration goes on with a file: lines that do not verify go, and with them what says that something is
 *  complete that no longer is, so that it is measured again. */
#ifndef FR_CALIBRATE_SAMPLES_REPAIR_H
#define FR_CALIBRATE_SAMPLES_REPAIR_H

#include <stdbool.h>

#include "base/status.h"

/** Read @p path.  Where lines are dropped or missing (repetitions 0, 1, ... of a point and launch, as many as its line
 *  "point" counts), it is replaced by a file without that line "point" and the line "end" of that launch.
 *  @param[out] replaced  whoever holds the file holds it again
 *  @return FR_OK, FR_ERR_INPUT as fr_journal_read, FR_ERR_IO or FR_ERR_NOMEM */
fr_status fr_samples_repair(const char *path, bool *replaced, struct fr_error *err);

#endif
