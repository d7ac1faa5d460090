/* Energy and time of phantom parallelism against its ghost neurons k, predicted as lines and
 * measured as points, tensor parallelism across: where the minimum is.  With the iterations to
 * a loss beside the runs, energy and time to that loss; else of one iteration. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots/scale.h"

enum { WIDTH_PX = 1340, HEIGHT_PX = 560, GROUPS_MAX = 6, ROWS_MAX = 4096 };
static const struct fr_box boxes[] = {{95, 80, 400, 370}, {605, 80, 400, 370}};

struct point {
    char group[64];
    int64_t width, tp, ghost;         /* ghost 0: tensor */
    double measured[2], predicted[2]; /* energy [J], time [s] */
};

struct points {
    struct point *items;
    int n;
    bool to_loss;
    double loss;
    char group[GROUPS_MAX][64]; /* of phantom rows */
    int n_groups, left_out;
};

static fr_status known(const struct fr_json *row, const char *key, double *value,
                       struct fr_error *err) {
    struct fr_json node = fr_json_member(row, key);
    *value = NAN;
    return fr_json_is_number(&node) ? fr_json_number(&node, 0, 1e18, value, err) : FR_OK;
}

/* A whole number of a model or plan that the configuration holds as text; else @p otherwise. */
static int64_t number_in(const struct fr_json *configuration, const char *document,
                         const char *key, int64_t otherwise) {
    struct fr_json node = fr_json_member(configuration, document);
    struct fr_json_document *parsed = NULL;
    const char *text = NULL;
    int64_t value = otherwise;
    if (fr_json_text(&node, &text, NULL) != FR_OK ||
        fr_json_parse(text, strlen(text), document, &parsed, NULL) != FR_OK)
        return otherwise;
    struct fr_json root = fr_json_root(parsed);
    if (fr_json_get_integer(&root, key, false, 0, 1 << 30, &value, NULL) != FR_OK)
        value = otherwise;
    fr_json_free(parsed);
    return value;
}

static fr_status read_point(const struct fr_json *one, struct points *points,
                            struct fr_error *err) {
    struct fr_json c = fr_json_member(one, "configuration");
    struct point *p = &points->items[points->n];
    char app[24] = "";
    *p = (struct point){0};
    FR_TRY(fr_json_get_string(&c, "app", true, app, sizeof app, err));
    FR_TRY(fr_json_get_string(&c, "group", true, p->group, sizeof p->group, err));
    FR_TRY(known(one, "measured_J", &p->measured[0], err));
    FR_TRY(known(one, "predicted_J", &p->predicted[0], err));
    FR_TRY(known(one, "measured_s", &p->measured[1], err));
    FR_TRY(known(one, "predicted_s", &p->predicted[1], err));
    bool phantom = strcmp(app, "phantom") == 0;
    if (!phantom && strcmp(app, "tensor") != 0) return FR_OK;
    p->width = number_in(&c, "model", "width", 0);
    p->tp = number_in(&c, "plan", "tp", 1);
    p->ghost = phantom ? number_in(&c, "plan", "ghost", 0) : 0;
    points->n++;
    return FR_OK;
}

static fr_status read_runs(const struct fr_json *root, struct points *points,
                           struct fr_error *err) {
    struct fr_json list = fr_json_member(root, "rows");
    FR_TRY(fr_json_array(&list, 1, ROWS_MAX, err));
    int64_t n = fr_json_array_length(&list);
    points->items = calloc((size_t)n, sizeof *points->items);
    if (!points->items) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int64_t i = 0; i < n; i++) {
        struct fr_json one = fr_json_element(&list, i);
        FR_TRY(read_point(&one, points, err));
    }
    return points->n ? FR_OK : fr_json_fail(&list, err, "holds no run of phantom or tensor");
}

