/** @file
 *  A validation as a table for a person, as JSON ("forerun/validate/1") and as CSV. */
#ifndef FR_APP_TEXT_VALIDATION_H
#define FR_APP_TEXT_VALIDATION_H

#include "calibrate/real/validate/validate.h"

void fr_validation_print(struct fr_text *text, const struct fr_cluster *cluster,
                         const struct fr_validation *v);
/** @param app  as asked for; NULL: all */
void fr_validation_json(struct fr_text *text, const struct fr_cluster *cluster, const char *app,
                        const struct fr_validation *v);
void fr_validation_csv(struct fr_text *text, const struct fr_validation *v);

#endif
