/** @file
 *  What to type next: the command that was given, with something added or left out.
 *
 *  The texts may be broken where they have a newline in place of a blank (base/text/brief.h), and read back as they were
 *  given: values are quoted for bash. */
#ifndef FR_APP_TEXT_NEXT_H
#define FR_APP_TEXT_NEXT_H

#include "app/verb.h"
#include "base/text.h"

#define FR_OPTION_ALL                                                                          \
    { "all", NULL, "everything that the short answer leaves out: all tables, all reasons", 0 }

/** Append "forerun VERB" with the options and words of @p args, but those that say how to print: it can be gone on with.
 *  Nothing where an input is standard input, which is read once. */
void fr_next_again(const struct fr_args *args, const char *verb, struct fr_text *command);

/** Append "forerun search" for the cluster, software and model of @p args on @p ranks. */
void fr_next_search(const struct fr_args *args, long long ranks, struct fr_text *command);

/** The same for cluster @p cluster and model @p model. */
void fr_next_search_of(const struct fr_args *args, const char *cluster, const char *model,
                       long long ranks, struct fr_text *command);

#endif
