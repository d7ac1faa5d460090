#include "sim/engine.h"

#include <string.h>

double fr_engine_run(const struct fr_program *program, const double *class_s, double *end_s) {
    double last_s = 0;
    for (int64_t t = 0; t < program->n_tasks; t++) {
        const struct fr_task *task = &program->tasks[t];
        double start_s = 0;
        for (int k = 0; k < FR_TASK_WAITS_MAX && task->after[k] >= 0; k++)
            if (end_s[task->after[k]] > start_s) start_s = end_s[task->after[k]];
        end_s[t] = start_s + class_s[task->class_id];
        if (end_s[t] > last_s) last_s = end_s[t];
    }
    return last_s;
}

void fr_engine_critical(const struct fr_program *program, const double *end_s, bool *critical) {
    int64_t at = -1;
    memset(critical, 0, (size_t)program->n_tasks * sizeof *critical);
    for (int64_t t = 0; t < program->n_tasks; t++)
        if (at < 0 || end_s[t] > end_s[at]) at = t;
    while (at >= 0) {
        const int32_t *after = program->tasks[at].after;
        int64_t latest = -1;
        critical[at] = true;
        for (int k = 0; k < FR_TASK_WAITS_MAX && after[k] >= 0; k++)
            if (latest < 0 || end_s[after[k]] > end_s[latest] ||
                (!(end_s[after[k]] < end_s[latest]) && after[k] < latest))
                latest = after[k];
        at = latest;
    }
}
