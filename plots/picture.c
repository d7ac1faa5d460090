#include "plots/picture.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plots/gnuplot.h"

/* None of those below. */
static const char *const colours[] = {"#000000", "#E69F00", "#56B4E9", "#8C510A",
                                      "#7B3294", "#01665E", "#999933"};
static const int points[] = {7, 5, 9, 13, 11, 6, 4, 8};
enum {
    N_COLOURS = sizeof colours / sizeof *colours,
    N_POINTS = sizeof points / sizeof *points
};

const char *fr_picture_colour(int i) { return colours[i % N_COLOURS]; }
int fr_picture_point(int i) { return points[i % N_POINTS]; }

/* Methods first (Okabe & Ito), then parts of an iteration (of Tol's muted scheme): work in greens,
 * communication in blues and reds, waiting in grey. */
static const struct {
    const char *name, *colour;
} named[] = {
    {"tensor", "#0072B2"},         {"phantom", "#D55E00"},        {"grid", "#009E73"},
    {"subgraph", "#CC79A7"},       {"2-way", "#56B4E9"},          {"4-way", "#E69F00"},
    {"8-way", "#8C510A"},          {"compute", "#117733"},        {"launch", "#88c999"},
    {"fixed", "#4d4d4d"},          {"tp_comm", "#332288"},        {"pp_comm", "#88CCEE"},
    {"cp_comm", "#6699CC"},        {"ep_comm", "#661100"},        {"dp_comm", "#882255"},
    {"embedding_comm", "#CC6677"}, {"redistribution", "#AA4499"}, {"compression", "#DDCC77"},
    {"offload", "#44AA99"},        {"bubble", "#cccccc"}};

const char *fr_picture_colour_of(const char *name) {
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(named[i].name, name) == 0) return named[i].colour;
    return NULL;
}

const char *fr_picture_series_colour(const char *name, int i) {
    char first[64];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(name, " ,"), name);
    const char *own = fr_picture_colour_of(first);
    return own ? own : fr_picture_colour(i);
}

void fr_picture_begin(struct fr_picture *p, int width_px, int height_px) {
    *p = (struct fr_picture){.width_px = width_px, .height_px = height_px};
}

/* Positions count from below in gnuplot. */
static double across(const struct fr_picture *p, double x_px) { return x_px / p->width_px; }
static double up(const struct fr_picture *p, double y_px) { return 1 - y_px / p->height_px; }

/* DejaVu Sans averages just under 0.56 of its size a character. */
static double character_px(int size) { return 0.56 * size; }

double fr_picture_text_px(const char *text, int size) {
    double width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80 ? character_px(size) : 0;
    return width;
}

/* Append the first @p width characters of @p text, and an ellipsis if that is not all. */
static void add_cut(struct fr_text *cut, const char *text, double width) {
    const char *end = text;
    for (double n = 0; *end; end++) {
        bool begins = ((unsigned char)*end & 0xc0) != 0x80;
        if (begins && ++n > width) break;
    }
    fr_text_addf(cut, "%.*s%s", (int)(end - text), text, *end ? "\xe2\x80\xa6" : "");
}

