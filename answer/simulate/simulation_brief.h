/** @file
 *  A simulation on one screen: the prediction's rows, the busiest stage and what the critical path is made of.
 *  The whole of it: answer/simulate/simulation_text.h. */
#ifndef FR_ANSWER_SIMULATE_SIMULATION_BRIEF_H
#define FR_ANSWER_SIMULATE_SIMULATION_BRIEF_H

#include "sim/run.h"

/** @param again  the command that asked, to be gone on with (base/text/brief.h); "" where it cannot be repeated */
void fr_simulation_brief(struct fr_text *text, const struct fr_job *job,
                         const struct fr_simulation *s, const char *again);

#endif
