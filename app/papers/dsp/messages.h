/** @file
 *  Messages within and between nodes, Eqs. 4 to 7 of Jain et al. 2021, against counting. */
#ifndef FR_APP_PAPERS_DSP_MESSAGES_H
#define FR_APP_PAPERS_DSP_MESSAGES_H

#include "app/papers/reproduce.h"

void fr_dsp_messages(struct fr_reproduction *r);

#endif
