/** @file
 *  Titles and notes come from files and command lines; a trace must stay one that opens. */
#ifndef FR_TRACES_CLEAN_H
#define FR_TRACES_CLEAN_H

#include "base/text.h"

/** Append @p value with each byte that is not UTF-8 as '?'. */
void fr_clean_utf8(struct fr_text *out, const char *value);

/** The same on one line and free of double quotes, for formats that cannot escape: control
 *  characters become blanks, '"' becomes '\''. */
void fr_clean_line(struct fr_text *out, const char *value);

#endif