/* Multiply by the iterations of the same network; without them a point is left out. */
static fr_status read_iterations(const struct fr_json *root, struct points *points,
                                 struct fr_error *err) {
    struct fr_json list = fr_json_member(root, "rows");
    int64_t width = 0;
    FR_TRY(fr_json_get_integer(root, "width", true, 1, 1 << 30, &width, err));
    FR_TRY(fr_json_get_number(root, "loss", true, 0, 1e18, &points->loss, err));
    FR_TRY(fr_json_array(&list, 1, ROWS_MAX, err));
    int kept = 0;
    for (int i = 0; i < points->n; i++) {
        struct point p = points->items[i];
        double iterations = NAN;
        for (int64_t j = 0; j < fr_json_array_length(&list); j++) {
            struct fr_json one = fr_json_element(&list, j);
            int64_t tp = 0, ghost = 0;
            struct fr_json tp_node = fr_json_member(&one, "tp");
            if (fr_json_is_number(&tp_node))
                FR_TRY(fr_json_integer(&tp_node, 1, 1 << 30, &tp, err));
            FR_TRY(fr_json_get_integer(&one, "ghost", true, 0, 1 << 30, &ghost, err));
            if (ghost == p.ghost && (p.ghost == 0 || tp == p.tp))
                FR_TRY(known(&one, "iterations", &iterations, err));
        }
        if (p.width != width || !(iterations > 0)) continue;
        for (int k = 0; k < 2; k++) {
            p.measured[k] *= iterations;
            p.predicted[k] *= iterations;
        }
        points->items[kept++] = p;
    }
    points->n = kept;
    points->to_loss = true;
    return kept ? FR_OK
                : fr_json_fail(&list, err,
                               "has no iterations for the runs: a network of width "
                               "%" PRId64,
                               width);
}

static fr_status read_all(const struct fr_json *roots, int n_inputs, struct points *points,
                          struct fr_error *err) {
    static const char *const schemas[] = {"forerun/validate/1", "forerun/iterations/1", NULL};
    const struct fr_json *runs = NULL, *iterations = NULL;
    for (int i = 0; i < n_inputs; i++) {
        int schema = 0;
        FR_TRY(fr_json_get_choice(&roots[i], "schema", true, schemas, &schema, err));
        if (schema == 0) runs = &roots[i];
        if (schema == 1) iterations = &roots[i];
    }
    if (!runs || n_inputs > 2)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "figure ghost takes one result of validate, and one of iterations");
    FR_TRY(read_runs(runs, points, err));
    return iterations ? read_iterations(iterations, points, err) : FR_OK;
}

static void find_groups(struct points *points) {
    for (int i = 0; i < points->n; i++) {
        int k = 0;
        if (points->items[i].ghost == 0) continue;
        while (k < points->n_groups && strcmp(points->group[k], points->items[i].group) != 0)
            k++;
        if (k < points->n_groups) continue;
        if (points->n_groups == GROUPS_MAX)
            points->left_out++;
        else
            strcpy(points->group[points->n_groups++], points->items[i].group);
    }
}

static bool of_group(const struct points *points, int i, int group, bool phantom) {
    const struct point *p = &points->items[i];
    return (p->ghost > 0) == phantom && strcmp(p->group, points->group[group]) == 0;
}

static void add_axes(struct fr_picture *p, const struct points *points, int what) {
    struct fr_scale seen = FR_SCALE_EMPTY;
    int64_t values[64];
    int n = 0;
    for (int i = 0; i < points->n; i++) {
        const struct point *at = &points->items[i];
        fr_scale_include(&seen, at->measured[what]);
        fr_scale_include(&seen, at->predicted[what]);
        int j = 0;
        if (at->ghost == 0) continue;
        while (j < n && values[j] < at->ghost) j++;
        if ((j < n && values[j] == at->ghost) || n == 64) continue;
        memmove(values + j + 1, values + j, (size_t)(n - j) * sizeof *values);
        values[j] = at->ghost;
        n++;
    }
    fr_scale_counts(p, values, n, 9);
    fr_scale_axis(p, "y", seen, what ? FR_QUANTITY_TIME : FR_QUANTITY_ENERGY, 9);
    fr_picture_axis_label(p, "x", "ghost neurons k");
}

