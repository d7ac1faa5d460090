/** @file
 *  A command refused the value of a key: which option gave it, and was it one value?
 *
 *  Readers of plans, models and clusters know that a value came from the command line.  Here the place becomes the
 *  option that was typed, and several values where one is asked for lead to --vary. */
#ifndef FR_APP_WORDS_WRONG_VALUE_H
#define FR_APP_WORDS_WRONG_VALUE_H

#include "app/verb.h"

/** Complete the sentence of @p err, if it is about a KEY=VALUE of @p args. */
void fr_wrong_value(const struct fr_verb *verb, const struct fr_args *args,
                    struct fr_error *err);

#endif
