/** @file
 *  HTML, written with one function: how do elements open and close, and how is no text of a file forgotten to be escaped?
 *
 *  A format holds elements in braces, so that a tag cannot be left open by mistake and no page spells one:
 *      {p.note Expect %s a step.}         <p class=note>Expect 3.2 s a step.</p>
 *      {td.l.m[data-v="%g"] %s}           two classes, an attribute; arguments are taken in the order of the text
 *      {table {tr                         open at the end of the format: a later {/tr} and {/table} close them
 *  A class that is "" falls away.  Elements without content ({input[type=range]}, img, meta) get no closing tag. */
#ifndef FR_PLOTS_HTML_H
#define FR_PLOTS_HTML_H

#include "base/text.h"

/** printf of %s, %d, %lld's PRId64, %f, %g with flags and precision, and elements in braces.  A %s is escaped
 *  (fr_escape_xml), so braces and tags in it are text; "-" for a number that is none. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void fr_html_addf(struct fr_text *html, const char *fmt, ...);

#endif
