/** @file
 *  Which words does a line of a shell have, and which of them starts ranks? */
#ifndef FR_BASE_TEXT_LAUNCH_COMMAND_H
#define FR_BASE_TEXT_LAUNCH_COMMAND_H

#include "base/text/launch.h"
#include "base/text/launcher.h"

enum { FR_LAUNCH_WORDS_MAX = 160 };

struct fr_launch_command {
    char text[FR_LAUNCH_LINE_B];
    char *word[FR_LAUNCH_WORDS_MAX]; /**< [n], in `text` */
    int n;
};

/** Words of a shell, or of a list of JSON or YAML: quotes, commas and brackets at their ends go. */
void fr_launch_split(const char *line, struct fr_launch_command *command);

/** Is @p word a program whose own options begin there, whatever stood before? */
bool fr_launch_benchmark(const char *word);

/** The launcher that word @p i calls; NULL: none. */
const struct fr_launcher *fr_launcher_at(const struct fr_launch_command *command, int i);

#endif
