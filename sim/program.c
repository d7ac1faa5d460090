#include "sim/program.h"

#include <stdlib.h>

#include "base/alloc.h"

int32_t fr_program_add(struct fr_program *program, const struct fr_task *task) {
    if (program->n_tasks == program->capacity) {
        int64_t capacity = program->capacity ? 2 * program->capacity : 1024;
        struct fr_task *grown =
            capacity > INT32_MAX ? NULL
                                 : fr_realloc(program->tasks, (size_t)capacity, sizeof *grown);
        if (!grown) return -1;
        program->tasks = grown;
        program->capacity = capacity;
    }
    program->tasks[program->n_tasks] = *task;
    for (int k = 0; k < FR_TASK_WAITS_MAX; k++) program->tasks[program->n_tasks].after[k] = -1;
    return (int32_t)program->n_tasks++;
}

void fr_program_wait(struct fr_program *program, int32_t task, int32_t before) {
    if (task < 0 || before < 0) return;
    int32_t *after = program->tasks[task].after;
    for (int k = 0; k < FR_TASK_WAITS_MAX; k++) {
        if (after[k] == before) return;
        if (after[k] < 0) {
            after[k] = before;
            return;
        }
    }
}

void fr_program_free(struct fr_program *program) {
    free(program->classes);
    free(program->tasks);
    *program = (struct fr_program){0};
}
