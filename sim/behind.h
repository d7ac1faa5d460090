/** @file
 *  The tasks of a program by depth, each with those that wait for it.
 *
 *  The depth of a task is the longest chain of waits that ends with it.  Tasks of one depth are
 *  under way at about the same time, so a loop in order of time that keeps what it knows of a task
 *  at the task's `place` stays in the caches; a program's own order, rank by rank, leaves them.
 */
#ifndef FR_SIM_BEHIND_H
#define FR_SIM_BEHIND_H

#include "sim/program.h"

struct fr_behind {
    int64_t n;
    int32_t *task;   /**< [n]: the task at a place; by depth, then as in the program */
    int32_t *first;  /**< [n + 1]: in `behind`, of the place */
    int32_t *behind; /**< places of those that wait for the task, in order of task */
};

/** @return false when memory is exhausted.  Free with fr_behind_free, also then. */
bool fr_behind_make(const struct fr_program *program, struct fr_behind *behind);
void fr_behind_free(struct fr_behind *behind);

#endif
