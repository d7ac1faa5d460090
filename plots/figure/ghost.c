/* Energy and time of phantom parallelism against its ghost neurons k, predicted as lines and
 * measured as points on the same axes, tensor parallelism across: where the minimum is.  With the
 * iterations to a loss beside the runs, energy and time to that loss; else of one iteration.  Trainings alone: energy to the loss and of an iteration, which fall or grow with k.
 * Bars are the range over seeds. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots/ghost_points.h"
#include "plots/provenance.h"
#include "plots/scale.h"

enum { WIDTH_PX = 1340, HEIGHT_PX = 560 };
static const struct fr_box boxes[] = {{95, 80, 400, 370}, {605, 80, 400, 370}};

/* Is the panel's quantity a number of iterations times something? */
static bool over_seeds(const struct fr_ghost_points *points, int panel) {
    return points->to_loss && !(points->trained_only && panel == 1);
}

static bool of_group(const struct fr_ghost_points *points, int i, int group, bool phantom) {
    const struct fr_ghost_point *p = &points->items[i];
    return (p->ghost > 0) == phantom && strcmp(p->group, points->group[group]) == 0;
}

static void add_axes(struct fr_picture *p, const struct fr_ghost_points *points, int what) {
    struct fr_scale seen = FR_SCALE_EMPTY;
    int64_t values[64];
    int n = 0;
    for (int i = 0; i < points->n; i++) {
        const struct fr_ghost_point *at = &points->items[i];
        bool seeds = over_seeds(points, what);
        for (int k = 0; k < 2; k++) {
            double value = (k ? at->measured : at->predicted)[what];
            fr_scale_include(&seen, seeds ? value * at->seeds_low : value);
            fr_scale_include(&seen, seeds ? value * at->seeds_high : value);
        }
        int j = 0;
        if (at->ghost == 0) continue;
        while (j < n && values[j] < at->ghost) j++;
        if ((j < n && values[j] == at->ghost) || n == 64) continue;
        memmove(values + j + 1, values + j, (size_t)(n - j) * sizeof *values);
        values[j] = at->ghost;
        n++;
    }
    fr_scale_counts(p, values, n, 9);
    fr_scale_axis(p, "y", seen,
                  what && !points->trained_only ? FR_QUANTITY_TIME : FR_QUANTITY_ENERGY, 9);
    fr_picture_axis_label(p, "x", "ghost neurons k");
}

/* k, value, and the range over seeds, of a group's phantom points or of tensor's across them; a
 * block that gets no line would be refused.  @return the block, -1: nothing is known. */
static int add_points(struct fr_picture *p, const struct fr_ghost_points *points, int group,
                      bool phantom, bool measured, int panel) {
    double low = INFINITY, high = 0;
    int block = -1;
    for (int i = 0; i < points->n; i++)
        if (of_group(points, i, group, true)) {
            low = fmin(low, (double)points->items[i].ghost);
            high = fmax(high, (double)points->items[i].ghost);
        }
    for (int i = 0; i < points->n; i++) {
        const struct fr_ghost_point *at = &points->items[i];
        double value = (measured ? at->measured : at->predicted)[panel];
        bool seeds = over_seeds(points, panel);
        double from = seeds ? value * at->seeds_low : value,
               to = seeds ? value * at->seeds_high : value;
        if (!of_group(points, i, group, phantom) || !(value > 0)) continue;
        if (block < 0) block = fr_picture_block(p);
        FR_ROW(p, phantom ? (double)at->ghost : low, value, from, to);
        if (!phantom) FR_ROW(p, high, value, from, to);
    }
    return block;
}

static bool any_range(const struct fr_ghost_points *points, int panel) {
    bool any = false;
    for (int i = 0; i < points->n; i++)
        any = any || points->items[i].seeds_high > points->items[i].seeds_low;
    return any && over_seeds(points, panel);
}

static void add_group(struct fr_picture *p, const struct fr_ghost_points *points, int group,
                      int panel) {
    const char *colour = fr_picture_colour(group);
    char title[96];
    int line = add_points(p, points, group, true, false, panel);
    int marks = add_points(p, points, group, true, true, panel);
    int across = add_points(p, points, group, false, false, panel);
    int tensor = add_points(p, points, group, false, true, panel);
    int bars = marks >= 0 ? marks : line;
    snprintf(title, sizeof title, "%s%s", points->group[group],
             points->trained_only ? "" : ", predicted");
    if (bars >= 0 && any_range(points, panel))
        fr_picture_curve(p, bars, NULL, "using 1:2:3:4 with yerrorbars pt -1 lc rgb '%s' lw 1",
                         colour);
    if (line >= 0)
        fr_picture_curve(p, line, title, "using 1:2 with lines lc rgb '%s' lw 1.6", colour);
    if (points->trained_only && line >= 0)
        fr_picture_curve(p, line, NULL, "using 1:2 with points lc rgb '%s' pt %d ps 1", colour,
                         fr_picture_point(group));
    if (marks >= 0)
        fr_picture_curve(p, marks, "phantom, measured",
                         "using 1:2 with points lc rgb '%s' pt %d ps 1.2", colour,
                         fr_picture_point(group));
    if (across >= 0)
        fr_picture_curve(p, across, points->trained_only ? "tensor" : "tensor, predicted",
                         "using 1:2 with lines lc rgb '%s' lw 1.2 dt 2", colour);
    if (tensor >= 0)
        fr_picture_curve(p, tensor, "tensor, measured",
                         "using 1:2 with linespoints lc rgb '%s' lw 1 dt 3 pt %d ps 1.2",
                         colour, fr_picture_point(group));
}

