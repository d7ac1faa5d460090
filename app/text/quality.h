/** @file
 *  What compression does to learning, for people. */
#ifndef FR_APP_TEXT_QUALITY_H
#define FR_APP_TEXT_QUALITY_H

#include "answer/quality/quality.h"

/** What was trained, a row a plan, then which plans are told apart. */
void fr_render_quality(struct fr_text *text, const struct fr_qualities *q);

#endif
