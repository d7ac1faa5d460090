/** @file
 *  A simulation shown: outcome, use and energy of each stage, critical path; as text and JSON. */
#ifndef FR_APP_TEXT_SIMULATION_H
#define FR_APP_TEXT_SIMULATION_H

#include "sim/run.h"
#include "traces/format.h"

void fr_simulation_json(struct fr_text *text, const struct fr_job *job,
                        const struct fr_simulation *s);
void fr_simulation_text(struct fr_text *text, const struct fr_job *job,
                        const struct fr_simulation *s);

/** The trace of a simulation that has its timeline, with power and memory of each rank over
 *  time. */
fr_status fr_simulation_trace(const struct fr_job *job, const struct fr_simulation *s,
                              const struct fr_format *format, struct fr_text *out,
                              struct fr_error *err);

#endif
