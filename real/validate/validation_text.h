/** @file
 *  A validation as a table for a person, as JSON ("forerun/validate/1") and as CSV. */
#ifndef FR_REAL_VALIDATE_VALIDATION_TEXT_H
#define FR_REAL_VALIDATE_VALIDATION_TEXT_H

#include "real/validate/validate.h"

void fr_validation_print(struct fr_text *text, const struct fr_cluster *cluster,
                         const struct fr_validation *v);
/** @param app  as asked for; NULL: all */
void fr_validation_json(struct fr_text *text, const struct fr_cluster *cluster, const char *app,
                        const struct fr_validation *v);
void fr_validation_csv(struct fr_text *text, const struct fr_validation *v);

#endif
