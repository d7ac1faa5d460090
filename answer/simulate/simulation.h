/** @file
 *  A simulation written down: outcome, use and energy of each stage, critical path; and its trace. */
#ifndef FR_ANSWER_SIMULATE_SIMULATION_H
#define FR_ANSWER_SIMULATE_SIMULATION_H

#include "sim/run.h"
#include "traces/format.h"

/** The document "forerun/simulation/1". */
void fr_simulation_json(struct fr_text *text, const struct fr_job *job,
                        const struct fr_simulation *s);

/** The trace of a simulation that has its timeline, with power and memory of each rank over
 *  time. */
fr_status fr_simulation_trace(const struct fr_job *job, const struct fr_simulation *s,
                              const struct fr_format *format, struct fr_text *out,
                              struct fr_error *err);

#endif
