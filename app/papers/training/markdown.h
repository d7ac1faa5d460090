/** @file
 *  The training part of docs/accuracy.md, from the rows of forerun reproduce training. */
#ifndef FR_APP_PAPERS_TRAINING_MARKDOWN_H
#define FR_APP_PAPERS_TRAINING_MARKDOWN_H

#include "app/papers/reproduce.h"
#include "base/text.h"

/** Name of the marks around it in docs/accuracy.md (app/text/marked.h). */
#define FR_TRAINING_MARK "forerun reproduce training"

/** A line for each table of runs, one for each ablation, one for each reason why rows are left out. */
void fr_training_markdown(const struct fr_reproduction *r, struct fr_text *text);

#endif
