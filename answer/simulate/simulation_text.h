/** @file
 *  A simulation for people: outcome, use and energy of each stage, critical path. */
#ifndef FR_ANSWER_SIMULATE_SIMULATION_TEXT_H
#define FR_ANSWER_SIMULATE_SIMULATION_TEXT_H

#include "sim/run.h"

void fr_simulation_text(struct fr_text *text, const struct fr_job *job,
                        const struct fr_simulation *s);

#endif
