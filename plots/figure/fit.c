/* Measured collectives and the curves fitted to them, an operation a panel, and under each what
 * the curves miss:  residual = fitted / measured - 1.  A colour is a set of ranks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plots/measured.h"
#include "plots/scale.h"

enum { OPS_MAX = 16, SETS_MAX = 14, NARROW_LEFT_PX = 84 };
static const double panel_width_px = 420, column_px = 545, row_px = 470, first_row_px = 118;
static const double main_px = 240, residual_px = 90, gap_px = 44, left_px = 95;
static const double residual_limit = 1.5; /* beyond it a curve leaves the panel */

/* One colour in all panels: a rank count at a level. */
struct rank_set {
    const char *level;
    int64_t ranks;
};

struct sheet {
    const struct fr_measured *measured;
    const char *op[OPS_MAX];
    int n_ops;
    struct rank_set set[SETS_MAX];
    int n_sets;
    bool levels; /* more than one occurs: name them */
    int left_out;
};

static int find_set(const struct sheet *s, const struct fr_measured_series *series) {
    for (int i = 0; i < s->n_sets; i++)
        if (s->set[i].ranks == series->ranks && strcmp(s->set[i].level, series->level) == 0)
            return i;
    return -1;
}

static int find_op(const struct sheet *s, const char *op) {
    for (int i = 0; i < s->n_ops; i++)
        if (strcmp(s->op[i], op) == 0) return i;
    return -1;
}

/* Sets by level as they occur, then by ranks. */
static void add_set(struct sheet *s, const struct fr_measured_series *series) {
    int at = 0, level = -1;
    for (int i = 0; i < s->n_sets && level < 0; i++)
        if (strcmp(s->set[i].level, series->level) == 0) level = i;
    for (at = level < 0 ? s->n_sets : level; at < s->n_sets; at++)
        if (strcmp(s->set[at].level, series->level) != 0 || s->set[at].ranks > series->ranks)
            break;
    s->levels = s->levels || (level < 0 && s->n_sets > 0);
    memmove(&s->set[at + 1], &s->set[at], (s->n_sets - at) * sizeof *s->set);
    s->set[at] = (struct rank_set){series->level, series->ranks};
    s->n_sets++;
}

static void make_sheet(const struct fr_measured *measured, struct sheet *s) {
    s->measured = measured;
    for (int i = 0; i < measured->n_series; i++) {
        const struct fr_measured_series *series = &measured->series[i];
        bool new_op = find_op(s, series->op) < 0, new_set = find_set(s, series) < 0;
        bool fits = (!new_op || s->n_ops < OPS_MAX) && (!new_set || s->n_sets < SETS_MAX);
        if (series->n == 0) continue;
        if (!fits) s->left_out++;
        if (fits && new_op) s->op[s->n_ops++] = series->op;
        if (fits && new_set) add_set(s, series);
    }
}

/* Is the series drawn in the panel of @p op?  @return its colour, or -1. */
static int drawn_in(const struct sheet *s, int i, const char *op) {
    const struct fr_measured_series *series = &s->measured->series[i];
    return series->n > 0 && strcmp(series->op, op) == 0 ? find_set(s, series) : -1;
}

static struct fr_scale sizes_of(const struct sheet *s, const char *op) {
    struct fr_scale seen = FR_SCALE_EMPTY;
    for (int i = 0; i < s->measured->n_series; i++)
        for (int j = 0; drawn_in(s, i, op) >= 0 && j < s->measured->series[i].n; j++)
            fr_scale_include(&seen, s->measured->series[i].points[j].size_B);
    return seen;
}

static struct fr_scale times_of(const struct sheet *s, const char *op) {
    struct fr_scale seen = FR_SCALE_EMPTY;
    for (int i = 0; i < s->measured->n_series; i++)
        for (int j = 0; drawn_in(s, i, op) >= 0 && j < s->measured->series[i].n; j++) {
            const struct fr_measured_point *point = &s->measured->series[i].points[j];
            fr_scale_include(&seen, point->median_s);
            fr_scale_include(&seen, point->low_s);
            fr_scale_include(&seen, point->high_s);
            fr_scale_include(&seen, point->chosen_s);
        }
    return seen;
}

