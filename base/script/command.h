/** @file
 *  A command for people to type: its words are quoted for bash, and it may be broken where it has a newline
 *  (FR_BRIEF_COMMAND of base/text/brief.h). */
#ifndef FR_BASE_SCRIPT_COMMAND_H
#define FR_BASE_SCRIPT_COMMAND_H

#include "base/text.h"

/** Append a program and its verb, of our own: "forerun search". */
void fr_command_begin(struct fr_text *command, const char *ours);

/** Append "--NAME VALUE"; a switch where @p value is NULL. */
void fr_command_option(struct fr_text *command, const char *name, const char *value);

/** Append a word. */
void fr_command_word(struct fr_text *command, const char *word);

#endif
