#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plots/paper/sheet_layout.h"
#include "plots/scale.h"

enum {
    WIDTH_PX = 317, /* 3.3 inches at 96 to the inch */
    LEFT_PX = 62,
    RIGHT_PX = 12,
    PLOT_PX = 130,
    LOW_PLOT_PX = 80, /* of more than five */
    TITLE_SIZE = 12,
    TEXT_SIZE = 10,
    NOTE_SIZE = 8,
    TICKS_MAX = 6
};

/* ---- how they look ---------------------------------------------------------------------------- */

/* How many series before it share its first word: distinguished by mark and dash. */
static int variant_of(const struct fr_sheet_layout *s, int series) {
    size_t length = strcspn(s->series[series], " ");
    int n = 0;
    for (int i = 0; i < series; i++)
        n += strncmp(s->series[i], s->series[series], length) == 0 &&
             strcspn(s->series[i], " ") == length && s->series[i][length];
    return n;
}

/* Curves of trainings lie on each other: every one has a dash of its own. */
static int dash_of(const struct fr_sheet_layout *s, int series) {
    return (s->field[0].panel->kind == FR_SHEET_LINES ? series : variant_of(s, series)) + 1;
}

/* "phantom k=4" has a colour of phantom's, "4_way" that of its number. */
static const char *colour_of(const struct fr_sheet_layout *s, int series) {
    static const char *const variants[] = {"#E69F00", "#8C510A", "#CC79A7", "#7B3294",
                                           "#999933"};
    enum { VARIANTS = sizeof variants / sizeof *variants };
    static const struct {
        const char *name, *colour;
    } others[] = {
        {"2_way", "#56B4E9"},      {"4_way", "#E69F00"},       {"8_way", "#8C510A"},
        {"4_way_cSub", "#7B3294"}, {"aware", "#E69F00"},       {"naive", "#01665E"},
        {"over", "#E69F00"},       {"compression", "#E69F00"}, {"decompression", "#8C510A"},
        {"", "#56B4E9"},           {"data_over", "#000000"},   {"data_parallel", "#000000"},
        {"FWD", "#117733"},        {"BWD", "#88c999"},         {"inter-stage", "#88CCEE"},
        {"DP", "#882255"},         {"EMB", "#CC6677"},         {"rest", "#cccccc"},
        {"model", "#332288"},      {"data", "#882255"},        {"baseline", "#777777"},
        {"cb", "#0072B2"},         {"fe", "#E69F00"},          {"sc", "#8C510A"},
        {"network", "#cc0000"},    {"error_mean", "#117733"},  {"difference_mean", "#7B3294"},
        {"cosine", "#E69F00"},     {"alike", "#56B4E9"}};
    char first[FR_PAPER_WORD];
    const char *name = s->series[series], *own;
    int variant = variant_of(s, series);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].name, name) == 0) return others[i].colour;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(name, " "), name);
    own = fr_picture_colour_of(first);
    if (own && variant > 0) own = variants[(variant - 1) % VARIANTS];
    return own ? own : fr_picture_colour(series);
}

/* ---- panels ----------------------------------------------------------------------------------- */

static void include_values(const struct fr_sheet_field *f, struct fr_scale *seen) {
    double sum[FR_SHEET_PLACES_MAX] = {0};
    for (int i = 0; i < f->n; i++) {
        const struct fr_sheet_spot *at = &f->spot[i];
        fr_scale_include(seen, at->row->published * f->factor);
        fr_scale_include(seen, at->row->ours * f->factor);
        fr_scale_include(seen, at->row->low * f->factor);
        fr_scale_include(seen, at->row->high * f->factor);
        if (f->panel->kind == FR_SHEET_STACK && at->row->ours > 0)
            fr_scale_include(seen, sum[at->place] += at->row->ours * f->factor);
    }
}

/* At most @p most ticks, at 1, 2 or 5 times a power of ten, from 0 or below. */
static void linear_axis(struct fr_picture *p, const struct fr_sheet_field *f, double low,
                        double high, double most) {
    double span = high - low, step = pow(10, floor(log10(span / 4)));
    char text[40];
    const double times[] = {1, 2, 5, 10};
    int k = 0;
    while (k < 3 && span / (times[k] * step) > most) k++;
    step *= times[k];
    const int first = (int)ceil(1.08 * low / step);
    fr_text_addf(&p->script, "set yrange [%.9g:%.9g]\nset ytics (", 1.08 * low, 1.08 * high);
    for (int i = first; i * step <= 1.08 * high && i < first + 30; i++) {
        if (f->has_quantity)
            fr_scale_text(i * step, f->quantity, text, sizeof text);
        else
            snprintf(text, sizeof text, "%.4g%s", i * step, f->percent ? " %%" : "");
        fr_text_addf(&p->script, "%s'%s' %.9g", i > first ? ", " : "", i ? text : "0",
                     i * step);
    }
    fr_text_addf(&p->script, ")\n%s", low < 0 ? "set xzeroaxis lc rgb '#444444'\n" : "");
}

