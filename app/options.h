/** @file
 *  The command line: a table of options a verb, parsed once; help, completion and the check of
 *  unknown words read the same table. */
#ifndef FR_APP_OPTIONS_H
#define FR_APP_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"

struct fr_option {
    const char *name;     /**< without dashes */
    const char *argument; /**< what it takes ("FILE"), or NULL: a switch */
    const char *help;
    char letter; /**< short form, or 0 */
};

enum { FR_ARGS_MAX = 256 };

/** Parsed words.  Options in the order given; an option may come several times. */
struct fr_args {
    const struct fr_option *option[FR_ARGS_MAX];
    const char *value[FR_ARGS_MAX];
    int n_options;
    int n_read; /**< so many of the first options were read from a trainer's file (app/from/expand.h) */
    const char *word[FR_ARGS_MAX]; /**< what is no option */
    int n_words;
};

/** Parse argv[0..argc-1] (no program or verb name).  "--name=value" and "--name value" are the
 *  same; "--" ends options; "-" is a word.
 *  @param options  table, ended by a row without name
 *  @return FR_OK or FR_ERR_USAGE with the nearest known option. */
fr_status fr_args_parse(int argc, char **argv, const struct fr_option *options,
                        struct fr_args *args, struct fr_error *err);

/** The row @p name of @p options, or NULL. */
const struct fr_option *fr_option_find(const struct fr_option *options, const char *name);

/** Last value of option @p name, or NULL. */
const char *fr_args_get(const struct fr_args *args, const char *name);
bool fr_args_has(const struct fr_args *args, const char *name);
/** All values of option @p name, in order. @return how many. */
int fr_args_all(const struct fr_args *args, const char *name, const char *values[FR_ARGS_MAX]);

/** Whole number / positive number / one of @p choices (NULL-terminated) of an option, or the
 *  default already in @p out when it is absent.  @return FR_OK or FR_ERR_USAGE. */
fr_status fr_args_integer(const struct fr_args *args, const char *name, long long min,
                          long long max, long long *out, struct fr_error *err);
fr_status fr_args_number(const struct fr_args *args, const char *name, double min, double max,
                         double *out, struct fr_error *err);
/** A share: "1%" or 0.01.  A bare number of @p unsure or more is refused: 1 may be meant as 1 % or as 100 %. */
fr_status fr_args_share(const struct fr_args *args, const char *name, double max, double unsure,
                        double *out, struct fr_error *err);
fr_status fr_args_choice(const struct fr_args *args, const char *name,
                         const char *const *choices, int *out, struct fr_error *err);
/** FR_ERR_USAGE unless the option is there. */
fr_status fr_args_required(const struct fr_args *args, const char *name, const char **out,
                           struct fr_error *err);

#endif
