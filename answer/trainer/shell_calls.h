/** @file
 *  Functions of a script: which arguments does the one call give that is made of them?
 *
 *      train() {              inside, $1 is 4
 *        ... --tensor-model-parallel-size $1
 *      }
 *      train 4 2
 *
 *  Several calls with other words, and functions that shift, leave $1, $2, ... without a value. */
#ifndef FR_ANSWER_TRAINER_SHELL_CALLS_H
#define FR_ANSWER_TRAINER_SHELL_CALLS_H

#include "answer/trainer/shell.h"

/** Where line[0..n) of script text[0..length) begins a function, set its arguments; where it ends one, forget them. */
void fr_shell_call(struct fr_shell *shell, const char *line, size_t n, const char *text,
                   size_t length);

#endif
