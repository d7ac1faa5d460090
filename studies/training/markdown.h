/** @file
 *  Parts of docs/accuracy.md, from the rows of forerun reproduce training and energy. */
#ifndef FR_STUDIES_TRAINING_MARKDOWN_H
#define FR_STUDIES_TRAINING_MARKDOWN_H

#include "base/text.h"
#include "studies/reproduce.h"

/** Names of the marks around them in docs/accuracy.md (studies/marked.h). */
#define FR_TRAINING_MARK "forerun reproduce training"
#define FR_ENERGY_MARK "forerun reproduce energy"
#define FR_MEMORY_MARK "forerun reproduce memory"

/** A line for each table of runs, one for each ablation, one for each reason why rows are left out, one
 *  for each row that stands alone. */
void fr_training_markdown(const struct fr_reproduction *r, struct fr_text *text);

#endif
