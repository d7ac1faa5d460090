/** @file
 *  Effects of compression on learning, for people. */
#ifndef FR_REAL_QUALITY_COMPARED_COMPARED_TEXT_H
#define FR_REAL_QUALITY_COMPARED_COMPARED_TEXT_H

#include "real/quality/compared/compared.h"

/** The trainings, a row a plan, then the plans that are distinguished. */
void fr_render_quality(struct fr_text *text, const struct fr_qualities *q);

#endif