static double lowest(const struct fr_sheet_field *f) {
    double low = 0;
    for (int i = 0; i < f->n; i++) low = fmin(low, f->spot[i].row->ours * f->factor);
    return low;
}

static void y_axis(struct fr_picture *p, const struct fr_sheet_field *f, bool low_panel) {
    struct fr_scale seen = FR_SCALE_EMPTY;
    include_values(f, &seen);
    if (f->panel->linear)
        linear_axis(p, f, lowest(f), seen.high > 0 ? seen.high : 1, low_panel ? 5 : 8);
    else if (f->has_quantity)
        fr_scale_axis(p, "y", seen, f->quantity, TICKS_MAX);
    else
        fr_scale_plain(p, "y", fr_scale_padded(seen));
}

static void numbers_axis(struct fr_picture *p, const struct fr_sheet_field *f) {
    if (f->panel->kind == FR_SHEET_LINES) {
        fr_scale_linear(p, "x", fr_sheet_number_of(f->place[f->n_places - 1]));
        return;
    }
    int64_t values[FR_SHEET_PLACES_MAX];
    for (int i = 0; i < f->n_places; i++) values[i] = (int64_t)fr_sheet_number_of(f->place[i]);
    fr_scale_counts(p, values, f->n_places, 9);
}

/* A tick's label is a format of gnuplot's. */
static void quote_tick(struct fr_picture *p, const char *label) {
    struct fr_text doubled = {0};
    for (const char *c = label; *c; c++)
        fr_text_add(&doubled, *c == '%' ? "%%" : c, *c == '%' ? 2 : 1);
    fr_picture_quote(p, fr_text_get(&doubled));
    fr_text_free(&doubled);
}

static void words_axis(struct fr_picture *p, const struct fr_sheet_field *f) {
    double space_px = (WIDTH_PX - LEFT_PX - RIGHT_PX) / (double)f->n_places;
    fr_text_addf(&p->script,
                 "set xrange [-0.6:%g]\nunset grid\nset grid ytics lt 1 lc rgb "
                 "'#dddddd' lw 0.8\nset xtics scale 0 (",
                 f->n_places - 0.4);
    for (int i = 0; i < f->n_places; i++) {
        char name[FR_PAPER_WORD];
        fr_sheet_series_name(f->place[i], name);
        fr_text_addf(&p->script, "%s", i ? ", " : "");
        quote_tick(p, fr_picture_text_px(name, TEXT_SIZE) < space_px + 8 ? name : f->place[i]);
        fr_text_addf(&p->script, " %d", i);
    }
    fr_text_addf(&p->script, ")\n");
}

static bool is_stated(const struct fr_sheet_spot *at) {
    return isfinite(at->row->low) && isfinite(at->row->high);
}

/* Does an earlier series of the panel with the same first word have a band?  Two would hide each other. */
static bool has_band(const struct fr_sheet_layout *s, const struct fr_sheet_field *f,
                     int series) {
    size_t length = strcspn(s->series[series], " ");
    for (int i = 0; i < f->n; i++) {
        const char *other = s->series[f->spot[i].series];
        if (f->spot[i].series < series && strcspn(other, " ") == length &&
            strncmp(other, s->series[series], length) == 0)
            return true;
    }
    return false;
}

/* The 90 % interval of ours, below all curves. */
static void draw_band(struct fr_picture *p, const struct fr_sheet_layout *s,
                      const struct fr_sheet_field *f, int series) {
    int block = -1;
    if (has_band(s, f, series)) return;
    for (int k = 0; k < f->n_places; k++)
        for (int i = 0; i < f->n; i++) {
            const struct fr_sheet_spot *at = &f->spot[i];
            if (at->series != series || at->place != k || !is_stated(at)) continue;
            if (block < 0) block = fr_picture_block(p);
            FR_ROW(p, fr_sheet_number_of(at->x), at->row->low * f->factor,
                   at->row->high * f->factor);
        }
    if (block >= 0)
        fr_picture_curve(
            p, block, NULL,
            "using 1:2:3 with filledcurves lc rgb '%s' fs transparent solid 0.13 noborder",
            colour_of(s, series));
}

