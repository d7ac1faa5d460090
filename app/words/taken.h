/** @file
 *  What people type before they know the options: words without an option, names of presets as others write them,
 *  two inputs in each other's place, an option given twice.
 *
 *  What has one meaning is taken, and a note on standard error tells how; the rest is refused in one sentence. */
#ifndef FR_APP_WORDS_TAKEN_H
#define FR_APP_WORDS_TAKEN_H

#include "app/verb.h"

/** Complete @p args: words become values of options, names become presets.
 *  @return FR_OK, or FR_ERR_USAGE for what contradicts itself. */
fr_status fr_taken(const struct fr_verb *verb, struct fr_args *args, struct fr_error *err);

/** May @p option of @p verb be given several times, with different values? */
bool fr_option_repeats(const struct fr_verb *verb, const char *option);

#endif
