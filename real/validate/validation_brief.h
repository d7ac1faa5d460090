/** @file
 *  A validation on one screen.  The whole of it: real/validate/validation_text.h. */
#ifndef FR_REAL_VALIDATE_VALIDATION_BRIEF_H
#define FR_REAL_VALIDATE_VALIDATION_BRIEF_H

#include "real/validate/validate.h"

/** @param cluster_from  what --cluster named
 *  @param samples       file of the measurements */
void fr_validation_brief(struct fr_text *text, const struct fr_cluster *cluster,
                         const char *cluster_from, const char *samples,
                         const struct fr_validation *v);

#endif
