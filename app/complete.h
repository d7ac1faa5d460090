/** @file
 *  Which words may stand next on a command line?  For the completion of shells, and nothing
 *  but the tables that --help prints and the readers check against. */
#ifndef FR_APP_COMPLETE_H
#define FR_APP_COMPLETE_H

#include "base/text.h"

/** Append a line for each word that may take the place of the last of @p n_words >= 0 words behind
 *  "forerun", and begins like it: the word, and after a tab what it is.
 *
 *  Words are verbs, options, presets, names that an option knows, and keys of --set and --vary.  Keys with
 *  "model." and "cluster." are those of the files that the line names.  After "=" stand the words that the key
 *  knows.  Where a file may stand there are none: the shell knows files. */
void fr_complete(struct fr_text *text, const char *const *words, int n_words);

#endif
