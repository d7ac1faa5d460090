/** @file
 *  What compression itself costs: Figures 12, 13 and 15 of Song et al. 2023, Optimus-CC. */
#ifndef FR_STUDIES_OPTIMUS_COSTS_H
#define FR_STUDIES_OPTIMUS_COSTS_H

#include "studies/optimus/setting.h"
#include "studies/reproduce.h"

/** Memory of the fullest GPU with CB, with lazy error propagation and without. */
void fr_optimus_figure12(struct fr_reproduction *r, const struct fr_optimus *s,
                         const char *model);
/** Speed with more stages' gradients compressed, and with higher ranks of all (the quality beside it:
 *  studies/optimus/quality.h). */
void fr_optimus_figure13(struct fr_reproduction *r, const struct fr_optimus *s);
/** Throughput of the codec on a message between stages. */
fr_status fr_optimus_figure15(struct fr_reproduction *r, struct fr_error *err);

#endif
