/** @file
 *  Which lines of a shell script run, and what are its variables then?
 *
 *  A launch script is read as it runs by itself, without arguments and in an empty environment: assignments,
 *  "${NAME:-usual}", arithmetic, and the branches of if, case and loops whose conditions say which is taken.  Where a
 *  condition asks what a script does not say (a file, a command), all its branches count, and a variable to which they
 *  give different values has none from there on. */
#ifndef FR_ANSWER_TRAINER_SHELL_H
#define FR_ANSWER_TRAINER_SHELL_H

#include <stdbool.h>
#include <stddef.h>

enum { FR_SHELL_WORD = 512 };
struct fr_shell;

/** @return NULL without memory.  Free with fr_shell_free. */
struct fr_shell *fr_shell_new(void);
void fr_shell_free(struct fr_shell *shell);

/** Set a variable where the script is. */
void fr_shell_set(struct fr_shell *shell, const char *name, size_t name_length,
                  const char *value);
/** Take its value from a variable; it counts as never set. */
void fr_shell_unset(struct fr_shell *shell, const char *name, size_t name_length);
/** @p word with its variables' values; what has none stays as it is.  @param[out] out  out[FR_SHELL_WORD] */
void fr_shell_expand(const struct fr_shell *shell, const char *word, char *out);
/** Go through line[0..n), and call @p run with @p to for each statement of it that runs. */
void fr_shell_line(struct fr_shell *shell, const char *line, size_t n,
                   void (*run)(void *to, const char *statement, size_t n), void *to);

#endif
