/* The energy/time curve of a plan: what its stages' clocks save of an iteration's energy for so much more
 * time; a curve for each search, both as shares of the first one's fastest.  What power and time are
 * uncertain by is common to all points, and stands below. */
#include <math.h>
#include <stdio.h>

#include "plots/picture.h"
#include "plots/scale.h"

enum { WIDTH_PX = 900, HEIGHT_PX = 560, CURVES_MAX = 8, POINTS_MAX = 64 };
static const struct fr_box plot_box = {90, 70, 560, 380};

struct point {
    double time_s, energy_J;
};

struct curve {
    const char *plan;
    struct point at[POINTS_MAX];
    int n;
    double low, high; /* of the first point's energy: its 90 % interval, relative */
};

static fr_status read_point(const struct fr_json *one, struct curve *c, struct fr_error *err) {
    double low_J = 0, high_J = 0;
    struct point *p = &c->at[c->n];
    FR_TRY(fr_json_get_number(one, "iteration_time_s", true, 1e-12, 1e12, &p->time_s, err));
    FR_TRY(fr_json_get_number(one, "iteration_energy_J", true, 1e-12, 1e18, &p->energy_J, err));
    FR_TRY(fr_json_get_number(one, "iteration_energy_low_J", true, 0, 1e18, &low_J, err));
    FR_TRY(fr_json_get_number(one, "iteration_energy_high_J", true, 0, 1e18, &high_J, err));
    if (c->n++ == 0) c->low = low_J / p->energy_J - 1, c->high = high_J / p->energy_J - 1;
    return FR_OK;
}

static fr_status read_curve(const struct fr_json *root, struct curve *c, struct fr_error *err) {
    struct fr_json slowdown = fr_json_member(root, "max_slowdown"),
                   curve = fr_json_member(&slowdown, "curve"),
                   plan = fr_json_member(&curve, "plan"),
                   points = fr_json_member(&curve, "points");
    static const char *const schemas[] = {"forerun/search/1", NULL};
    int schema = 0;
    FR_TRY(fr_json_get_choice(root, "schema", true, schemas, &schema, err));
    if (!fr_json_present(&slowdown))
        return fr_json_fail(
            root, err,
            "has no \"max_slowdown\"; made by forerun search --objective energy "
            "--max-slowdown 20%% --json");
    FR_TRY(fr_json_text(&plan, &c->plan, err));
    FR_TRY(fr_json_array(&points, 1, POINTS_MAX, err));
    for (int64_t i = 0; i < fr_json_array_length(&points); i++) {
        struct fr_json one = fr_json_element(&points, i);
        FR_TRY(read_point(&one, c, err));
    }
    return FR_OK;
}

static double later(const struct point *p, const struct point *first) {
    return p->time_s / first->time_s - 1;
}

static double saved(const struct point *p, const struct point *first) {
    return 1 - p->energy_J / first->energy_J;
}

static void add_texts(struct fr_picture *p, const struct curve *c, int n,
                      const struct fr_json *root) {
    const char *cluster = "", *power = "";
    char time[40], energy[40];
    struct fr_json best = fr_json_member(root, "best"),
                   from = fr_json_member(&best, "provenance"),
                   name = fr_json_member(&from, "cluster"),
                   quality = fr_json_member(&from, "power");
    if (fr_json_is_string(&name)) fr_json_text(&name, &cluster, NULL);
    if (fr_json_is_string(&quality)) fr_json_text(&quality, &power, NULL);
    fr_text_addf(&p->title, "Energy saved by the clocks of stages, %s", cluster);
    fr_text_addf(&p->footer, "From %s and %s an iteration at the highest clocks of %s plan",
                 fr_scale_text(c->at[0].time_s, FR_QUANTITY_TIME, time, sizeof time),
                 fr_scale_text(c->at[0].energy_J, FR_QUANTITY_ENERGY, energy, sizeof energy),
                 n > 1 ? "the first" : "this");
    fr_text_addf(&p->note, "Power: %s; 90 %% interval of all energies %+.0f to %+.0f %%", power,
                 100 * c->low, 100 * c->high);
}

static void add_axes(struct fr_picture *p, const struct curve *c, int n) {
    double times[2] = {0, 0.01}, savings[2] = {0, 0.01}; /* a tenth of room beyond */
    for (int k = 0; k < n; k++)
        for (int i = 0; i < c[k].n; i++) {
            double t = later(&c[k].at[i], &c->at[0]), e = saved(&c[k].at[i], &c->at[0]);
            times[0] = fmin(times[0], t), times[1] = fmax(times[1], t);
            savings[0] = fmin(savings[0], e), savings[1] = fmax(savings[1], e);
        }
    fr_scale_percent(p, "x", 110 * times[0], 110 * times[1]);
    fr_scale_percent(p, "y", 110 * savings[0], 110 * savings[1]);
    fr_picture_axis_label(p, "x", "more time of an iteration");
    fr_picture_axis_label(p, "y", "less energy");
}

static void draw_all(struct fr_picture *p, const struct curve *c, int n,
                     const struct fr_json *root) {
    double left = plot_box.left + plot_box.width + 25;
    for (int k = 0; k < n; k++) fr_picture_key_room(p, left, c[k].plan);
    add_texts(p, c, n, root);
    fr_picture_panel(p, &plot_box, "");
    add_axes(p, c, n);
    fr_picture_key(p, left, plot_box.top);
    for (int k = 0; k < n; k++) {
        int block = fr_picture_block(p);
        for (int i = 0; i < c[k].n; i++)
            FR_ROW(p, 100 * later(&c[k].at[i], &c->at[0]), 100 * saved(&c[k].at[i], &c->at[0]));
        fr_picture_curve(p, block, c[k].plan,
                         "using 1:2 with linespoints lc rgb '%s' pt %d ps 0.9 lw 1.6",
                         fr_picture_colour(k), fr_picture_point(k));
    }
    fr_picture_plotted(p);
}

static fr_status draw(struct fr_picture *p, const struct fr_json *roots, int n_inputs,
                      struct fr_error *err) {
    struct curve curves[CURVES_MAX] = {{.n = 0}};
    if (n_inputs > CURVES_MAX)
        return fr_fail(err, FR_ERR_USAGE, NULL, "at most %d curves in a picture", CURVES_MAX);
    for (int k = 0; k < n_inputs; k++) FR_TRY(read_curve(&roots[k], &curves[k], err));
    draw_all(p, curves, n_inputs, roots);
    return FR_OK;
}

const struct fr_figure fr_figure_frontier = {
    .name = "frontier",
    .summary = "energy that the clocks of a plan's stages save, against the time they cost",
    .inputs = "results of forerun search --objective energy --max-slowdown X --json",
    .size_px = {WIDTH_PX, HEIGHT_PX},
    .draw = draw,
};
