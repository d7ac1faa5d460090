/* Every message alone: a task takes its class's time, whatever else is under way. */
#include "sim/engine.h"
#include "sim/network.h"

static fr_status run(const struct fr_network_work *work, void *state, const double *class_s,
                     double *start_s, double *end_s, double *makespan_s, struct fr_error *err) {
    const struct fr_program *program = work->program;
    (void)state;
    (void)err;
    *makespan_s = fr_engine_run(program, class_s, end_s);
    for (int64_t t = 0; t < program->n_tasks; t++)
        start_s[t] = end_s[t] - class_s[program->tasks[t].class_id];
    return FR_OK;
}

const struct fr_network fr_network_isolated = {
    .name = "isolated",
    .summary = "each message alone on its link: what the closed form assumes",
    .source = "one sweep over the program in order (sim/engine.h)",
    .engine = "event",
    .run = run,
};