static void draw_curve(struct fr_picture *p, const struct fr_sheet_layout *s,
                       const struct fr_sheet_field *f, int series) {
    int line = -1, marks = -1;
    const char *colour = colour_of(s, series);
    for (int pass = 0; pass < 2; pass++) {
        int *block = pass ? &marks : &line;
        for (int k = 0; k < f->n_places; k++)
            for (int i = 0; i < f->n; i++) {
                const struct fr_sheet_spot *at = &f->spot[i];
                double value = pass ? at->row->published : at->row->ours;
                if (at->series != series || at->place != k || !isfinite(value)) continue;
                if (*block < 0) *block = fr_picture_block(p);
                FR_ROW(p, fr_sheet_number_of(at->x), value * f->factor);
            }
    }
    if (line >= 0)
        fr_picture_curve(p, line, NULL,
                         "using 1:2 with linespoints lc rgb '%s' lw 1.5 dt %d pt 7 ps 0.25",
                         colour, dash_of(s, series));
    if (marks >= 0)
        fr_picture_curve(p, marks, NULL, "using 1:2 with points lc rgb '%s' pt %d ps 0.75",
                         colour, fr_picture_point(series + 1));
}

static void draw_bars_intervals(struct fr_picture *p, const struct fr_sheet_field *f,
                                double width) {
    int block = -1;
    for (int i = 0; i < f->n; i++) {
        const struct fr_sheet_spot *at = &f->spot[i];
        if (!is_stated(at)) continue;
        if (block < 0) block = fr_picture_block(p);
        FR_ROW(p, at->place - 0.35 + (f->bar[at->series] + 0.5) * width,
               at->row->low * f->factor, 0, (at->row->high - at->row->low) * f->factor);
    }
    if (block >= 0)
        fr_picture_curve(
            p, block, NULL,
            "using 1:2:3:4 with vectors heads size screen 0.006,90 lc rgb '#444444' lw 1");
}

/* Ours as bars side by side, published as a mark over each. */
static void draw_bars(struct fr_picture *p, const struct fr_sheet_layout *s,
                      const struct fr_sheet_field *f) {
    int ours = fr_picture_block(p), published = -1;
    double width = 0.7 / f->n_bars;
    for (int i = 0; i < f->n; i++) {
        const struct fr_sheet_spot *at = &f->spot[i];
        double left = at->place - 0.35 + f->bar[at->series] * width;
        uint32_t rgb = (uint32_t)strtoul(colour_of(s, at->series) + 1, NULL, 16);
        FR_ROW(p, left, 0, left, left + width, 0, at->row->ours * f->factor, rgb);
    }
    fr_picture_curve(p, ours, NULL,
                     "using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable fs solid noborder");
    draw_bars_intervals(p, f, width);
    for (int i = 0; i < f->n; i++) {
        const struct fr_sheet_spot *at = &f->spot[i];
        if (!isfinite(at->row->published)) continue;
        if (published < 0) published = fr_picture_block(p);
        FR_ROW(p, at->place - 0.35 + (f->bar[at->series] + 0.5) * width,
               at->row->published * f->factor);
    }
    if (published >= 0)
        fr_picture_curve(p, published, NULL,
                         "using 1:2 with points lc rgb '#000000' pt 13 ps 0.8");
}

static void draw_stack(struct fr_picture *p, const struct fr_sheet_layout *s,
                       const struct fr_sheet_field *f) {
    double sum[FR_SHEET_PLACES_MAX] = {0};
    int block = fr_picture_block(p);
    for (int i = 0; i < f->n; i++) {
        const struct fr_sheet_spot *at = &f->spot[i];
        uint32_t rgb = (uint32_t)strtoul(colour_of(s, at->series) + 1, NULL, 16);
        double low = sum[at->place], value = at->row->ours * f->factor;
        if (!(value > 0)) continue;
        sum[at->place] = low + value;
        FR_ROW(p, at->place, low, at->place - 0.35, at->place + 0.35, low, low + value, rgb);
    }
    FR_ROW(p, 0, 0, 0, 0, 0, 0, 0);
    fr_picture_curve(p, block, NULL,
                     "using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable fs solid noborder");
}

static double plot_px(const struct fr_sheet_layout *s) {
    return s->n_fields > 5 ? LOW_PLOT_PX : PLOT_PX;
}

