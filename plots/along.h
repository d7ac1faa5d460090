/** @file
 *  The key that curves run along: rank counts, or any other key of plan, model or cluster that
 *  differs between results.
 *
 *  A value that reads as a number, or as one with a unit, lies where that is; where one of them does
 *  not, all stand side by side in the order of their names. */
#ifndef FR_PLOTS_ALONG_H
#define FR_PLOTS_ALONG_H

#include "plots/curve.h"

/** Put each result at its value of @p key ("ranks", a key of the plan, "model.sequence").  NULL: rank
 *  counts where they differ, else what was varied of model or cluster, else the plan's key of the
 *  most values that are numbers; of several as many the first.
 *  @return FR_OK; FR_ERR_INPUT at @p root for a key that the results do not tell, with those that
 *          differ. */
fr_status fr_along_choose(struct fr_results *results, const char *key,
                          const struct fr_json *root, struct fr_error *err);

/** The x axis of @p curves: a tick at each value that fits in @p width_px, and the key's name. */
void fr_along_axis(struct fr_picture *p, const struct fr_results *results,
                   const struct fr_curves *curves, double width_px);

#endif
