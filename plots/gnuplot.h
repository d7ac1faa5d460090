/** @file
 *  gnuplot, kept on a short leash.
 *
 *  Texts from files (names of models, hosts, methods) end up in titles, and gnuplot would run
 *  shell commands from some titles and file names.  Therefore: no shell and no start-up file
 *  (`gnuplot -d`), every string quoted here, and only our own file names, in a folder made for
 *  the one picture.  The picture reaches its place only when it is complete.
 */
#ifndef FR_PLOTS_GNUPLOT_H
#define FR_PLOTS_GNUPLOT_H

#include <stdbool.h>

#include "plots/figure.h"

/** Append @p string as a gnuplot string expression in which nothing is expanded: single quotes
 *  around it, control characters (C0, DEL, C1) as blanks, and each apostrophe joined in from
 *  outside as "'".  Doubling them, as the manual says, fails: gnuplot 5.4 misreads a doubled
 *  quote at the start of a literal or beside another one. */
void fr_gnuplot_quote(struct fr_text *script, const char *string);

/** Input of gnuplot.  The script plots the file named by its variable `data`.  It scales its
 *  fonts from `FONT`, the size of usual text, which terminals count differently.  Both are set
 *  before its first line, as are terminal and output.  So are `FACE`, the family, and `SMALL`,
 *  a font of 10 px in the quotes that `set tics font @SMALL` wants. */
struct fr_gnuplot_job {
    const char *script, *data;
    int width_px, height_px;
};

/** Make the picture.  A warning about our script is an error too: the picture lacks something.
 *  svg and png come out the same, byte for byte, from the same job.
 *  @return FR_OK, FR_ERR_USAGE (extension), FR_ERR_EXTERNAL, FR_ERR_IO or FR_ERR_NOMEM. */
fr_status fr_gnuplot_draw(const struct fr_gnuplot_job *job, const struct fr_figure_options *o,
                          struct fr_error *err);

/** Is there a gnuplot in PATH? */
bool fr_gnuplot_installed(void);

#endif
