/** @file
 *  Which words of a command line contradict each other?
 *
 *  Where two are given and one of them would be passed over, the command is refused, and the sentence names both:
 *    - two forms of one answer (--json beside --csv), whatever the verb;
 *    - one key with two values, in --set, --fix and --vary and in options that stand for a key ("plan.tp" is "tp").
 *  The same word twice is no contradiction. */
#ifndef FR_APP_CLASHES_H
#define FR_APP_CLASHES_H

#include "app/options.h"

/** @return FR_OK or FR_ERR_USAGE. */
fr_status fr_clashes_check(const struct fr_args *args, struct fr_error *err);

/** Is a form of the answer asked for: --json, --csv and their like, or a script (--emit)? */
bool fr_clashes_formed(const struct fr_args *args);

#endif
