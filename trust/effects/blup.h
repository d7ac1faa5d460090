/** @file
 *  Does the model error of some runs predict that of others of the same model or plan?
 *
 *  Cross-validation on the rows themselves decides, as for coefficients (trust/effects/identifiable.h).  All rows of
 *  one plan at one micro-batch are left out in turn, and the model error of their plans, from the other rows, is
 *  added to the prediction.
 *
 *  Plans are fixed at no model error where that does not lower the left-out errors by a hundredth, in the mean and in
 *  the median.  They are also fixed where all rows are of one model, since their error is then not distinguishable
 *  from that of all.  Models are always fixed: in no table do they predict the model error of plans left out whole
 *  (docs/explanation/intervals.md).  A plan of a model, on any number of replicas, keeps its own effect. */
#ifndef FR_TRUST_EFFECTS_BLUP_H
#define FR_TRUST_EFFECTS_BLUP_H

#include "trust/effects/groups.h"

/** @param rows       of @p runs, without coefficients: errors where those were left
 *  @param sd         [FR_EFFECTS]
 *  @param[out] held  at nothing missed; models and plans too where memory runs out */
void fr_runs_blup(const struct fr_run *const *runs, const struct fr_effects_rows *rows,
                  const double *sd, bool fixed[FR_SEEN_COUNT]);

#endif
