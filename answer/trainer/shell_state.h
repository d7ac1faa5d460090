/** @file
 *  The state of a script that is read, and what its words are worth: for answer/trainer/shell.c and shell_words.c. */
#ifndef FR_ANSWER_TRAINER_SHELL_STATE_H
#define FR_ANSWER_TRAINER_SHELL_STATE_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>

#include "answer/trainer/shell.h"

enum { VARIABLES = 256, DEPTH = 32, WORD = FR_SHELL_WORD, FUNCTIONS = 256 };

typedef enum { NO, YES, MAYBE } truth;
typedef enum { IF, LOOP, CASE } branch_kind;

struct branch {
    branch_kind kind;
    truth now, before; /**< this branch; any of those before it */
    bool choosing;     /**< a case between its patterns */
    char subject[WORD];
};

struct fr_shell {
    struct {
        char name[64], value[WORD];
        bool open; /**< branches disagree */
    } item[VARIABLES];
    int n, depth;
    int functions; /**< that began: the call of each is searched for in the whole text, of FUNCTIONS at most */
    struct branch branch[DEPTH];
};

static inline bool fr_shell_of_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/** Does the line run? */
truth fr_shell_running(const struct fr_shell *s);
truth fr_truth_both(truth a, truth b);
/** The variable called name[0..n), or -1. */
int fr_shell_find(const struct fr_shell *s, const char *name, size_t n);
/** Its value; NULL where it has none, or branches disagree. */
const char *fr_shell_value(const struct fr_shell *s, const char *name, size_t n);
/** The value of the whole numbers in text[0..n), and where they end.  @return false where something has no value */
bool fr_shell_compute(const struct fr_shell *s, const char *text, size_t n, long long *out,
                      const char **rest);
/** The end of the bracket at @p at, or NULL. */
const char *fr_shell_closing(const char *at, char opens, char closes);

#endif
