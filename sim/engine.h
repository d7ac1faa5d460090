/** @file
 *  When each task of a program runs.
 *
 *  On an isolated network a task's duration depends on its class alone, and a program lists its
 *  tasks after those they wait for; so one sweep in that order gives every start and end:
 *      end(t) = max over waits of end + duration(class of t)
 *  No queue, no allocation per event; two runs give the same bits. */
#ifndef FR_SIM_ENGINE_H
#define FR_SIM_ENGINE_H

#include "sim/program.h"

/** Run @p program, a task of class c taking class_s[c].
 *  @param[out] end_s  end_s[n_tasks]
 *  @return end of the last task [s]; 0 for an empty program.  Total. */
double fr_engine_run(const struct fr_program *program, const double *class_s, double *end_s);

/** Mark the tasks that the makespan hangs on: from the last to end, back through what each
 *  waited for (the earliest in the program among equals). */
void fr_engine_critical(const struct fr_program *program, const double *end_s, bool *critical);

#endif
