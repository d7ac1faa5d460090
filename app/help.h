/** @file
 *  The text of --help, from a verb's own table, in lines of 80 columns. */
#ifndef FR_APP_HELP_H
#define FR_APP_HELP_H

#include "app/verb.h"
#include "base/text.h"

/** The program's own page: two examples, a line for each verb, exit codes. */
void fr_help_program(struct fr_text *text);

/** A verb's: usage, options, paragraph and examples. */
void fr_help_verb(struct fr_text *text, const struct fr_verb *verb);

/** Append the lines of @p details (struct fr_verb).  A line that begins with two spaces is a
 *  command: where it is too long it goes on after a backslash, broken before an option. */
void fr_help_details(struct fr_text *text, const char *details);

#endif
