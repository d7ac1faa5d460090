/** @file
 *  One run of forerun-simgrid: two texts in, a text out, in a folder that goes away.  The program is
 *  started without a shell, from beside this executable. */
#ifndef FR_SIM_NETWORK_SIMGRID_CHILD_H
#define FR_SIM_NETWORK_SIMGRID_CHILD_H

#include "base/status.h"
#include "base/text.h"

/** @param[out] result  to be freed
 *  @return FR_OK; FR_ERR_EXTERNAL when the program is missing or failed, with what it said last;
 *          FR_ERR_IO, FR_ERR_NOMEM. */
fr_status fr_simgrid_run(const struct fr_text *platform, const struct fr_text *program,
                         char **result, struct fr_error *err);

#endif