static bool shown(const struct fr_ghost_point *at) {
    return at->measured[0] > 0 || at->predicted[0] > 0;
}

/* Measured where anything is: what was measured decides. */
static double energy_of(const struct fr_ghost_points *points, const struct fr_ghost_point *at) {
    bool measured = false;
    for (int i = 0; i < points->n; i++) measured = measured || points->items[i].measured[0] > 0;
    return measured ? at->measured[0] : at->predicted[0];
}

static const struct fr_ghost_point *best_of(const struct fr_ghost_points *points, int group) {
    const struct fr_ghost_point *best = NULL;
    for (int i = 0; i < points->n; i++) {
        const struct fr_ghost_point *at = &points->items[i];
        if (!shown(at) || !(energy_of(points, at) > 0)) continue;
        if (group >= 0 && !of_group(points, i, group, true)) continue;
        if (!best || energy_of(points, at) < energy_of(points, best)) best = at;
    }
    return best;
}

static void mark_best(struct fr_picture *p, const struct fr_ghost_points *points) {
    int block = -1;
    for (int g = 0; g < points->n_groups; g++) {
        const struct fr_ghost_point *best = best_of(points, g);
        if (!best) continue;
        if (block < 0) block = fr_picture_block(p);
        FR_ROW(p, (double)best->ghost, energy_of(points, best));
    }
    if (block >= 0)
        fr_picture_curve(p, block, "least energy",
                         "using 1:2 with points lc rgb '#000000' pt 6 ps 2.4 lw 1.6");
}

static const char *heading_of(const struct fr_ghost_points *points, int panel) {
    if (points->trained_only) return panel ? "energy of one iteration" : "energy to the loss";
    if (points->to_loss) return panel ? "time to the loss" : "energy to the loss";
    return panel ? "time of one iteration" : "energy of one iteration";
}

/* The key stands beside the first panel's curves, right of the second. */
static void draw_panel(struct fr_picture *p, const struct fr_ghost_points *points, int panel) {
    fr_picture_panel(p, &boxes[panel], heading_of(points, panel));
    add_axes(p, points, panel);
    if (panel == 0) fr_picture_key(p, boxes[1].left + boxes[1].width + 20, boxes[1].top);
    for (int g = 0; g < points->n_groups; g++) add_group(p, points, g, panel);
    if (panel == 0) mark_best(p, points);
    fr_picture_plotted(p);
}

static fr_status check(const struct fr_ghost_points *points, const struct fr_json *root,
                       struct fr_error *err) {
    for (int i = 0; i < points->n; i++)
        if (isfinite(points->items[i].predicted[0])) return FR_OK;
    return fr_json_fail(root, err,
                        "has no energy: calibrate with --power-busy and --power-idle");
}

static void add_texts(struct fr_picture *p, const struct fr_ghost_points *points,
                      const struct fr_json *root) {
    const struct fr_ghost_point *best = best_of(points, -1);
    char energy[40];
    bool ranges = any_range(points, 0);
    fr_text_addf(&p->title, "Phantom width");
    if (best) {
        const char *what = best->measured[0] > 0 ? "measured " : "";
        fr_scale_text(energy_of(points, best), FR_QUANTITY_ENERGY, energy, sizeof energy);
        if (best->ghost)
            fr_text_addf(&p->title, ": least %senergy at k = %" PRId64 ", %s", what,
                         best->ghost, energy);
        else
            fr_text_addf(&p->title, ": tensor parallelism needs the least %senergy, %s", what,
                         energy);
    }
    if (points->to_loss)
        fr_text_addf(&p->note, "To a mean squared error of %g%s.  ", points->loss,
                     ranges ? "; bars: range over seeds" : "");
    if (points->left_out)
        fr_text_addf(&p->note, "%d groups are not drawn.  ", points->left_out);
    fr_text_addf(&p->note, "%s",
                 points->trained_only
                     ? "Measured iterations times the predicted energy of one."
                     : "Measured energy: the cluster file's power times the clocks.");
    fr_provenance_line(p, points->trained_only ? "forerun iterations" : "forerun validate",
                       root);
}

static fr_status draw(struct fr_picture *p, const struct fr_json *roots, int n_inputs,
                      struct fr_error *err) {
    struct fr_ghost_points points = {0};
    fr_status status = fr_ghost_points_read(roots, n_inputs, &points, err);
    if (status == FR_OK) status = check(&points, roots, err);
    if (status == FR_OK) {
        add_texts(p, &points, roots);
        for (int what = 0; what < 2; what++) draw_panel(p, &points, what);
    }
    free(points.items);
    return status;
}

const struct fr_figure fr_figure_ghost = {
    .name = "ghost",
    .summary = "energy and time against ghost neurons, predicted lines and measured points",
    .inputs = "results of forerun validate --json, of forerun iterations --json, or both",
    .size_px = {WIDTH_PX, HEIGHT_PX},
    .stacks = true,
    .draw = draw,
};
