/** @file
 *  Does the model error of some runs predict that of others of the same model or plan?
 *
 *  Tried on the rows themselves, as of coefficients (trust/effects/identifiable.h): all rows of one plan at one
 *  micro-batch are left out in turn, and what the others say of their plans is added to what is predicted.  Where that does
 *  not lower the errors left out by a hundredth, in the mean and in the median, plans are held at nothing missed, and where
 *  all rows are of one model, since that cannot be told from the model error of all.  Models are held: of plans left out
 *  whole they predict the model error in no table (docs/explanation/intervals.md).  A plan of a model, on however many replicas,
 *  says of itself what it says. */
#ifndef FR_TRUST_EFFECTS_BLUP_H
#define FR_TRUST_EFFECTS_BLUP_H

#include "trust/effects/groups.h"

/** @param rows       of @p runs, without coefficients: errors where those were left
 *  @param sd         [FR_EFFECTS]
 *  @param[out] held  at nothing missed; models and plans too where memory runs out */
void fr_runs_blup(const struct fr_run *const *runs, const struct fr_effects_rows *rows,
                  const double *sd, bool fixed[FR_SEEN_COUNT]);

#endif
