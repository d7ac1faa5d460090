/** @file
 *  A picture in the making: a gnuplot script, its data in numbered blocks, and the frame that
 *  all figures share (title, panels placed in pixels, footer).
 *
 *  Order of use: fr_picture_begin; for each panel fr_picture_panel, axes, blocks and one
 *  `plot`; fr_picture_end.  Nothing fails in between: a fr_text that runs out of memory says so
 *  at the end.
 */
#ifndef FR_PLOTS_PICTURE_H
#define FR_PLOTS_PICTURE_H

#include "plots/figure.h"

/** A rectangle, from the top left corner of the picture [px]. */
struct fr_box {
    double left, top, width, height;
};

struct fr_picture {
    const struct fr_figure_options *o; /**< NULL: none */
    struct fr_text script, data;
    struct fr_text title, footer, note; /**< note: a second footer line, about this figure */
    int width_px, height_px;
    int n_blocks, n_panels;
    /** Panels below each other, one column, key and texts under them: set by fr_picture_stack. */
    struct {
        bool on;
        int keys;         /**< how many there will be, of an earlier pass ... */
        double panels_px; /**< ... and the size of all panels */
        /** Height and margins of the next panel, where the figure sets them. */
        double plot_px, left_px, right_px;
        double used_px; /**< size of the panels so far */
        double next_px; /**< top of the next panel */
        double key_px;  /**< top of the key */
    } stack;
    struct fr_box placed; /**< the panel's plot area, wherever it was placed */
    int n_keys;           /**< titles in the key */
    bool keyed;           /**< the panel has the key */
    bool plotting;        /**< inside a plot command: the next curve follows a comma */
};

/** Begin; texts are appended to p->title, footer and note until the first panel. */
void fr_picture_begin(struct fr_picture *p, int width_px, int height_px);

/** The picture is one column of @p width_px: whatever boxes its panels name, they stand below each
 *  other.  @p seen is the same figure drawn before, from which sizes are known.  After
 *  fr_picture_begin. */
void fr_picture_stack(struct fr_picture *p, int width_px, const struct fr_picture *seen);

/** Begin a panel whose plot area is @p box, with a heading over it (may be ""). */
void fr_picture_panel(struct fr_picture *p, const struct fr_box *box, const char *heading);
/** Append @p text cut at blanks into lines of at most @p width_px, each ended by '\n'.
 *  @return how many. */
int fr_picture_wrap(const char *text, int size, double width_px, struct fr_text *lines);
/** Write lines of fr_picture_wrap down from @p y_px, @p step_px apart, aligned as fr_picture_text does.
 *  @return below them. */
double fr_picture_lines(struct fr_picture *p, const char *lines, double x_px, double y_px,
                        double step_px, const char *align, int size, const char *colour);
/** A text over the current panel at a point of the picture [px], its "left", "right" or
 *  "center" there; cut where it would leave the picture.  Before the panel's plot. */
void fr_picture_text(struct fr_picture *p, const char *text, double x_px, double y_px,
                     const char *align, int size, const char *colour);
/** Width of @p text at a font size, a little generous [px]. */
double fr_picture_text_px(const char *text, int size);
/** The panel's key, its top left corner at a point of the picture [px]. */
void fr_picture_key(struct fr_picture *p, double left, double top);
/** Make the picture wide enough for @p title in a key whose left is @p left.  Before any panel. */
void fr_picture_key_space(struct fr_picture *p, double left, const char *title);
/** "set <axis>label", e.g. "x". */
void fr_picture_axis_label(struct fr_picture *p, const char *axis, const char *text);

/** Append @p string to the script as a string: see fr_gnuplot_quote. */
void fr_picture_quote(struct fr_picture *p, const char *string);

/** Begin the next data block; it must get at least one line.  @return its index. */
int fr_picture_block(struct fr_picture *p);
/** Append one line of @p n numbers to the current block; NaN is a missing one. */
void fr_picture_row(struct fr_picture *p, int n, const double *values);
#define FR_ROW(p, ...)                                                                         \
    fr_picture_row((p), (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)),               \
                   (const double[]){__VA_ARGS__})

/** Add a curve to the panel's plot: block @p block drawn as @p how (gnuplot's "using ... with
 *  ...") and called @p title in the key, or kept out of it when NULL. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void fr_picture_curve(struct fr_picture *p, int block, const char *title, const char *how, ...);

/** A grey dashed line from one point to the other. */
void fr_picture_guide(struct fr_picture *p, double from_x, double from_y, double to_x,
                      double to_y);

/** End the panel's plot. */
void fr_picture_plotted(struct fr_picture *p);

void fr_picture_free(struct fr_picture *p);
/** Draw what was built, and free it.  @p status is what building came to: when it is not
 *  FR_OK nothing is drawn and it is returned. */
fr_status fr_picture_end(struct fr_picture *p, fr_status status,
                         const struct fr_figure_options *o, struct fr_error *err);

/** The colour of a method, a step or a part of the iteration by its name, the same in all figures;
 *  NULL for a name that has none of its own. */
const char *fr_picture_colour_of(const char *name);
/** Colours of what has none of its own, and none that means something elsewhere: "#rrggbb"; 0 is black.
 *  Repeats after 7.  Methods have those of Okabe & Ito (Color Universal Design, 2008), parts of an iteration
 *  those of Tol's muted scheme (Colour Schemes, 2021): all remain apart for colour-blind readers. */
const char *fr_picture_colour(int i);
/** The colour of the first word of @p name, else fr_picture_colour(i). */
const char *fr_picture_series_colour(const char *name, int i);
/** gnuplot's point type of curve @p i: filled marks before open ones, changing at another
 *  pace than colours do, so that 49 curves differ. */
int fr_picture_point(int i);

#endif
