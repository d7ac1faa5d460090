#include "sim/unfold.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static struct fr_task replica_of(const struct fr_task *task, int32_t n_ranks,
                                 const struct fr_network_rank_map *rank_map, int64_t replica) {
    int64_t tp = rank_map->tp, d = replica / tp, t = replica % tp;
    struct fr_task out = *task;
    out.rank = (int32_t)((d * n_ranks + task->rank) * tp + t);
    if (task->peer >= 0) out.peer = (int32_t)((d * n_ranks + task->peer) * tp + t);
    for (int k = 0; k < FR_TASK_WAITS_MAX; k++)
        if (task->after[k] >= 0)
            out.after[k] = (int32_t)(task->after[k] * tp * rank_map->dp + replica);
    return out;
}

fr_status fr_program_unfold(const struct fr_program *folded,
                            const struct fr_network_rank_map *rank_map,
                            struct fr_program *program, struct fr_error *err) {
    double replicas = (double)rank_map->tp * (double)rank_map->dp;
    double tasks = (double)folded->n_tasks * replicas,
           ranks = (double)folded->n_ranks * replicas;
    *program = (struct fr_program){0};
    if (tasks > INT32_MAX || ranks > INT32_MAX)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "%.3g tasks of all replicas are too many",
                       tasks);
    int64_t copies = rank_map->tp * rank_map->dp;
    program->n_ranks = (int32_t)(folded->n_ranks * copies);
    program->n_classes = folded->n_classes;
    program->n_tasks = program->capacity = folded->n_tasks * copies;
    program->classes = fr_malloc((size_t)folded->n_classes, sizeof *program->classes);
    program->tasks = fr_malloc((size_t)program->n_tasks + 1, sizeof *program->tasks);
    if (!program->classes || !program->tasks)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the program does not fit in memory");
    memcpy(program->classes, folded->classes,
           (size_t)folded->n_classes * sizeof *program->classes);
    for (int64_t t = 0; t < folded->n_tasks; t++)
        for (int64_t c = 0; c < copies; c++)
            program->tasks[t * copies + c] =
                replica_of(&folded->tasks[t], folded->n_ranks, rank_map, c);
    return FR_OK;
}
