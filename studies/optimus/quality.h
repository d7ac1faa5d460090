/** @file
 *  Claims of Song et al. 2023 on model quality, beside our measurements at small scale: `forerun reproduce optimus
 *  --quality FILE`, of a result of forerun quality --json.
 *
 *  A claim is an order of two plans' losses.  Ours is judged only where the seeds distinguish the two.  A claim that
 *  two plans learn alike is never judged, since plans that are not distinguished need not be the same. */
#ifndef FR_STUDIES_OPTIMUS_QUALITY_H
#define FR_STUDIES_OPTIMUS_QUALITY_H

#include "base/json.h"
#include "studies/reproduce.h"

/** Add the rows that @p root says something of.  FR_OK; FR_ERR_INPUT for another document. */
fr_status fr_optimus_quality(const struct fr_json *root, struct fr_reproduction *r,
                             struct fr_error *err);

#endif
