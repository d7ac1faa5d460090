/** @file
 *  Figures 5 and 6 of Seal et al. 2025, phantom parallelism. */
#ifndef FR_STUDIES_PHANTOM_FIGURES_H
#define FR_STUDIES_PHANTOM_FIGURES_H

#include "studies/phantom/setting.h"
#include "studies/reproduce.h"

/** @param full, literal  what was fitted with m read either way */
void fr_phantom_figures(struct fr_reproduction *r, const struct fr_phantom_setting *full,
                        const struct fr_phantom_setting *literal);

/** Points of the curves of Figures 5 and 6, to be drawn. */
void fr_phantom_curves(struct fr_reproduction *r, const struct fr_phantom_setting *full);

#endif
