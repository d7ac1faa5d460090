/** @file
 *  A command refused its input: was it given a file of another kind?
 *
 *  Asked after the refusal, of every file on the command line, so that no reader has to know all kinds and no good
 *  file is held up.  The answer names both kinds and what reads the file that was given. */
#ifndef FR_APP_WORDS_WRONG_FILE_H
#define FR_APP_WORDS_WRONG_FILE_H

#include "app/verb.h"

/** Replace the sentence of @p err, if one file of @p args is of a kind that its place does not take: of a
 *  FR_ERR_INPUT alone. */
void fr_wrong_file(const struct fr_verb *verb, const struct fr_args *args, fr_status *status,
                   struct fr_error *err);

#endif
