/** @file
 *  Messages within and between nodes, Eqs. 4 to 7 of Jain et al. 2021, against counting. */
#ifndef FR_STUDIES_DSP_MESSAGES_H
#define FR_STUDIES_DSP_MESSAGES_H

#include "studies/reproduce.h"

void fr_dsp_messages(struct fr_reproduction *r);

#endif
