/** @file
 *  An option that a verb does not have: what to write instead. */
#ifndef FR_APP_WORDS_UNKNOWN_OPTION_H
#define FR_APP_WORDS_UNKNOWN_OPTION_H

#include "app/options.h"

/** Refuse argv[at] ("--gpus" or "--gpus=64").  Suggested is an option of the verb, or a key of --set ("--tp 8" is
 *  --set tp=8); nodes are counted in ranks of the cluster that the line names.  @return FR_ERR_USAGE */
fr_status fr_unknown_option(const struct fr_option *options, int argc, char **argv, int at,
                            struct fr_error *err);

/** The same of a letter, "-n", or of a word behind one dash, "-np". */
fr_status fr_unknown_letter(const struct fr_option *options, int argc, char **argv, int at,
                            struct fr_error *err);

#endif
