/** @file
 *  One series of a fit's document "forerun/fit/1" as SVG.  Drawn here and not by gnuplot, so that a page
 *  with dozens of them is one file made in milliseconds. */
#ifndef FR_PLOTS_FIT_SVG_H
#define FR_PLOTS_FIT_SVG_H

#include "base/json.h"

/** Append the figure of one series: points with intervals, every form, and below what each form
 *  misses at sizes that were held out. */
void fr_fit_svg(const struct fr_json *series, struct fr_text *html);

/** The forms of a fit document, in order, then NULL; and the colour of each. */
extern const char *const fr_fit_svg_forms[];
extern const char *const fr_fit_svg_colours[];

#endif
