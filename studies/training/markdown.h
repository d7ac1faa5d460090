/** @file
 *  Tables of docs/ from the rows of forerun reproduce training, energy and memory: whole in docs/evidence/, in short in
 *  docs/explanation/accuracy.md. */
#ifndef FR_STUDIES_TRAINING_MARKDOWN_H
#define FR_STUDIES_TRAINING_MARKDOWN_H

#include "base/text.h"
#include "studies/reproduce.h"

/** Names of the marks around them (base/text/marked.h); around the short table with FR_BRIEF_MARK behind. */
#define FR_TRAINING_MARK "forerun reproduce training"
#define FR_ENERGY_MARK "forerun reproduce energy"
#define FR_MEMORY_MARK "forerun reproduce memory"
#define FR_BRIEF_MARK ", in short"

/** A line for each table of runs, one for each ablation, one for each reason why rows are left out, one
 *  for each row that stands alone. */
void fr_training_markdown(const struct fr_reproduction *r, struct fr_text *text);

/** A line for each table of runs: what was predicted, whether anything was tuned on it, error and coverage. */
void fr_training_brief(const struct fr_reproduction *r, struct fr_text *text);

#endif
