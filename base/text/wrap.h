/** @file
 *  Lines for a terminal: broken at blanks, later ones indented. */
#ifndef FR_BASE_TEXT_WRAP_H
#define FR_BASE_TEXT_WRAP_H

#include <limits.h>

#include "base/text.h"

enum { FR_COLUMNS = 80, FR_COLUMNS_WIDE = INT_MAX };

/** Letters in the first @p length bytes of UTF-8. */
int fr_letters(const char *words, size_t length);

/** Append @p prose so that no line has more than @p columns letters, where its words allow.
 *  @param column  where the first line goes on
 *  @param indent  where later ones begin */
void fr_wrap(struct fr_text *text, const char *prose, int column, int indent, int columns);

/** The same of a list: broken behind commas and semicolons alone, so that "zero 1" stays together. */
void fr_wrap_list(struct fr_text *text, const char *list, int column, int indent, int columns);

/** End a line, without blanks at its end. */
void fr_end_line(struct fr_text *text);

/** Append "head       prose" and a line's end, prose from column 11 on. */
void fr_wrap_head(struct fr_text *text, const char *head, const char *prose, int columns);

/** Append the last cell of a row, from @p column on, broken within it, and a line's end. */
void fr_wrap_cell(struct fr_text *text, int column, const char *prose);

#endif
