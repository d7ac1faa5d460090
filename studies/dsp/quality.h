/** @file
 *  What Jain et al. 2021 say of learning (section VI-G, Figure 17), beside what was measured in the small:
 *  `forerun reproduce dsp --quality FILE`, of a result of forerun quality --json.
 *
 *  The paper: "the progression of the objective function is identical for 4-way D&SP and DP", and the
 *  wall-clock time 35 % shorter.  A result whose plans lose nothing, on several meshes, says the same of
 *  them: their curves may differ by rounding alone, so by less than seeds do at every evaluation.
 */
#ifndef FR_STUDIES_DSP_QUALITY_H
#define FR_STUDIES_DSP_QUALITY_H

#include "base/json.h"
#include "studies/reproduce.h"

/** Add the rows that @p root says something of.  FR_OK; FR_ERR_INPUT for another document, or for one
 *  without two plans that lose nothing. */
fr_status fr_dsp_quality(const struct fr_json *root, struct fr_reproduction *r,
                         struct fr_error *err);

#endif
