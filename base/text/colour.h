/** @file
 *  Verdicts in colour, on a terminal: green PASS, yellow WARN, red FAIL where a line begins with one or says
 *  "verdict" before it. */
#ifndef FR_BASE_TEXT_COLOUR_H
#define FR_BASE_TEXT_COLOUR_H

#include <stdbool.h>

#include "base/text.h"

/** Does @p fd show colours: a terminal, no NO_COLOR, and TERM other than dumb? */
bool fr_colours(int fd);

/** Append @p plain, its verdicts coloured. */
void fr_colour_verdicts(const char *plain, struct fr_text *out);

#endif