/* Colours once, line styles once, as entries of a plot command's key. */
static void add_key_entries(struct fr_picture *p, const struct sheet *s) {
    for (int i = 0; i < s->n_sets; i++) {
        char title[80];
        snprintf(title, sizeof title, "%lld ranks%s%s", (long long)s->set[i].ranks,
                 s->levels ? ", " : "", s->levels ? s->set[i].level : "");
        fr_text_addf(&p->script, "keyentry with points lc rgb '%s' pt %d ps 0.8 title ",
                     fr_picture_colour(i), fr_picture_point(i));
        fr_picture_quote(p, title);
        fr_text_addf(&p->script, ", \\\n    ");
    }
    fr_text_addf(&p->script,
                 "keyentry with lines lc rgb '#444444' lw 1.6 title 'form chosen', \\\n"
                 "    keyentry with lines lc rgb '#444444' lw 1.6 dt 2 title \"the papers' log "
                 "form\", \\\n"
                 "    keyentry with points lc rgb '#444444' pt 6 ps 0.7 title 'chosen form "
                 "fitted without the point'");
    p->n_keys += s->n_sets + 3;
}

/* The key over all panels, in a panel that shows only it. */
static void draw_key(struct fr_picture *p, const struct sheet *s) {
    struct fr_box box = {20, 36, p->width_px - 40.0, 50};
    fr_picture_panel(p, &box, "");
    fr_text_addf(
        &p->script,
        "unset tics\nunset grid\nset border 0\nset xrange [0:1]\nset yrange [0:1]\n"
        "set key top left horizontal Left reverse samplen 2.2 maxrows 2\nplot 2 notitle, ");
    add_key_entries(p, s);
    fr_text_addf(&p->script, "\n");
}

enum {
    COLUMN_LOG = 5,
    COLUMN_CHOSEN = 6,
    COLUMN_HELD = 7
}; /* of the block that add_points writes */

static bool has_log(const struct fr_measured_series *series) {
    bool any = false;
    for (int j = 0; j < series->n; j++) any = any || isfinite(series->points[j].log_s);
    return any;
}

static bool has_chosen(const struct fr_measured_series *series) {
    bool any = false;
    for (int j = 0; j < series->n; j++) any = any || isfinite(series->points[j].chosen_s);
    return any;
}

static bool has_held(const struct fr_measured_series *series) {
    bool any = false;
    for (int j = 0; j < series->n; j++) any = any || isfinite(series->points[j].held_s);
    return any;
}

static int add_points(struct fr_picture *p, const struct fr_measured_series *series) {
    int block = fr_picture_block(p);
    for (int j = 0; j < series->n; j++) {
        const struct fr_measured_point *at = &series->points[j];
        bool bar = isfinite(at->low_s) && isfinite(at->high_s);
        FR_ROW(p, at->size_B, at->median_s, bar ? at->low_s : at->median_s,
               bar ? at->high_s : at->median_s, at->log_s, at->chosen_s, at->held_s);
    }
    return block;
}

static void add_series(struct fr_picture *p, const struct fr_measured_series *series,
                       int colour) {
    const char *rgb = fr_picture_colour(colour);
    int block = add_points(p, series);
    if (has_log(series))
        fr_picture_curve(p, block, NULL, "using 1:%d with lines lc rgb '%s' lw 1.2 dt 2",
                         COLUMN_LOG, rgb);
    if (has_chosen(series))
        fr_picture_curve(p, block, NULL, "using 1:%d with lines lc rgb '%s' lw 1.4",
                         COLUMN_CHOSEN, rgb);
    fr_picture_curve(p, block, NULL, "using 1:2:3:4 with yerrorbars lc rgb '%s' pt %d ps 0.6",
                     rgb, fr_picture_point(colour));
}

/* In percent; the block of add_points holds both fitted and measured. */
static void add_residuals(struct fr_picture *p, const struct fr_measured_series *series,
                          int colour) {
    const char *rgb = fr_picture_colour(colour);
    int block = add_points(p, series);
    if (has_log(series))
        fr_picture_curve(p, block, NULL,
                         "using 1:(100*($%d/$2-1)) with lines lc rgb '%s' lw 1 dt 2",
                         COLUMN_LOG, rgb);
    if (has_chosen(series))
        fr_picture_curve(p, block, NULL, "using 1:(100*($%d/$2-1)) with lines lc rgb '%s' lw 1",
                         COLUMN_CHOSEN, rgb);
    if (has_held(series))
        fr_picture_curve(p, block, NULL,
                         "using 1:(100*($%d/$2-1)) with points lc rgb '%s' pt 6 ps 0.6",
                         COLUMN_HELD, rgb);
}

