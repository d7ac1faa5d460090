/** @file
 *  Figure 9 of Song et al. 2023: the curve of a compressed plan beside that of none, evaluation by evaluation. */
#ifndef FR_STUDIES_OPTIMUS_CURVES_H
#define FR_STUDIES_OPTIMUS_CURVES_H

#include "base/json.h"
#include "studies/reproduce.h"

/** Add the row "fig9/@p name": the largest difference of the two curves' mean losses.  Judged, and refused, where
 *  the seeds' intervals part somewhere though the paper has the curves "mostly the same" (@p same); where they
 *  overlap everywhere nothing is confirmed. */
void fr_optimus_curve(const struct fr_json *base, const struct fr_json *other, const char *name,
                      bool same, struct fr_reproduction *r);

#endif
