/** @file
 *  Help and completion of forerun-mpi: its own commands, and search as forerun has it. */
#ifndef FR_APP_RANKS_COMPLETE_H
#define FR_APP_RANKS_COMPLETE_H

#include "base/text.h"

/** Append the list of commands. */
void fr_ranks_help(struct fr_text *text);

/** Append the words that may stand last in @p words[0..n_words-1], which follow the program's name, a line each. */
void fr_ranks_complete(struct fr_text *text, const char *const *words, int n_words);

#endif
