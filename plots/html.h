/** @file
 *  HTML and the SVG in it, written with one function, so that no text of a file can be forgotten:
 *  every %s is escaped (fr_escape_xml).  Mark-up stands in the format. */
#ifndef FR_PLOTS_HTML_H
#define FR_PLOTS_HTML_H

#include "base/text.h"

/** printf of %s, %d, %lld's PRId64, %f, %g with flags and precision; %s escaped, and
 *  "-" for a number that is none. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void fr_html_addf(struct fr_text *html, const char *fmt, ...);

#endif