static void draw_times(struct fr_picture *p, const struct sheet *s, int op,
                       const struct fr_box *box) {
    p->stack.left_px = NARROW_LEFT_PX;
    fr_picture_panel(p, box, s->op[op]);
    fr_scale_axis(p, "x", sizes_of(s, s->op[op]), FR_QUANTITY_SIZE, 7);
    fr_scale_axis(p, "y", times_of(s, s->op[op]), FR_QUANTITY_TIME, 7);
    fr_picture_axis_label(p, "y", "time, median");
    bool keyed = p->stack.on && op == 0; /* below all panels */
    if (keyed) fr_picture_key(p, 0, 0);
    for (int i = 0; i < s->measured->n_series; i++) {
        int colour = drawn_in(s, i, s->op[op]);
        if (colour >= 0) add_series(p, &s->measured->series[i], colour);
    }
    if (keyed) {
        fr_text_addf(&p->script, ", \\\n    ");
        add_key_entries(p, s);
    }
    fr_picture_plotted(p);
}

static double residual(double fitted_s, double measured_s) { return fitted_s / measured_s - 1; }

static double residual_range(const struct sheet *s, const char *op) {
    double widest = 0.1;
    for (int i = 0; i < s->measured->n_series; i++)
        for (int j = 0; drawn_in(s, i, op) >= 0 && j < s->measured->series[i].n; j++) {
            const struct fr_measured_point *at = &s->measured->series[i].points[j];
            widest = fmax(widest, fabs(residual(at->log_s, at->median_s)));
            widest = fmax(widest, fabs(residual(at->chosen_s, at->median_s)));
            if (isfinite(at->held_s))
                widest = fmax(widest, fabs(residual(at->held_s, at->median_s)));
        }
    return fmin(1.1 * widest, residual_limit);
}

static void draw_residuals(struct fr_picture *p, const struct sheet *s, int op,
                           const struct fr_box *box) {
    double range = 100 * residual_range(s, s->op[op]);
    p->stack.plot_px = 60, p->stack.left_px = NARROW_LEFT_PX;
    fr_picture_panel(p, box, "");
    fr_scale_axis(p, "x", sizes_of(s, s->op[op]), FR_QUANTITY_SIZE, 7);
    fr_scale_percent(p, "y", -range, range);
    fr_text_addf(&p->script, "set ytics %g\n",
                 range > 100  ? 100.0
                 : range > 50 ? 50.0
                 : range > 20 ? 20.0
                              : 5.0);
    fr_picture_axis_label(p, "y", "residual");
    fr_picture_axis_label(p, "x", "message size");
    fr_text_addf(&p->script, "plot 0 notitle with lines lc rgb '#000000' lw 1");
    p->plotting = true;
    for (int i = 0; i < s->measured->n_series; i++) {
        int colour = drawn_in(s, i, s->op[op]);
        if (colour >= 0) add_residuals(p, &s->measured->series[i], colour);
    }
    fr_picture_plotted(p);
}

static void draw_all(struct fr_picture *p, const struct sheet *s) {
    int columns = s->n_ops > 1 ? 2 : 1, rows = (s->n_ops + columns - 1) / columns;
    if (!p->stack.on) {
        p->width_px = columns == 2 ? 1100 : 640;
        p->height_px = (int)(first_row_px + rows * row_px + 20);
    }
    fr_text_addf(&p->title, "Collectives: measured, and fitted");
    fr_text_addf(&p->note, "Bars: confidence interval of the median.  ");
    if (s->left_out) fr_text_addf(&p->note, "%d series do not fit here.  ", s->left_out);
    fr_text_addf(&p->note, "Residual: fitted / measured - 1, panel ends at %g %%.  ",
                 100 * residual_limit);
    fr_text_addf(&p->footer, "%s", fr_text_get(&s->measured->footer));
    if (!p->stack.on) draw_key(p, s);
    for (int op = 0; op < s->n_ops; op++) {
        double left = left_px + (op % columns) * column_px;
        double top = first_row_px + (op / columns) * row_px;
        draw_times(p, s, op, &(struct fr_box){left, top, panel_width_px, main_px});
        draw_residuals(
            p, s, op,
            &(struct fr_box){left, top + main_px + gap_px, panel_width_px, residual_px});
    }
}

static fr_status draw(struct fr_picture *p, const struct fr_json *roots, int n_inputs,
                      struct fr_error *err) {
    struct fr_measured measured = {0};
    struct sheet sheet = {0};
    (void)n_inputs;
    fr_status status = fr_measured_read(roots, &measured, err);
    if (status == FR_OK) {
        make_sheet(&measured, &sheet);
        if (sheet.n_ops == 0)
            status = fr_json_fail(roots, err, "holds no measured collective (\"series\")");
        else
            draw_all(p, &sheet);
    }
    fr_measured_free(&measured);
    return status;
}

const struct fr_figure fr_figure_fit = {
    .name = "fit",
    .summary = "measured collectives, the curves fitted to them, and their residuals",
    .inputs = "one result of forerun fit --json",
    .one_input = true,
    .stacks = true,
    .draw = draw,
};
