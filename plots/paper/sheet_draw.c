#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "plots/paper/sheet.h"
#include "plots/scale.h"

enum {
    WIDTH_PX = 317, /* 3.3 inches at 96 to the inch */
    LEFT_PX = 62,
    RIGHT_PX = 12,
    PLOT_PX = 130,
    TITLE_SIZE = 12,
    TEXT_SIZE = 10,
    NOTE_SIZE = 8,
    SERIES_MAX = 14,
    PLACES_MAX = 40,
    TICKS_MAX = 6
};

/* A row that a panel shows. */
struct spot {
    const struct fr_paper_row *row;
    char x[FR_PAPER_WORD], s[FR_PAPER_WORD];
    int series, place; /* of the sheet; of the panel */
};

/* One panel's rows, and its places along x: numbers in order, words as they come. */
struct field {
    const struct fr_sheet_panel *panel;
    struct spot spot[PLACES_MAX * SERIES_MAX];
    int n, n_places;
    char place[PLACES_MAX][FR_PAPER_WORD];
    double factor; /* to SI units */
    fr_quantity quantity;
    bool has_quantity;
};

struct sheet {
    const struct fr_sheet *of;
    char series[SERIES_MAX][FR_PAPER_WORD];
    int n_series;
    struct field field[FR_SHEET_PANELS];
    int n_fields;
    bool published;
};

/* ---- which rows ------------------------------------------------------------------------------- */

static int find_or_add(char words[][FR_PAPER_WORD], int *n, int max, const char *word) {
    for (int i = 0; i < *n; i++)
        if (strcmp(words[i], word) == 0) return i;
    if (*n == max) return -1;
    snprintf(words[*n], FR_PAPER_WORD, "%s", word);
    return (*n)++;
}

/* Of a number on an x axis; of any other word 1. */
static double number_of(const char *word) {
    double value = atof(word);
    return value >= 1e-9 && value <= 1e15 ? value : 1;
}

static int by_number(const void *a, const void *b) {
    double x = number_of(a), y = number_of(b);
    return FR_ORDER(x, y);
}

static void take_unit(struct field *f, const char *unit) {
    static const struct {
        const char *unit;
        double factor;
        fr_quantity quantity;
    } units[] = {{"s", 1, FR_QUANTITY_TIME},
                 {"ms", 1e-3, FR_QUANTITY_TIME},
                 {"us", 1e-6, FR_QUANTITY_TIME},
                 {"J", 1, FR_QUANTITY_ENERGY}};
    f->factor = 1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].unit) == 0) {
            f->factor = units[i].factor;
            f->quantity = units[i].quantity;
            f->has_quantity = true;
        }
}

/* A panel whose ids have no {s} but several: what the id ends in. */
static void fill(struct sheet *s, struct field *f, const struct fr_paper_rows *rows) {
    for (size_t i = 0; i < rows->n; i++) {
        struct spot *spot = &f->spot[f->n];
        if (f->n == PLACES_MAX * SERIES_MAX) return;
        if (!fr_paper_id_fits(f->panel->ids, rows->row[i].id, spot->x, spot->s)) continue;
        if (f->panel->unit && strcmp(f->panel->unit, rows->row[i].unit) != 0) continue;
        spot->row = &rows->row[i];
        spot->series = find_or_add(s->series, &s->n_series, SERIES_MAX, spot->s);
        int place = find_or_add(f->place, &f->n_places, PLACES_MAX, spot->x);
        if (spot->series < 0 || place < 0) continue;
        if (f->n++ == 0) take_unit(f, spot->row->unit);
        s->published = s->published || isfinite(spot->row->published);
    }
}

static void place_all(struct field *f) {
    if (f->panel->kind == FR_SHEET_CURVES)
        fr_sort_items(f->place, f->n_places, sizeof *f->place, by_number);
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->n_places; k++)
            if (strcmp(f->place[k], f->spot[i].x) == 0) f->spot[i].place = k;
}

static void make(const struct fr_sheet *of, const struct fr_paper_rows *rows, struct sheet *s) {
    s->of = of;
    for (int k = 0; k < FR_SHEET_PANELS && of->panel[k].ids; k++) {
        struct field *f = &s->field[s->n_fields];
        f->panel = &of->panel[k];
        fill(s, f, rows);
        place_all(f);
        s->n_fields += f->n > 0;
    }
}

bool fr_sheet_told(const struct fr_sheet *sheet, const struct fr_paper_rows *rows) {
    char x[FR_PAPER_WORD], s[FR_PAPER_WORD];
    for (int k = 0; k < FR_SHEET_PANELS && sheet->panel[k].ids; k++)
        for (size_t i = 0; i < rows->n; i++)
            if (fr_paper_id_fits(sheet->panel[k].ids, rows->row[i].id, x, s)) return true;
    return false;
}

