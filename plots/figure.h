/** @file
 *  A figure: JSON results of other commands in, one picture out.
 *
 *  Figures read only what they need and let other keys pass, so that a result of a newer
 *  version still draws.  A needed key that is missing is an error with its place; then no file
 *  is written.
 *
 *  To add one: plots/figure/<name>.c exporting fr_figure_<name>, and a row FR_FIGURE(<name>) in
 *  plots/figure_list.h.
 */
#ifndef FR_PLOTS_FIGURE_H
#define FR_PLOTS_FIGURE_H

#include <stdbool.h>

#include "base/json.h"

struct fr_picture;
struct fr_results;

struct fr_figure_options {
    const char *output; /**< FILE.svg, FILE.png or FILE.pdf */
    bool keep_script;   /**< leave FILE.gp and FILE.dat beside it */
    const char
        *along; /**< key of the x axis, of a figure that runs along any; NULL: the likeliest */
    double from_s, to_s; /**< of gantt: the part of the trace that is drawn; to 0: its end */
    const char *title;   /**< instead of the figure's own; NULL: that */
    bool no_title;
    double width_in;  /**< of the whole picture [inches]; 0: as it comes */
    const char *face; /**< font family; NULL: DejaVu Sans */
    double font_pt;   /**< size of usual text; 0: 9 */
    struct fr_text
        *into; /**< where an SVG goes, while output only says that it is one; NULL: output */
    const char *format; /**< of the files of a folder: "svg" (NULL), "png", "pdf" */
};

struct fr_figure {
    const char *name;    /**< spelling on the command line, words joined by dashes */
    const char *summary; /**< what it shows, one line */
    const char *inputs;  /**< what it reads */
    bool runs_along;     /**< its x axis is any key that differs between its results */
    bool one_input;      /**< it takes one document */
    int size_px[2];      /**< width, height; 0: set in the picture as it is drawn */
    bool stacks; /**< its panels may stand below each other where a narrow width is asked for */
    /** Draw @p n_inputs >= 1 documents.  @return FR_OK; FR_ERR_INPUT for one that does not fit;
     *  FR_ERR_USAGE; FR_ERR_NOMEM. */
    fr_status (*draw)(struct fr_picture *p, const struct fr_json *roots, int n_inputs,
                      struct fr_error *err);
    /** Or a folder of pictures, o->output, which is there. */
    fr_status (*draw_folder)(const struct fr_json *root, const struct fr_figure_options *o,
                             struct fr_error *err);
    /** Or results of predict or search, which @p root is the first document of. */
    fr_status (*draw_results)(struct fr_picture *p, struct fr_results *results,
                              const struct fr_json *root, const struct fr_figure_options *o,
                              struct fr_error *err);
};

/** Rows that others name. */
extern const struct fr_figure fr_figure_energy_time, fr_figure_fit, fr_figure_pareto,
    fr_figure_scaling, fr_figure_gemm, fr_figure_gantt, fr_figure_breakdown, fr_figure_score,
    fr_figure_validate, fr_figure_ghost, fr_figure_paper, fr_figure_clusters,
    fr_figure_frontier, fr_figure_break_even, fr_figure_quality;

/** Rows in table order, then NULL. */
extern const struct fr_figure *const fr_figures[];

/** Draw @p n_inputs >= 1 documents into o->output.
 *  @return FR_OK; FR_ERR_INPUT for a document that does not fit, FR_ERR_USAGE for an output
 *          that is no picture, FR_ERR_EXTERNAL for gnuplot, FR_ERR_IO, FR_ERR_NOMEM. */
fr_status fr_figure_draw(const struct fr_figure *figure, const struct fr_json *roots,
                         int n_inputs, const struct fr_figure_options *o, struct fr_error *err);

/** The figure called @p name; on FR_ERR_USAGE the nearest one is suggested. */
fr_status fr_figure_find(const char *name, const struct fr_figure **figure,
                         struct fr_error *err);

#endif
