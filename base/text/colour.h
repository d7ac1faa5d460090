/** @file
 *  Colour, on a terminal: green PASS, yellow WARN and red FAIL where a line begins with one or says "verdict" before it.
 *  The best of several answers is bold.  In an error the likely word is green. */
#ifndef FR_BASE_TEXT_COLOUR_H
#define FR_BASE_TEXT_COLOUR_H

#include <stdbool.h>

#include "base/text.h"

/** When to colour; auto: where fr_colours finds a terminal that shows them. */
typedef enum { FR_COLOUR_AUTO, FR_COLOUR_ALWAYS, FR_COLOUR_NEVER } fr_colour;
/** Spellings in that order, then NULL. */
extern const char *const fr_colour_names[];

/** From now on colour so (of the process: for main). */
void fr_colour_set(fr_colour when);

/** Is what @p fd gets coloured?  Auto: a terminal, no NO_COLOR, and TERM other than dumb. */
bool fr_colours(int fd);

/** Append the answer @p plain in colours.  JSON stays as it is. */
void fr_colour_answer(const char *plain, struct fr_text *out);

/** Append the sentence of an error @p plain, the word that it takes to be meant in green. */
void fr_colour_error(const char *plain, struct fr_text *out);

#endif