static void add_group(struct fr_picture *p, const struct points *points, int group, int what) {
    double low = INFINITY, high = 0;
    char title[96];
    int line = fr_picture_block(p);
    for (int i = 0; i < points->n; i++) {
        const struct point *at = &points->items[i];
        if (!of_group(points, i, group, true)) continue;
        FR_ROW(p, (double)at->ghost, at->predicted[what]);
        low = fmin(low, (double)at->ghost);
        high = fmax(high, (double)at->ghost);
    }
    snprintf(title, sizeof title, "%s, predicted", points->group[group]);
    fr_picture_curve(p, line, title, "using 1:2 with lines lc rgb '%s' lw 1.6",
                     fr_picture_colour(group));
    bool measured = false; /* gnuplot takes no curve without a point */
    for (int i = 0; i < points->n; i++)
        measured = measured ||
                   (of_group(points, i, group, true) && points->items[i].measured[what] > 0);
    int marks = measured ? fr_picture_block(p) : -1;
    for (int i = 0; measured && i < points->n; i++)
        if (of_group(points, i, group, true))
            FR_ROW(p, (double)points->items[i].ghost, points->items[i].measured[what]);
    if (measured)
        fr_picture_curve(p, marks, "measured", "using 1:2 with points lc rgb '%s' pt %d ps 1.1",
                         fr_picture_colour(group), fr_picture_point(group));
    for (int i = 0; i < points->n; i++) {
        if (!of_group(points, i, group, false) || !(points->items[i].measured[what] > 0))
            continue;
        int block = fr_picture_block(p);
        FR_ROW(p, low, points->items[i].measured[what]);
        FR_ROW(p, high, points->items[i].measured[what]);
        fr_picture_curve(p, block, "tensor, measured",
                         "using 1:2 with lines lc rgb '%s' lw 1.2 dt 3",
                         fr_picture_colour(group));
    }
}

static void draw_panel(struct fr_picture *p, const struct points *points, int what) {
    char heading[96];
    snprintf(heading, sizeof heading, "%s %s", what ? "time" : "energy",
             points->to_loss ? "to the loss" : "of one iteration");
    fr_picture_panel(p, &boxes[what], heading);
    add_axes(p, points, what);
    if (what == 1) fr_picture_key(p, boxes[1].left + boxes[1].width + 20, boxes[1].top);
    for (int g = 0; g < points->n_groups; g++) add_group(p, points, g, what);
    fr_picture_plotted(p);
}

static fr_status check(const struct points *points, const struct fr_json *root,
                       struct fr_error *err) {
    for (int i = 0; i < points->n; i++)
        if (isfinite(points->items[i].predicted[0])) return FR_OK;
    return fr_json_fail(root, err,
                        "has no energy: calibrate with --power-busy and --power-idle");
}

static void add_texts(struct fr_picture *p, const struct points *points) {
    const struct point *best = NULL;
    char energy[40];
    for (int i = 0; i < points->n; i++) {
        const struct point *at = &points->items[i];
        if (isfinite(at->measured[0]) && (!best || at->measured[0] < best->measured[0]))
            best = at;
    }
    fr_text_addf(&p->title, "Phantom width");
    if (best && best->ghost)
        fr_text_addf(
            &p->title, ": least measured energy at k = %" PRId64 ", %s", best->ghost,
            fr_scale_text(best->measured[0], FR_QUANTITY_ENERGY, energy, sizeof energy));
    else if (best)
        fr_text_addf(
            &p->title, ": tensor parallelism needs the least measured energy, %s",
            fr_scale_text(best->measured[0], FR_QUANTITY_ENERGY, energy, sizeof energy));
    if (points->to_loss)
        fr_text_addf(&p->note, "To a mean squared error of %g.  ", points->loss);
    if (points->left_out)
        fr_text_addf(&p->note, "%d groups are not drawn.  ", points->left_out);
    fr_text_addf(
        &p->footer,
        "forerun validate; measured energy: the cluster file's power times the clocks");
}

static fr_status draw(const struct fr_json *roots, int n_inputs,
                      const struct fr_figure_options *o, struct fr_error *err) {
    struct points points = {0};
    struct fr_picture p;
    fr_picture_begin(&p, WIDTH_PX, HEIGHT_PX);
    fr_status status = read_all(roots, n_inputs, &points, err);
    if (status == FR_OK) status = check(&points, &roots[0], err);
    if (status == FR_OK) {
        find_groups(&points);
        add_texts(&p, &points);
        for (int what = 0; what < 2; what++) draw_panel(&p, &points, what);
    }
    status = fr_picture_end(&p, status, o, err);
    free(points.items);
    return status;
}

const struct fr_figure fr_figure_ghost = {
    .name = "ghost",
    .summary = "energy and time against ghost neurons, predicted lines and measured points",
    .inputs = "a result of forerun validate --json, and one of forerun iterations --json",
    .draw = draw,
};
