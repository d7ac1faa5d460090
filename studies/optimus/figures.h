/** @file
 *  Figures 10, 14 and 16 of Song et al. 2023, Optimus-CC. */
#ifndef FR_STUDIES_OPTIMUS_FIGURES_H
#define FR_STUDIES_OPTIMUS_FIGURES_H

#include "studies/optimus/setting.h"
#include "studies/reproduce.h"

void fr_optimus_figure10(struct fr_reproduction *r, const struct fr_optimus *s,
                         const char *model, bool published);
fr_status fr_optimus_figure14(struct fr_reproduction *r, double efficiency, double adapter,
                              struct fr_error *err);
fr_status fr_optimus_figure16(struct fr_reproduction *r, double efficiency, double adapter,
                              struct fr_error *err);

#endif