void fr_picture_text(struct fr_picture *p, const char *text, double x_px, double y_px,
                     const char *align, int size, const char *colour) {
    struct fr_text cut = {0};
    double space = *align == 'l' ? p->width_px - x_px : *align == 'r' ? x_px : p->width_px;
    add_cut(&cut, text, (space - 10) / character_px(size));
    fr_text_addf(&p->script, "set label ");
    fr_gnuplot_quote(&p->script, fr_text_get(&cut));
    fr_text_addf(&p->script,
                 " at screen %.5f,%.5f %s tc rgb '%s' front font sprintf('%%s,%%g', FACE, "
                 "%g * FONT)\n",
                 across(p, x_px), up(p, y_px), align, colour, size / 12.0);
    fr_text_free(&cut);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Do the words of @p text that end and begin around its letter @p end stay together?  A number and its unit do, a short
 * word before a number ("k 16", "forerun 0.2.0"), and the sides of an equation ("n = 1024"). */
static bool stay_together(const char *text, size_t end, size_t blanks) {
    enum { UNIT = 3, NAME = 7 };
    const char *next = text + end + blanks;
    size_t before = 0;
    while (before < end && text[end - 1 - before] != ' ') before++;
    if ((before == 1 && text[end - 1] == '=') || strncmp(next, "= ", 2) == 0) return true;
    if (before > 0 && is_digit(text[end - 1])) return strcspn(next, " ") <= UNIT;
    return before <= NAME && is_digit(*next);
}

/* Where the word ends that begins behind @p length letters and blanks: three blanks part fields, within which
 * no line ends where they fit one. */
static size_t word_end(const char *text, size_t length, bool fields) {
    size_t end = length + strspn(text + length, " ");
    for (;;) {
        end += strcspn(text + end, " ");
        const size_t blanks = strspn(text + end, " ");
        if (!text[end + blanks]) return end;
        if (fields ? blanks >= 3 : !stay_together(text, end, blanks)) return end;
        end += blanks;
    }
}

int fr_picture_wrap(const char *text, int size, double width_px, struct fr_text *lines) {
    int n = 0;
    while (*text) {
        size_t length = 0, next;
        bool fields = strstr(text, "   ") != NULL;
        if (fields) fields = (double)word_end(text, 0, true) * character_px(size) <= width_px;
        do { /* a word more, while it fits */
            next = word_end(text, length, fields);
            if (length && (double)next * character_px(size) > width_px) break;
            length = next;
        } while (text[length]);
        fr_text_addf(lines, "%.*s\n", (int)length, text);
        text += length;
        text += strspn(text, " ");
        n++;
    }
    return n;
}

double fr_picture_lines(struct fr_picture *p, const char *lines, double x_px, double y_px,
                        double step_px, const char *align, int size, const char *colour) {
    for (; *lines; y_px += step_px) {
        struct fr_text line = {0};
        size_t length = strcspn(lines, "\n");
        fr_text_add(&line, lines, length);
        fr_picture_text(p, fr_text_get(&line), x_px, y_px, align, size, colour);
        p->script.failed = p->script.failed || line.failed;
        fr_text_free(&line);
        lines += length + (lines[length] == '\n');
    }
    return y_px;
}

enum { STACK_LEFT_PX = 72, STACK_RIGHT_PX = 14, STACK_PLOT_PX = 150, STACK_PANEL_PX = 214 };
enum { STACK_KEY_PX = 18, STACK_LINE_PX = 15, STACK_NOTE_PX = 11 };

void fr_picture_stack(struct fr_picture *p, int width_px, const struct fr_picture *seen) {
    p->width_px = width_px;
    p->stack.on = true;
    p->stack.panels_px =
        seen->stack.on ? seen->stack.used_px : seen->n_panels * (double)STACK_PANEL_PX;
    p->stack.keys = seen->n_keys;
}

/* Title, panels, key, note and footer from the top down, each on as many lines as it needs. */
static void place_stack(struct fr_picture *p) {
    struct fr_text title = {0}, note = {0};
    const char *own = p->o && p->o->title ? p->o->title : fr_text_get(&p->title);
    bool titled = !(p->o && p->o->no_title);
    int titles = titled ? fr_picture_wrap(own, 12, p->width_px - 24, &title) : 0;
    int notes = fr_picture_wrap(fr_text_get(&p->note), 8, p->width_px - 24, &note) +
                fr_picture_wrap(fr_text_get(&p->footer), 8, p->width_px - 24, &note);
    p->stack.next_px = 30 + titles * STACK_LINE_PX;
    p->stack.key_px = p->stack.next_px + p->stack.panels_px - 22;
    double below = p->stack.key_px + p->stack.keys * STACK_KEY_PX + 16;
    p->height_px = (int)(below + notes * STACK_NOTE_PX);
    fr_picture_lines(p, fr_text_get(&title), 8, 14, STACK_LINE_PX, "left", 12, "#000000");
    fr_picture_lines(p, fr_text_get(&note), 8, below, STACK_NOTE_PX, "left", 8, "#555555");
    fr_text_free(&title), fr_text_free(&note);
}

/* A long title is smaller, so that it is cut only where it would be too small to read. */
static int title_size(const struct fr_picture *p, const char *title) {
    enum { LARGE = 15, SMALL = 10, MARGIN_PX = 40 };
    int size = LARGE;
    while (size > SMALL && fr_picture_text_px(title, size) > p->width_px - MARGIN_PX) size--;
    return size;
}

/* Note and footer take as many lines as they need, and the picture grows with them. */
static void place_frame(struct fr_picture *p) {
    enum { NOTE_SIZE = 10, NOTE_STEP_PX = 14, MARGIN_PX = 20 };
    const char *title = p->o && p->o->title ? p->o->title : fr_text_get(&p->title);
    struct fr_text note = {0}, footer = {0};
    const double width_px = p->width_px - 2.0 * MARGIN_PX;
    const int notes = fr_picture_wrap(fr_text_get(&p->note), NOTE_SIZE, width_px, &note),
              footers = fr_picture_wrap(fr_text_get(&p->footer), NOTE_SIZE, width_px, &footer);
    const int footer_px = footers > 1 ? (footers - 1) * NOTE_STEP_PX : 0,
              both_px = footer_px + (notes > 1 ? (notes - 1) * NOTE_STEP_PX : 0);
    p->height_px += both_px;
    if (p->title.length && !(p->o && p->o->no_title))
        fr_picture_text(p, title, MARGIN_PX, 22, "left", title_size(p, title), "#000000");
    fr_picture_lines(p, fr_text_get(&note), MARGIN_PX, p->height_px - 34 - both_px,
                     NOTE_STEP_PX, "left", NOTE_SIZE, "#555555");
    fr_picture_lines(p, fr_text_get(&footer), MARGIN_PX, p->height_px - 16 - footer_px,
                     NOTE_STEP_PX, "left", NOTE_SIZE, "#555555");
    p->script.failed = p->script.failed || note.failed || footer.failed;
    fr_text_free(&note), fr_text_free(&footer);
}

/* The labels of a narrow panel's axes are small. */
static void small_axes(struct fr_picture *p) {
    fr_text_addf(&p->script,
                 "set tics font @SMALL\nset xtics offset 0,0.3\n"
                 "set xlabel font sprintf('%%s,%%g', FACE, %g * FONT) offset 0,0.9\n"
                 "set ylabel font sprintf('%%s,%%g', FACE, %g * FONT) offset 1.8,0\n",
                 10 / 12.0, 10 / 12.0);
}

static void place_panel(struct fr_picture *p, struct fr_box *placed) {
    double left = p->stack.left_px > 0 ? p->stack.left_px : STACK_LEFT_PX,
           right = p->stack.right_px > 0 ? p->stack.right_px : STACK_RIGHT_PX,
           height = p->stack.plot_px > 0 ? p->stack.plot_px : STACK_PLOT_PX,
           width = height + STACK_PANEL_PX - STACK_PLOT_PX;
    *placed = (struct fr_box){left, p->stack.next_px, p->width_px - left - right, height};
    p->stack.next_px += width;
    p->stack.used_px += width;
    p->stack.left_px = p->stack.right_px = p->stack.plot_px = 0;
}

void fr_picture_panel(struct fr_picture *p, const struct fr_box *box, const char *heading) {
    struct fr_box placed = *box;
    fr_text_addf(&p->script,
                 "%sreset\nset datafile missing 'NaN'\nset border 3 lc rgb '#444444'\n"
                 "set tics nomirror out scale 0.6\nunset key\n"
                 "set grid lt 1 lc rgb '#dddddd' lw 0.8\nset bars 0.4\n",
                 p->n_panels++ == 0 ? "set multiplot\n" : "");
    if (p->n_panels == 1) (p->stack.on ? place_stack : place_frame)(p);
    if (p->stack.on) {
        place_panel(p, &placed);
        small_axes(p);
    }
    p->keyed = false;
    p->placed = placed;
    fr_text_addf(&p->script,
                 "set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
                 "set tmargin at screen %.5f\nset bmargin at screen %.5f\n",
                 across(p, placed.left), across(p, placed.left + placed.width),
                 up(p, placed.top), up(p, placed.top + placed.height));
    if (*heading)
        fr_picture_text(p, heading, p->stack.on ? 8 : placed.left,
                        placed.top - (p->stack.on ? 10 : 16), "left", p->stack.on ? 10 : 12,
                        "#000000");
}

void fr_picture_key(struct fr_picture *p, double left, double top) {
    p->keyed = true;
    if (p->stack.on) {
        left = 8, top = p->stack.key_px + p->n_keys * STACK_KEY_PX;
        fr_text_addf(&p->script, "set key font @SMALL\n");
    }
    fr_text_addf(
        &p->script,
        "set key at screen %.5f,%.5f left top vertical maxrows 40 maxcols 1 Left reverse "
        "samplen 2.2 spacing 1.15\n",
        across(p, left), up(p, top));
}

void fr_picture_key_space(struct fr_picture *p, double left, const char *title) {
    enum { MARK_PX = 60, KEY_SIZE = 12 };
    double right = left + MARK_PX + fr_picture_text_px(title, KEY_SIZE);
    if (!p->stack.on && right > p->width_px) p->width_px = (int)right;
}

void fr_picture_axis_label(struct fr_picture *p, const char *axis, const char *text) {
    fr_text_addf(&p->script, "set %slabel ", axis);
    fr_gnuplot_quote(&p->script, text);
    fr_text_addf(&p->script, "\n");
}

void fr_picture_quote(struct fr_picture *p, const char *string) {
    fr_gnuplot_quote(&p->script, string);
}

int fr_picture_block(struct fr_picture *p) {
    if (p->n_blocks > 0) fr_text_addf(&p->data, "\n\n"); /* gnuplot's mark between blocks */
    return p->n_blocks++;
}

void fr_picture_row(struct fr_picture *p, int n, const double *values) {
    for (int i = 0; i < n; i++) {
        if (isfinite(values[i]))
            fr_text_addf(&p->data, "%s%.9g", i ? " " : "", values[i]);
        else
            fr_text_addf(&p->data, "%sNaN", i ? " " : "");
    }
    fr_text_addf(&p->data, "\n");
}

void fr_picture_curve(struct fr_picture *p, int block, const char *title, const char *how,
                      ...) {
    char drawn[256];
    va_list ap;
    va_start(ap, how);
    vsnprintf(drawn, sizeof drawn, how, ap);
    va_end(ap);
    fr_text_addf(&p->script, "%s data index %d %s ", p->plotting ? ", \\\n    " : "plot", block,
                 drawn);
    p->plotting = true;
    if (!title) {
        fr_text_addf(&p->script, "notitle");
        return;
    }
    p->n_keys += p->keyed;
    struct fr_text cut = {0};
    add_cut(&cut, title, p->stack.on ? (p->width_px - 60) / character_px(10) : 1e9);
    fr_text_addf(&p->script, "title ");
    fr_gnuplot_quote(&p->script, fr_text_get(&cut));
    fr_text_free(&cut);
}

void fr_picture_guide(struct fr_picture *p, double from_x, double from_y, double to_x,
                      double to_y) {
    int block = fr_picture_block(p);
    FR_ROW(p, from_x, from_y);
    FR_ROW(p, to_x, to_y);
    fr_picture_curve(p, block, NULL, "using 1:2 with lines lc rgb '#888888' lw 1 dt 2");
}

void fr_picture_plotted(struct fr_picture *p) {
    fr_text_addf(&p->script, "\n");
    p->plotting = false;
}

void fr_picture_free(struct fr_picture *p) {
    fr_text_free(&p->script), fr_text_free(&p->data);
    fr_text_free(&p->title), fr_text_free(&p->footer), fr_text_free(&p->note);
}

fr_status fr_picture_end(struct fr_picture *p, fr_status status,
                         const struct fr_figure_options *o, struct fr_error *err) {
    bool failed = p->script.failed || p->data.failed || p->title.failed || p->footer.failed ||
                  p->note.failed;
    if (status == FR_OK && failed)
        status = fr_fail(err, FR_ERR_NOMEM, o->output, "out of memory");
    fr_text_addf(&p->script, "unset multiplot\n");
    struct fr_gnuplot_job job = {fr_text_get(&p->script), fr_text_get(&p->data), p->width_px,
                                 p->height_px};
    if (status == FR_OK) status = fr_gnuplot_draw(&job, o, err);
    fr_picture_free(p);
    return status;
}