static void draw_field(struct fr_picture *p, const struct fr_sheet_layout *s,
                       const struct fr_sheet_field *f, double top_px) {
    struct fr_box box = {LEFT_PX, top_px, WIDTH_PX - LEFT_PX - RIGHT_PX, plot_px(s)};
    fr_picture_panel(p, &box, "");
    fr_picture_text(p, f->panel->heading, 8, top_px - 10, "left", TEXT_SIZE, "#000000");
    fr_text_addf(&p->script,
                 "set tics font @SMALL\n"
                 "set xlabel font sprintf('%%s,%%g', FACE, %g * FONT) offset 0,1.1\n"
                 "set xtics offset 0,0.3\n",
                 TEXT_SIZE / 12.0);
    fr_picture_axis_label(p, "x", f->panel->x);
    y_axis(p, f, plot_px(s) < PLOT_PX);
    if (fr_sheet_has_curves(f->panel)) {
        numbers_axis(p, f);
        for (int i = 0; i < s->n_series; i++) draw_band(p, s, f, i);
        for (int i = 0; i < s->n_series; i++) draw_curve(p, s, f, i);
    } else {
        words_axis(p, f);
        (f->panel->kind == FR_SHEET_STACK ? draw_stack : draw_bars)(p, s, f);
    }
    fr_picture_plotted(p);
}

/* ---- legend ----------------------------------------------------------------------------------- */

/* Where the next entry goes; p NULL: only measure. */
struct legend {
    struct fr_picture *p;
    double x_px, y_px;
};

enum { SWATCH_PX = 28, LINE_PX = 15, BAR = 99 /* a dash: of no line */ };

/* Its strokes one by one: gnuplot's arrows have no dashes.  Dash k is drawn as curves with dt
 * k have it. */
static void add_line(struct fr_picture *p, const struct legend *at, const char *colour,
                     int dash) {
    static const double strokes[][6] = {{SWATCH_PX, 1},
                                        {5, 3},
                                        {2, 2},
                                        {7, 2, 2, 2},
                                        {7, 2, 2, 2, 2, 2}}; /* on, off, ... [px] */
    enum { DASHES = sizeof strokes / sizeof *strokes };
    double y = 1 - at->y_px / p->height_px, from = 0, span = SWATCH_PX - 4;
    const double *stroke = strokes[dash == BAR ? 0 : (dash - 1) % DASHES];
    for (int i = 0; from < span; i = i == 5 || stroke[i + 1] <= 0 ? 0 : i + 1) {
        double to = fmin(span, from + stroke[i]);
        if (i % 2 == 0)
            fr_text_addf(
                &p->script,
                "set arrow from screen %.5f,%.5f to screen %.5f,%.5f nohead lc rgb '%s' "
                "lw %d front\n",
                (at->x_px + from) / p->width_px, y, (at->x_px + to) / p->width_px, y, colour,
                dash == BAR ? 9 : 2);
        from = to;
    }
}

static void add_swatch(struct fr_picture *p, const struct legend *at, const char *colour,
                       int dash, int point) {
    double y = 1 - at->y_px / p->height_px;
    if (dash > 0) add_line(p, at, colour, dash);
    if (point > 0)
        fr_text_addf(&p->script,
                     "set label '' at screen %.5f,%.5f point lc rgb '%s' pt %d ps 0.75 front\n",
                     (at->x_px + SWATCH_PX / 2.0 - 2) / p->width_px, y, colour, point);
}

static void add_entry(struct legend *at, const char *name, const char *colour, int dash,
                      int point) {
    double swatch_px = dash || point ? SWATCH_PX : 0;
    double width_px = swatch_px + fr_picture_text_px(name, TEXT_SIZE) + 12;
    bool is_remark = swatch_px <= 0; /* of all series, not the name of one */
    if (at->x_px > 8 && (is_remark || at->x_px + width_px > WIDTH_PX)) {
        at->x_px = 8;
        at->y_px += LINE_PX;
    }
    if (at->p) {
        add_swatch(at->p, at, colour, dash, point);
        fr_picture_text(at->p, name, at->x_px + swatch_px, at->y_px, "left", TEXT_SIZE,
                        "#000000");
    }
    at->x_px += width_px;
}

static bool curves_only(const struct fr_sheet_layout *s) {
    return fr_sheet_has_curves(s->field[0].panel);
}

/* Is something published of it? */
static bool is_marked(const struct fr_sheet_layout *s, int series) {
    for (int k = 0; k < s->n_fields; k++)
        for (int i = 0; i < s->field[k].n; i++) {
            const struct fr_sheet_spot *at = &s->field[k].spot[i];
            if (at->series == series && isfinite(at->row->published)) return true;
        }
    return false;
}

