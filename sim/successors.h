/** @file
 *  The tasks of a program by depth, each with those that wait for it.
 *
 *  The depth of a task is the longest chain of waits that ends with it.  Tasks of one depth run at about the same
 *  time.  A loop in order of time that stores its data of a task at the task's `place` therefore stays in the caches.
 *  A program's own order, rank by rank, would miss them.
 */
#ifndef FR_SIM_SUCCESSORS_H
#define FR_SIM_SUCCESSORS_H

#include "sim/program.h"

struct fr_successors {
    int64_t n;
    int32_t *task;       /**< [n]: the task at a place; by depth, then as in the program */
    int32_t *place;      /**< [n]: of each task */
    int32_t *first;      /**< [n + 1]: in `behind`, of the place */
    int32_t *successors; /**< places of those that wait for the task, in order of task */
};

/** @return false when memory is exhausted.  Free with fr_successors_free, also then. */
bool fr_successors_make(const struct fr_program *program, struct fr_successors *successors);
void fr_successors_free(struct fr_successors *successors);

#endif
