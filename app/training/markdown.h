/** @file
 *  The training part of docs/accuracy.md, from the rows of forerun reproduce training. */
#ifndef FR_APP_TRAINING_MARKDOWN_H
#define FR_APP_TRAINING_MARKDOWN_H

#include "app/reproduce.h"
#include "base/text.h"

/** One table: a line for each table of runs, then one for each ablation. */
void fr_training_markdown(const struct fr_reproduction *r, struct fr_text *text);

#endif