static int marked_series(const struct fr_sheet_layout *s) {
    int first = 0;
    while (first < s->n_series && !is_marked(s, first)) first++;
    return first < s->n_series ? first : 0;
}

/* @return the height below the last line. */
static double add_legend(const struct fr_sheet_layout *s, struct fr_picture *p, double y_px) {
    struct legend at = {p, 8, y_px};
    bool curves = curves_only(s);
    char name[FR_PAPER_WORD];
    for (int i = 0; i < s->n_series; i++)
        if (*s->series[i])
            add_entry(&at, fr_sheet_series_name(s->series[i], name), colour_of(s, i),
                      curves ? dash_of(s, i) : BAR,
                      curves && is_marked(s, i) ? fr_picture_point(i + 1) : 0);
    if (s->published && curves) {
        add_entry(&at, "line: ours", "#555555", 1, 0);
        add_entry(&at, "mark: published", "#555555", 0, 6);
    } else if (s->published) {
        const int marked = marked_series(s);
        add_entry(&at, "bar: ours", *s->series[marked] ? "#555555" : colour_of(s, marked), BAR,
                  0);
        add_entry(&at, "published", "#000000", 0, 13);
    } else
        add_entry(&at, curves ? "ours, no number published" : "all ours", "#555555", 0, 0);
    return at.y_px + LINE_PX;
}

/* ---- the sheet -------------------------------------------------------------------------------- */

static double field_px(const struct fr_sheet_layout *s, const struct fr_sheet_field *f) {
    return plot_px(s) + (*f->panel->x ? 56 : 44);
}

static bool any_stated(const struct fr_sheet_layout *s) {
    for (int k = 0; k < s->n_fields; k++)
        for (int i = 0; i < s->field[k].n; i++)
            if (is_stated(&s->field[k].spot[i])) return true;
    return false;
}

static void add_note(const struct fr_sheet_layout *s, const struct fr_paper_rows *rows,
                     struct fr_text *note) {
    int first = (int)strcspn(rows->title, ":");
    if (first > 0) fr_text_addf(note, "%.*s. ", first, rows->title);
    fr_text_addf(note, "%s", s->of->note);
    if (any_stated(s)) fr_text_addf(note, " Bands and whiskers: 90 %% intervals of ours.");
    if (*rows->version) fr_text_addf(note, " forerun %s", rows->version);
}

static void draw_sheet(const struct fr_sheet_layout *s, const struct fr_paper_rows *rows,
                       struct fr_picture *p) {
    bool titled = !p->o || !p->o->no_title;
    struct fr_text title = {0}, note = {0}, text = {0};
    double top = 8;
    fr_picture_wrap(p->o && p->o->title ? p->o->title : s->of->title, TITLE_SIZE, WIDTH_PX - 20,
                    &title);
    add_note(s, rows, &text);
    int notes = fr_picture_wrap(fr_text_get(&text), NOTE_SIZE, WIDTH_PX - 20, &note);
    for (const char *c = fr_text_get(&title); titled && *c; c++) top += *c == '\n' ? 16 : 0;
    double height = top;
    for (int i = 0; i < s->n_fields; i++) height += field_px(s, &s->field[i]);
    height = add_legend(s, NULL, height + 12) + notes * 11 + 2;
    p->width_px = WIDTH_PX;
    p->height_px = (int)ceil(height);
    double below = top;
    for (int i = 0; i < s->n_fields; i++) {
        draw_field(p, s, &s->field[i], below + 22);
        below += field_px(s, &s->field[i]);
    }
    fr_picture_panel(p, &(struct fr_box){0, p->height_px - 1.0, WIDTH_PX, 1}, "");
    fr_text_addf(&p->script, "unset tics\nunset border\nset xrange [0:1]\nset yrange [0:1]\n");
    if (titled)
        fr_picture_lines(p, fr_text_get(&title), 8, 14, 16, "left", TITLE_SIZE, "#000000");
    below = add_legend(s, p, below + 12);
    fr_picture_lines(p, fr_text_get(&note), 8, below, 11, "left", NOTE_SIZE, "#555555");
    fr_text_addf(&p->script, "plot 2 notitle\n");
    fr_text_free(&title), fr_text_free(&note), fr_text_free(&text);
}

void fr_sheet_draw(const struct fr_sheet *sheet, const struct fr_paper_rows *rows,
                   struct fr_picture *p) {
    struct fr_sheet_layout *s = fr_calloc(1, sizeof *s);
    if (s) {
        fr_sheet_lay_out(sheet, rows, s);
        draw_sheet(s, rows, p);
    } else
        p->script.failed = true;
    free(s);
}
