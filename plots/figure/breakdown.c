/* Where the iteration goes: a bar a plan, stacked from its exposed parts, so that what a change
 * of the plan takes away and what it adds stand beside each other (Optimus-CC's Fig. 10 stacks
 * baseline, CB, CB+FE and CB+FE+SC like this).  The parts add up to the iteration's time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plots/results.h"
#include "plots/scale.h"

enum {
    RIGHT_PX = 200, /* of the key */
    TOP_PX = 80,
    BELOW_PX = 110,
    BARS_MAX = 24,
    LABEL_SIZE = 11,
    LABEL_MOST_PX = 360, /* a longer label has several lines */
    SIDE_STEP_PX = 15,
    NARROW_LEFT_PX = 12,
    KEY_PX = 230 /* of ten parts: the plot is no lower, else the key does not fit */
};
static const double plot_px = 600;
static const double bar_px = 44, bar_half = 0.33; /* of the width of a bar's place */

struct chart {
    const struct fr_results *results;
    int bars;
    double bar_px;  /* width of one's place */
    double left_px; /* width of the labels */
    double unit_s;
    const char *unit;
};

static void choose_unit(struct chart *c) {
    static const char *const units[] = {"s", "ms", "us", "ns"};
    double longest = 0;
    int i = 0;
    for (int bar = 0; bar < c->bars; bar++)
        longest = fmax(longest, c->results->items[bar].iteration_time_s);
    for (c->unit_s = 1; i < 3 && longest < c->unit_s; i++) c->unit_s *= 1e-3;
    c->unit = units[i];
}

static const char *bar_label(const struct chart *c, int i, char *out, size_t width_px) {
    const struct fr_result *r = &c->results->items[i];
    fr_result_label(c->results, r, out, width_px);
    size_t used = strlen(out);
    fr_line_addf(out, width_px, &used, " on %lld ranks", (long long)r->ranks);
    return out;
}

/* The lines of bar @p i's label beside it. */
static int side_lines(const struct chart *c, int i, struct fr_text *lines) {
    char line[FR_RESULT_LABEL + 32];
    return fr_picture_wrap(bar_label(c, i, line, sizeof line), LABEL_SIZE, LABEL_MOST_PX,
                           lines);
}

/* Width of the labels beside the bars: as much as the longest line needs, and the most lines. */
static double side_width_px(const struct chart *c, int *most) {
    double width_px = 160;
    *most = 1;
    for (int i = 0; i < c->bars; i++) {
        struct fr_text lines = {0};
        const int n = side_lines(c, i, &lines);
        *most = n > *most ? n : *most;
        for (char *line = lines.data; line && *line;) {
            char *end = strchr(line, '\n');
            *end = '\0'; /* every line has one */
            width_px = fmax(width_px, fr_picture_text_px(line, LABEL_SIZE));
            line = end + 1;
        }
        fr_text_free(&lines);
    }
    return ceil(width_px) + 40;
}

enum { NARROW_SIZE = 9, NARROW_STEP_PX = 12 };

/* Lines that a label takes above its bar, in one column. */
static int wrap_label(const struct chart *c, const struct fr_picture *p, int i,
                      struct fr_text *lines) {
    char line[FR_RESULT_LABEL + 32];
    return fr_picture_wrap(bar_label(c, i, line, sizeof line), NARROW_SIZE,
                           p->width_px - 2 * NARROW_LEFT_PX, lines);
}

static int most_lines(const struct chart *c, const struct fr_picture *p) {
    int most = 1;
    for (int i = 0; i < c->bars; i++) {
        struct fr_text lines = {0};
        const int n = wrap_label(c, p, i, &lines);
        most = n > most ? n : most;
        fr_text_free(&lines);
    }
    return most;
}