/* ---- how they look ---------------------------------------------------------------------------- */

/* "phantom k=4" has phantom's colour, "4_way" that of its number. */
static const char *colour_of(const struct sheet *s, int series) {
    static const struct {
        const char *name;
        int colour;
    } others[] = {{"2_way", 6},      {"4_way", 3},     {"8_way", 1},
                  {"4_way_cSub", 4}, {"aware", 3},     {"naive", 5},
                  {"over", 3},       {"data_over", 0}, {"", 2}};
    char first[FR_PAPER_WORD];
    const char *name = s->series[series], *own;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(name, " "), name);
    own = fr_picture_colour_of(first);
    for (size_t i = 0; !own && i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].name, name) == 0) own = fr_picture_colour(others[i].colour);
    return own ? own : fr_picture_colour(series);
}

/* How many series before it share its first word: told apart by mark and dash. */
static int variant_of(const struct sheet *s, int series) {
    size_t length = strcspn(s->series[series], " ");
    int n = 0;
    for (int i = 0; i < series; i++)
        n += strncmp(s->series[i], s->series[series], length) == 0 &&
             strcspn(s->series[i], " ") == length && s->series[i][length];
    return n;
}

static const char *series_name(const char *id, char out[FR_PAPER_WORD]) {
    static const char *const names[][2] = {{"2_way", "2-way"},
                                           {"4_way", "4-way"},
                                           {"8_way", "8-way"},
                                           {"4_way_cSub", "4-way cSub"},
                                           {"aware", "topology-aware"},
                                           {"data_over", "data parallel"},
                                           {"over", "D&SP"},
                                           {"cb", "CB"},
                                           {"fe", "+FE"},
                                           {"sc_75", "+SC 3/4"},
                                           {"cb_fe", "CB+FE"},
                                           {"cb_fe_sc", "CB+FE+SC"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], id) == 0) id = names[i][1];
    snprintf(out, FR_PAPER_WORD, "%s", id);
    for (char *c = out; *c; c++)
        if (*c == '_') *c = ' ';
    return out;
}

/* ---- panels ----------------------------------------------------------------------------------- */

static void include_values(const struct field *f, struct fr_scale *seen) {
    double sum[PLACES_MAX] = {0};
    for (int i = 0; i < f->n; i++) {
        const struct spot *at = &f->spot[i];
        fr_scale_include(seen, at->row->published * f->factor);
        fr_scale_include(seen, at->row->ours * f->factor);
        if (f->panel->kind == FR_SHEET_STACK && at->row->ours > 0)
            fr_scale_include(seen, sum[at->place] += at->row->ours * f->factor);
    }
}

/* Five ticks or so, at 1, 2 or 5 times a power of ten. */
static void linear_axis(struct fr_picture *p, const struct field *f, double high) {
    double step = pow(10, floor(log10(high / 4)));
    char text[40];
    step *= high / step > 20 ? 5 : high / step > 8 ? 2 : 1;
    fr_text_addf(&p->script, "set yrange [0:%.9g]\nset ytics (", 1.08 * high);
    for (int i = 0; i * step <= 1.08 * high && i < 30; i++) {
        if (f->has_quantity)
            fr_scale_text(i * step, f->quantity, text, sizeof text);
        else
            snprintf(text, sizeof text, "%.4g", i * step);
        fr_text_addf(&p->script, "%s'%s' %.9g", i ? ", " : "", i ? text : "0", i * step);
    }
    fr_text_addf(&p->script, ")\n");
}

/* 1, 2 and 5 times powers of ten. */
static void plain_ticks(struct fr_picture *p, struct fr_scale range) {
    static const double mantissas[] = {1, 2, 5};
    int written = 0;
    for (int power = (int)floor(log10(range.low)); pow(10, power) <= range.high; power++)
        for (int m = 0; m < 3; m++) {
            double at = mantissas[m] * pow(10, power);
            if (at < range.low || at > range.high || written > 30) continue;
            fr_text_addf(&p->script, "%s'%g' %g", written++ ? ", " : "", at, at);
        }
    fr_text_addf(&p->script, ")\n");
}

static void y_axis(struct fr_picture *p, const struct field *f) {
    struct fr_scale seen = FR_SCALE_EMPTY;
    include_values(f, &seen);
    if (f->panel->linear)
        linear_axis(p, f, seen.high > 0 ? seen.high : 1);
    else if (f->has_quantity)
        fr_scale_axis(p, "y", seen, f->quantity, TICKS_MAX);
    else {
        struct fr_scale range = fr_scale_padded(seen);
        fr_text_addf(&p->script, "set logscale y\nset yrange [%.9g:%.9g]\nset ytics (",
                     range.low, range.high);
        plain_ticks(p, range);
    }
}

