#include "sim/successors.h"

#include <stdlib.h>

#include "base/alloc.h"

/* [n_tasks] into @p depth; a task comes after those it waits for. @return the deepest */
static int32_t find_depths(const struct fr_program *program, int32_t *depth) {
    int32_t deepest = 0;
    for (int64_t t = 0; t < program->n_tasks; t++) {
        const int32_t *after = program->tasks[t].after;
        depth[t] = 0;
        for (int k = 0; k < FR_TASK_WAITS_MAX && after[k] >= 0; k++)
            if (depth[after[k]] >= depth[t]) depth[t] = depth[after[k]] + 1;
        if (depth[t] > deepest) deepest = depth[t];
    }
    return deepest;
}

/* Place of each task, over its depth: counted, summed, dealt out. */
static bool sort_by_depth(int64_t n, int32_t deepest, int32_t *depth, int32_t *task) {
    int32_t *next = fr_calloc((size_t)deepest + 2, sizeof *next);
    if (!next) return false;
    for (int64_t t = 0; t < n; t++) next[depth[t] + 1]++;
    for (int32_t d = 0; d <= deepest; d++) next[d + 1] += next[d];
    for (int64_t t = 0; t < n; t++) {
        int32_t place = next[depth[t]]++;
        task[place] = (int32_t)t;
        depth[t] = place;
    }
    free(next);
    return true;
}

static bool list_successors(const struct fr_program *program, const int32_t *place,
                            struct fr_successors *b) {
    int32_t *next = fr_calloc((size_t)b->n + 2, sizeof *next);
    b->first = next;
    if (!next) return false;
    for (int64_t t = 0; t < b->n; t++)
        for (int k = 0; k < FR_TASK_WAITS_MAX && program->tasks[t].after[k] >= 0; k++)
            next[place[program->tasks[t].after[k]] + 2]++;
    for (int64_t p = 2; p < b->n + 2; p++) next[p] += next[p - 1];
    b->successors = fr_malloc((size_t)next[b->n + 1] + 1, sizeof *b->successors);
    if (!b->successors) return false;
    for (int64_t t = 0; t < b->n; t++)
        for (int k = 0; k < FR_TASK_WAITS_MAX && program->tasks[t].after[k] >= 0; k++)
            b->successors[next[place[program->tasks[t].after[k]] + 1]++] = place[t];
    return true;
}

bool fr_successors_make(const struct fr_program *program, struct fr_successors *successors) {
    size_t n = (size_t)program->n_tasks + 1;
    *successors = (struct fr_successors){.n = program->n_tasks,
                                         .task = fr_malloc(n, sizeof *successors->task),
                                         .place = fr_malloc(n, sizeof *successors->place)};
    int32_t *place = successors->place;
    return place && successors->task &&
           sort_by_depth(program->n_tasks, find_depths(program, place), place,
                         successors->task) &&
           list_successors(program, place, successors);
}

void fr_successors_free(struct fr_successors *successors) {
    free(successors->task);
    free(successors->place);
    free(successors->first);
    free(successors->successors);
    *successors = (struct fr_successors){0};
}
