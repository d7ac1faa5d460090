/** @file
 *  What Song et al. 2023 say of model quality, beside what was measured in the small: `forerun reproduce
 *  optimus --quality FILE`, of a result of forerun quality --json.
 *
 *  A claim is an order of two plans' losses; ours is judged only where the seeds tell the two apart, and a
 *  claim that two plans learn alike never is: not distinguished is not the same. */
#ifndef FR_STUDIES_OPTIMUS_QUALITY_H
#define FR_STUDIES_OPTIMUS_QUALITY_H

#include "base/json.h"
#include "studies/reproduce.h"

/** Add the rows that @p root says something of.  FR_OK; FR_ERR_INPUT for another document. */
fr_status fr_optimus_quality(const struct fr_json *root, struct fr_reproduction *r,
                             struct fr_error *err);

#endif