static void numbers_axis(struct fr_picture *p, const struct field *f) {
    int64_t values[PLACES_MAX];
    for (int i = 0; i < f->n_places; i++) values[i] = (int64_t)number_of(f->place[i]);
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

static void words_axis(struct fr_picture *p, const struct field *f) {
    double room_px = (WIDTH_PX - LEFT_PX - RIGHT_PX) / (double)f->n_places;
    fr_text_addf(&p->script,
                 "set xrange [-0.6:%g]\nunset grid\nset grid ytics lt 1 lc rgb "
                 "'#dddddd' lw 0.8\nset xtics scale 0 (",
                 f->n_places - 0.4);
    for (int i = 0; i < f->n_places; i++) {
        char name[FR_PAPER_WORD];
        series_name(f->place[i], name);
        fr_text_addf(&p->script, "%s", i ? ", " : "");
        quote_tick(p, fr_picture_text_px(name, TEXT_SIZE) < room_px + 8 ? name : f->place[i]);
        fr_text_addf(&p->script, " %d", i);
    }
    fr_text_addf(&p->script, ")\n");
}

static void draw_curve(struct fr_picture *p, const struct sheet *s, const struct field *f,
                       int series) {
    int line = -1, marks = -1, variant = variant_of(s, series);
    const char *colour = colour_of(s, series);
    for (int pass = 0; pass < 2; pass++) {
        int *block = pass ? &marks : &line;
        for (int k = 0; k < f->n_places; k++)
            for (int i = 0; i < f->n; i++) {
                const struct spot *at = &f->spot[i];
                double value = pass ? at->row->published : at->row->ours;
                if (at->series != series || at->place != k || !isfinite(value)) continue;
                if (*block < 0) *block = fr_picture_block(p);
                FR_ROW(p, number_of(at->x), value * f->factor);
            }
    }
    if (line >= 0)
        fr_picture_curve(p, line, NULL,
                         "using 1:2 with linespoints lc rgb '%s' lw 1.5 dt %d pt 7 ps 0.25",
                         colour, variant + 1);
    if (marks >= 0)
        fr_picture_curve(p, marks, NULL, "using 1:2 with points lc rgb '%s' pt %d ps 0.75",
                         colour, fr_picture_point(series + 1));
}

/* Ours as bars side by side, published as a mark over each. */
static void draw_bars(struct fr_picture *p, const struct sheet *s, const struct field *f) {
    int ours = fr_picture_block(p), published = -1;
    double width = 0.7 / s->n_series;
    for (int i = 0; i < f->n; i++) {
        const struct spot *at = &f->spot[i];
        double left = at->place - 0.35 + at->series * width;
        uint32_t rgb = (uint32_t)strtoul(colour_of(s, at->series) + 1, NULL, 16);
        FR_ROW(p, left, 0, left, left + width, 0, at->row->ours * f->factor, rgb);
    }
    fr_picture_curve(p, ours, NULL,
                     "using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable fs solid noborder");
    for (int i = 0; i < f->n; i++) {
        const struct spot *at = &f->spot[i];
        if (!isfinite(at->row->published)) continue;
        if (published < 0) published = fr_picture_block(p);
        FR_ROW(p, at->place - 0.35 + (at->series + 0.5) * width,
               at->row->published * f->factor);
    }
    if (published >= 0)
        fr_picture_curve(p, published, NULL,
                         "using 1:2 with points lc rgb '#000000' pt 13 ps 0.8");
}

static void draw_stack(struct fr_picture *p, const struct sheet *s, const struct field *f) {
    double sum[PLACES_MAX] = {0};
    int block = fr_picture_block(p);
    for (int i = 0; i < f->n; i++) {
        const struct spot *at = &f->spot[i];
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

static void draw_field(struct fr_picture *p, const struct sheet *s, const struct field *f,
                       double top_px) {
    struct fr_box box = {LEFT_PX, top_px, WIDTH_PX - LEFT_PX - RIGHT_PX, PLOT_PX};
    fr_picture_panel(p, &box, "");
    fr_picture_text(p, f->panel->heading, 8, top_px - 10, "left", TEXT_SIZE, "#000000");
    fr_text_addf(&p->script,
                 "set tics font @SMALL\n"
                 "set xlabel font sprintf('%%s,%%g', FACE, %g * FONT) offset 0,0.6\n"
                 "set xtics offset 0,0.3\n",
                 TEXT_SIZE / 12.0);
    fr_picture_axis_label(p, "x", f->panel->x);
    y_axis(p, f);
    if (f->panel->kind == FR_SHEET_CURVES) {
        numbers_axis(p, f);
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

static void add_swatch(struct fr_picture *p, const struct legend *at, const char *colour,
                       int dash, int point) {
    double y = 1 - at->y_px / p->height_px;
    if (dash > 0)
        fr_text_addf(
            &p->script,
            "set arrow from screen %.5f,%.5f to screen %.5f,%.5f nohead lc rgb '%s' lw "
            "%d dt %d front\n",
            at->x_px / p->width_px, y, (at->x_px + SWATCH_PX - 4) / p->width_px, y, colour,
            dash == BAR ? 9 : 2, dash == BAR ? 1 : dash);
    if (point > 0)
        fr_text_addf(&p->script,
                     "set label '' at screen %.5f,%.5f point lc rgb '%s' pt %d ps 0.75 front\n",
                     (at->x_px + SWATCH_PX / 2.0 - 2) / p->width_px, y, colour, point);
}

static void add_entry(struct legend *at, const char *name, const char *colour, int dash,
                      int point) {
    double swatch_px = dash || point ? SWATCH_PX : 0;
    double width_px = swatch_px + fr_picture_text_px(name, TEXT_SIZE) + 12;
    if (at->x_px > 8 && at->x_px + width_px > WIDTH_PX) {
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

static bool curves_only(const struct sheet *s) {
    return s->field[0].panel->kind == FR_SHEET_CURVES;
}

/* @return the height below the last line. */
static double add_legend(const struct sheet *s, struct fr_picture *p, double y_px) {
    struct legend at = {p, 8, y_px};
    bool curves = curves_only(s);
    char name[FR_PAPER_WORD];
    for (int i = 0; i < s->n_series; i++)
        if (*s->series[i])
            add_entry(&at, series_name(s->series[i], name), colour_of(s, i),
                      curves ? variant_of(s, i) + 1 : BAR,
                      curves && s->published ? fr_picture_point(i + 1) : 0);
    if (s->published && curves) {
        add_entry(&at, "line: ours", "#555555", 1, 0);
        add_entry(&at, "mark: published", "#555555", 0, 6);
    } else if (s->published) {
        add_entry(&at, "bar: ours", colour_of(s, 0), BAR, 0);
        add_entry(&at, "published", "#000000", 0, 13);
    } else
        add_entry(&at, curves ? "ours, no number published" : "all ours", "#555555", 0, 0);
    return at.y_px + LINE_PX;
}

/* ---- the sheet -------------------------------------------------------------------------------- */

static double field_px(const struct field *f) { return PLOT_PX + (*f->panel->x ? 56 : 44); }

static void add_note(const struct sheet *s, const struct fr_paper_rows *rows,
                     struct fr_text *note) {
    int first = (int)strcspn(rows->title, ":");
    if (first > 0) fr_text_addf(note, "%.*s. ", first, rows->title);
    fr_text_addf(note, "%s", s->of->note);
    if (*rows->version) fr_text_addf(note, " forerun %s", rows->version);
}

static void draw_sheet(const struct sheet *s, const struct fr_paper_rows *rows,
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
    for (int i = 0; i < s->n_fields; i++) height += field_px(&s->field[i]);
    height = add_legend(s, NULL, height + 8) + notes * 11 + 2;
    p->width_px = WIDTH_PX;
    p->height_px = (int)ceil(height);
    double below = top;
    for (int i = 0; i < s->n_fields; i++) {
        draw_field(p, s, &s->field[i], below + 22);
        below += field_px(&s->field[i]);
    }
    fr_picture_panel(p, &(struct fr_box){0, p->height_px - 1.0, WIDTH_PX, 1}, "");
    fr_text_addf(&p->script, "unset tics\nunset border\nset xrange [0:1]\nset yrange [0:1]\n");
    if (titled) fr_picture_lines(p, fr_text_get(&title), 8, 14, 16, TITLE_SIZE, "#000000");
    below = add_legend(s, p, below + 8);
    fr_picture_lines(p, fr_text_get(&note), 8, below, 11, NOTE_SIZE, "#555555");
    fr_text_addf(&p->script, "plot 2 notitle\n");
    fr_text_free(&title), fr_text_free(&note), fr_text_free(&text);
}

void fr_sheet_draw(const struct fr_sheet *sheet, const struct fr_paper_rows *rows,
                   struct fr_picture *p) {
    struct sheet *s = fr_calloc(1, sizeof *s);
    if (s) {
        make(sheet, rows, s);
        draw_sheet(s, rows, p);
    } else
        p->script.failed = true;
    free(s);
}