/* Above its bar: what it is, and below that the time. */
static void add_narrow_label(struct fr_picture *p, const struct chart *c, int i, double y_px,
                             const char *time) {
    struct fr_text lines = {0};
    wrap_label(c, p, i, &lines);
    y_px = fr_picture_lines(p, fr_text_get(&lines), NARROW_LEFT_PX, y_px, NARROW_STEP_PX,
                            "left", NARROW_SIZE, "#000000");
    fr_picture_text(p, time, NARROW_LEFT_PX, y_px, "left", NARROW_SIZE, "#555555");
    p->script.failed = p->script.failed || lines.failed;
    fr_text_free(&lines);
}

/* Beside its bar, about the middle: what it is, and below that the time. */
static void add_side_label(struct fr_picture *p, const struct chart *c, int i, double x_px,
                           double middle_px, const char *time) {
    struct fr_text lines = {0};
    double y_px = middle_px + 8 - 0.5 * SIDE_STEP_PX * (side_lines(c, i, &lines) + 1);
    y_px = fr_picture_lines(p, fr_text_get(&lines), x_px, y_px, SIDE_STEP_PX, "right",
                            LABEL_SIZE, "#000000");
    fr_picture_text(p, time, x_px, y_px, "right", 10, "#555555");
    p->script.failed = p->script.failed || lines.failed;
    fr_text_free(&lines);
}

static void add_labels(struct fr_picture *p, const struct chart *c) {
    char time[40];
    const double left_px = c->left_px;
    double top_px = TOP_PX;
    p->stack.plot_px = c->bar_px * c->bars, p->stack.left_px = NARROW_LEFT_PX;
    fr_picture_panel(p, &(struct fr_box){c->left_px, TOP_PX, plot_px, c->bar_px * c->bars}, "");
    if (p->stack.on) top_px = p->placed.top;
    for (int i = 0; i < c->bars; i++) {
        const struct fr_result *r = &c->results->items[i];
        double middle = top_px + c->bar_px * (i + 0.5), x_px = left_px - 12;
        fr_scale_text(r->iteration_time_s, FR_QUANTITY_TIME, time, sizeof time);
        size_t used = strlen(time);
        if (i > 0)
            fr_line_addf(time, sizeof time, &used, " (%+.1f %%)",
                         100 *
                             (r->iteration_time_s / c->results->items[0].iteration_time_s - 1));
        if (p->stack.on) {
            add_narrow_label(p, c, i, middle - 0.5 * c->bar_px + 6, time);
            continue;
        }
        add_side_label(p, c, i, x_px, middle, time);
    }
}

/* Part @p part of every bar, after the parts before it. */
static void add_part(struct fr_picture *p, const struct chart *c, int part) {
    char name[32];
    double longest = 0;
    for (int i = 0; i < c->bars; i++)
        longest = fmax(longest, c->results->items[i].part_s[part]);
    if (longest <= 0) return;
    int block = fr_picture_block(p);
    for (int i = 0; i < c->bars; i++) {
        const struct fr_result *r = &c->results->items[i];
        double start = 0;
        for (int before = 0; before < part; before++) start += r->part_s[before];
        double from = start / c->unit_s, to = (start + r->part_s[part]) / c->unit_s;
        FR_ROW(p, (from + to) / 2, i, from, to, i - (p->stack.on ? 0 : bar_half), i + bar_half);
    }
    size_t used = 0;
    fr_line_addf(name, sizeof name, &used, "%s", fr_part_names[part]);
    for (char *at = name; *at; at++) *at = *at == '_' ? ' ' : *at;
    fr_picture_curve(p, block, name,
                     "using 1:2:3:4:5:6 with boxxyerror fs solid 1 noborder lc rgb '%s'",
                     fr_picture_series_colour(fr_part_names[part], part));
}

/* End of a result's 90 % interval, of the iteration; NaN where none is stated. */
static double end_of(const struct fr_result *r, double end_s) {
    return end_s > 0 && r->time_s > 0 ? r->iteration_time_s * end_s / r->time_s : NAN;
}

