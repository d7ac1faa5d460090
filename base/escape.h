/** @file
 *  Texts of others in the formats we write.  Names come from files and command lines; what they
 *  hold stays text in a page, a table, a trace and on a terminal, whatever it is.
 *
 *  Each format has one function here, or in the file that writes the format (fr_json_writer,
 *  fr_csv_put, fr_gnuplot_quote).  Bytes that are no UTF-8 become U+FFFD, or '?' where a reader may
 *  not know UTF-8.  Hidden characters are those that a reader obeys rather than shows.  They are
 *  line separators, tags, and C0 and C1 controls, which terminals take as commands.  Marks that
 *  turn the direction of writing are hidden, too: they make a text read as another
 *  (CVE-2021-42574). */
#ifndef FR_BASE_ESCAPE_H
#define FR_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/** Bytes of the UTF-8 character at @p at (RFC 3629), 0 when there is none.  @p code may be NULL. */
int fr_utf8_character(const char *at, uint32_t *code);

/** Is @p code obeyed rather than shown?  Tabs and line ends count too. */
bool fr_is_hidden(uint32_t code);

/** For people: hidden characters and bytes that are no UTF-8 become '?'; tabs and line ends (LF, CR LF) stay. */
void fr_escape_terminal(struct fr_text *out, const char *text, size_t length);
/** Is there anything in it that fr_escape_terminal would change? */
bool fr_is_plain(const char *text, size_t length);

/** Into an element or a quoted attribute of HTML, SVG or XML 1.0: what is hidden becomes U+FFFD,
 *  tabs and line ends a blank. */
void fr_escape_xml(struct fr_text *out, const char *text);

/** Into a cell of a Markdown table, on one line: no mark-up, no bar. */
void fr_escape_markdown(struct fr_text *out, const char *text);

/** Into running text of LaTeX, on one line: what is a command there is set as the character. */
void fr_escape_latex(struct fr_text *out, const char *text);

#endif