static void add_intervals(struct fr_picture *p, const struct chart *c) {
    int block = -1;
    for (int i = 0; i < c->bars; i++) {
        const struct fr_result *r = &c->results->items[i];
        const double low = end_of(r, r->low_s), high = end_of(r, r->high_s);
        if (!(low <= high)) continue;
        if (block < 0) block = fr_picture_block(p);
        FR_ROW(p, low / c->unit_s, i + 0.5 * (p->stack.on ? bar_half : 0),
               (high - low) / c->unit_s, 0);
    }
    if (block >= 0)
        fr_picture_curve(p, block, NULL,
                         "using 1:2:3:4 with vectors heads size screen 0.006,90 lc rgb "
                         "'#000000' lw 1");
}

static void draw_bars(struct fr_picture *p, const struct chart *c) {
    char label[32];
    double longest = 0;
    for (int i = 0; i < c->bars; i++) {
        const struct fr_result *r = &c->results->items[i];
        longest = fmax(longest, fmax(r->iteration_time_s, end_of(r, r->high_s)));
    }
    fr_text_addf(&p->script,
                 "set border 1\nunset grid\nset grid x lt 1 lc rgb '#dddddd' lw 0.8\n"
                 "unset ytics\nset xrange [0:%.9g]\nset yrange [%.9g:-0.5]\n",
                 1.02 * longest / c->unit_s, c->bars - 0.5);
    snprintf(label, sizeof label, "time [%s]", c->unit);
    fr_picture_axis_label(p, "x", label);
    fr_picture_key(p, c->left_px + plot_px + 25, TOP_PX - 6);
    for (int part = 0; part < FR_PART_COUNT; part++) add_part(p, c, part);
    add_intervals(p, c);
    fr_picture_plotted(p);
}

static void draw_all(struct fr_picture *p, struct chart *c) {
    choose_unit(c);
    if (c->results->count > BARS_MAX)
        fr_text_addf(&p->note, "The first %d of %zu plans.  ", c->bars, c->results->count);
    fr_text_addf(&p->title, "Where an iteration goes");
    fr_results_interval_note(c->results, p);
    fr_results_footer(c->results, p, false);
    add_labels(p, c);
    draw_bars(p, c);
}

static fr_status need_parts(const struct fr_results *results, const struct fr_json *root,
                            struct fr_error *err) {
    for (size_t i = 0; i < results->count; i++) {
        double sum_s = 0;
        for (int part = 0; part < FR_PART_COUNT; part++)
            sum_s += results->items[i].part_s[part];
        if (sum_s > 0) return FR_OK;
    }
    return fr_json_fail(root, err, "no plan has a breakdown_s");
}

static fr_status draw(struct fr_picture *p, struct fr_results *results,
                      const struct fr_json *root, const struct fr_figure_options *o,
                      struct fr_error *err) {
    (void)o;
    FR_TRY(need_parts(results, root, err));
    struct chart c = {.results = results,
                      .bars = results->count < BARS_MAX ? (int)results->count : BARS_MAX};
    int side_lines_most = 1;
    c.left_px = side_width_px(&c, &side_lines_most);
    c.bar_px = p->stack.on ? fmax(56 + 2.0 * NARROW_STEP_PX * (most_lines(&c, p) - 1),
                                  18.0 * p->stack.keys / c.bars)
                           : fmax(fmax(bar_px, (side_lines_most + 1.5) * SIDE_STEP_PX),
                                  (double)KEY_PX / c.bars);
    if (!p->stack.on) {
        p->width_px = (int)(c.left_px + plot_px) + RIGHT_PX;
        p->height_px = (int)(TOP_PX + BELOW_PX + c.bar_px * c.bars);
    }
    draw_all(p, &c);
    return FR_OK;
}

const struct fr_figure fr_figure_breakdown = {
    .name = "breakdown",
    .summary = "where an iteration goes: a stacked bar a plan",
    .inputs = "results of forerun predict --json, a bar each, or of forerun search --json",
    .stacks = true,
    .draw_results = draw,
};
