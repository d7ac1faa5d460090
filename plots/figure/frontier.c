/* The energy/time curve of a plan: the energy of an iteration that its stages' clocks save for
 * so much more time.  There is a curve for each search; both axes are shares of the first
 * one's fastest.  The band is the 90 % interval of the first curve's saving.  Power and time
 * are off alike at all clocks, so a saving is off by the same share of itself, and a saving of
 * zero is sure.  Beside the curves are other plans that the searches list, each with its
 * chosen clocks, and measured runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/plan/key.h"
#include "plots/provenance.h"
#include "plots/results.h"
#include "plots/scale.h"

enum {
    WIDTH_PX = 900,
    HEIGHT_PX = 560,
    CURVES_MAX = 8,
    POINTS_MAX = 64,
    OTHERS_MAX = 8,
    RUNS_MAX = 512
};
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

struct other {
    char plan[FR_PLAN_LINE];
    struct point at;
};

/* All that is drawn; the first point of the first curve is what shares are of. */
struct drawn {
    struct curve curve[CURVES_MAX];
    struct other other[OTHERS_MAX];
    struct point run[RUNS_MAX];
    int curves, others, runs;
    const struct fr_json *search; /* the first one */
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

/* ---- beside the curves ------------------------------------------------------------------------- */

static bool is_runs(const struct fr_json *root) {
    struct fr_json rows = fr_json_member(root, "measured_runs");
    return fr_json_present(&rows);
}

/* Runs whose energy was metered. */
static fr_status read_runs(const struct fr_json *root, struct drawn *d, struct fr_error *err) {
    struct fr_json rows = fr_json_member(root, "measured_runs");
    FR_TRY(fr_json_array(&rows, 1, 1 << 20, err));
    for (int64_t i = 0; i < fr_json_array_length(&rows); i++) {
        struct fr_json row = fr_json_element(&rows, i);
        struct point at = {fr_json_number_at(&row, "measured_s"),
                           fr_json_number_at(&row, "measured_J")};
        if (at.time_s > 0 && at.energy_J > 0 && d->runs < RUNS_MAX) d->run[d->runs++] = at;
    }
    if (d->runs > 0) return FR_OK;
    return fr_json_fail(root, err, "holds no run with measured_J");
}

/* Plans that the search lists and no curve is of, without the clocks that it chose for them. */
static void add_others(const struct fr_results *results, struct drawn *d) {
    for (size_t i = 0; i < results->count && d->others < OTHERS_MAX; i++) {
        const struct fr_result *r = &results->items[i];
        struct other *o = &d->other[d->others];
        struct fr_plan plan = r->plan;
        bool shown = !(r->energy_J > 0) || !(r->time_s > 0);
        plan.clock_Hz = NULL, plan.n_clock_Hz = 0;
        fr_plan_line(&plan, 0, o->plan, sizeof o->plan);
        for (int k = 0; k < d->curves && !shown; k++)
            shown = strcmp(d->curve[k].plan, o->plan) == 0;
        for (int k = 0; k < d->others && !shown; k++)
            shown = strcmp(d->other[k].plan, o->plan) == 0;
        if (shown) continue;
        o->at =
            (struct point){r->iteration_time_s, r->energy_J / r->time_s * r->iteration_time_s};
        d->others++;
    }
}

static fr_status read_others(const struct fr_json *root, struct drawn *d,
                             struct fr_error *err) {
    struct fr_results results;
    struct fr_json top = fr_json_member(root, "top");
    if (fr_json_array_length(&top) == 0) return FR_OK;
    fr_status status = fr_results_read(root, 1, &results, err);
    if (status == FR_OK) add_others(&results, d);
    fr_results_free(&results);
    return status;
}

static double later(const struct point *p, const struct point *first) {
    return p->time_s / first->time_s - 1;
}

static double saved(const struct point *p, const struct point *first) {
    return 1 - p->energy_J / first->energy_J;
}

static void add_texts(struct fr_picture *p, const struct drawn *d) {
    const char *cluster = "", *power = "";
    const struct curve *c = d->curve;
    char time[40], energy[40];
    struct fr_json best = fr_json_member(d->search, "best"),
                   from = fr_json_member(&best, "provenance"),
                   name = fr_json_member(&from, "cluster"),
                   quality = fr_json_member(&from, "power");
    if (fr_json_is_string(&name)) fr_json_text(&name, &cluster, NULL);
    if (fr_json_is_string(&quality)) fr_json_text(&quality, &power, NULL);
    fr_text_addf(&p->title, "Energy saved by the clocks of stages, %s", cluster);
    fr_text_addf(&p->note, "From %s and %s an iteration at the highest clocks of %s plan.  ",
                 fr_scale_text(c->at[0].time_s, FR_QUANTITY_TIME, time, sizeof time),
                 fr_scale_text(c->at[0].energy_J, FR_QUANTITY_ENERGY, energy, sizeof energy),
                 d->curves > 1 ? "the first" : "this");
    fr_text_addf(
        &p->note,
        "Power: %s%s. Band: 90 %% interval of the energy saved, %+.0f to %+.0f %% of it, as "
        "power is off alike at all clocks.",
        power, strcmp(power, "estimated") == 0 ? " (stated watts)" : "", 100 * c->low,
        100 * c->high);
    fr_provenance_line(p, "forerun search --max-slowdown", &from);
}

struct range {
    double least, most;
};

static void widen(struct range *r, double value) {
    r->least = fmin(r->least, value);
    r->most = fmax(r->most, value);
}

/* A margin of a tenth beyond. */
static void add_axes(struct fr_picture *p, const struct drawn *d) {
    const struct point *first = &d->curve[0].at[0];
    struct range time = {0, 0.01}, energy = {0, 0.01};
    for (int k = 0; k < d->curves; k++)
        for (int i = 0; i < d->curve[k].n; i++) {
            widen(&time, later(&d->curve[k].at[i], first));
            widen(&energy, saved(&d->curve[k].at[i], first));
        }
    for (int i = 0; i < d->curve[0].n; i++) {
        double share = saved(&d->curve[0].at[i], first);
        widen(&energy, share * (1 + d->curve[0].low));
        widen(&energy, share * (1 + d->curve[0].high));
    }
    for (int i = 0; i < d->others; i++) {
        widen(&time, later(&d->other[i].at, first));
        widen(&energy, saved(&d->other[i].at, first));
    }
    for (int i = 0; i < d->runs; i++) {
        widen(&time, later(&d->run[i], first));
        widen(&energy, saved(&d->run[i], first));
    }
    fr_scale_percent(p, "x", 110 * time.least, 110 * time.most);
    fr_scale_percent(p, "y", 110 * energy.least, 110 * energy.most);
    fr_picture_axis_label(p, "x", "more time of an iteration");
}

static void draw_band(struct fr_picture *p, const struct curve *c) {
    int block = fr_picture_block(p);
    for (int i = 0; i < c->n; i++) {
        double share = saved(&c->at[i], &c->at[0]);
        FR_ROW(p, 100 * later(&c->at[i], &c->at[0]), 100 * share * (1 + c->low),
               100 * share * (1 + c->high));
    }
    fr_picture_curve(p, block, NULL,
                     "using 1:2:3 with filledcurves lc rgb '%s' fs transparent solid 0.15 "
                     "noborder",
                     fr_picture_colour(0));
}

static void draw_points(struct fr_picture *p, const struct drawn *d) {
    const struct point *first = &d->curve[0].at[0];
    for (int k = 0; k < d->others; k++) {
        int block = fr_picture_block(p);
        FR_ROW(p, 100 * later(&d->other[k].at, first), 100 * saved(&d->other[k].at, first));
        fr_picture_curve(p, block, d->other[k].plan,
                         "using 1:2 with points lc rgb '#666666' pt %d ps 1.1 lw 1.4",
                         fr_picture_point(7 + k));
    }
    if (d->runs == 0) return;
    int block = fr_picture_block(p);
    for (int i = 0; i < d->runs; i++)
        FR_ROW(p, 100 * later(&d->run[i], first), 100 * saved(&d->run[i], first));
    fr_picture_curve(p, block, "measured",
                     "using 1:2 with points lc rgb 'black' pt 2 ps 0.9 lw 1.2");
}

static void draw_all(struct fr_picture *p, const struct drawn *d) {
    double left = plot_box.left + plot_box.width + 25;
    const struct point *first = &d->curve[0].at[0];
    for (int k = 0; k < d->curves; k++) fr_picture_key_space(p, left, d->curve[k].plan);
    for (int k = 0; k < d->others; k++) fr_picture_key_space(p, left, d->other[k].plan);
    add_texts(p, d);
    fr_picture_panel(p, &plot_box, "less energy");
    add_axes(p, d);
    fr_picture_key(p, left, plot_box.top);
    draw_band(p, &d->curve[0]);
    for (int k = 0; k < d->curves; k++) {
        const struct curve *c = &d->curve[k];
        int block = fr_picture_block(p);
        for (int i = 0; i < c->n; i++)
            FR_ROW(p, 100 * later(&c->at[i], first), 100 * saved(&c->at[i], first));
        fr_picture_curve(p, block, c->plan,
                         "using 1:2 with linespoints lc rgb '%s' pt %d ps 0.9 lw 1.6",
                         fr_picture_colour(k), fr_picture_point(k));
    }
    draw_points(p, d);
    fr_picture_plotted(p);
}

static fr_status read_all(const struct fr_json *roots, int n_inputs, struct drawn *d,
                          struct fr_error *err) {
    for (int k = 0; k < n_inputs; k++) {
        if (is_runs(&roots[k])) {
            FR_TRY(read_runs(&roots[k], d, err));
            continue;
        }
        if (d->curves == CURVES_MAX)
            return fr_fail(err, FR_ERR_USAGE, NULL, "at most %d curves in a picture",
                           CURVES_MAX);
        if (!d->search) d->search = &roots[k];
        FR_TRY(read_curve(&roots[k], &d->curve[d->curves++], err));
    }
    if (!d->search)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "measured runs alone make no curve; expected a search besides");
    for (int k = 0; k < n_inputs; k++)
        if (!is_runs(&roots[k])) FR_TRY(read_others(&roots[k], d, err));
    return FR_OK;
}

static fr_status draw(struct fr_picture *p, const struct fr_json *roots, int n_inputs,
                      struct fr_error *err) {
    struct drawn *d = fr_calloc(1, sizeof *d);
    if (!d) return fr_fail(err, FR_ERR_NOMEM, NULL, "the curves do not fit in memory");
    fr_status status = read_all(roots, n_inputs, d, err);
    if (status == FR_OK) draw_all(p, d);
    free(d);
    return status;
}

const struct fr_figure fr_figure_frontier = {
    .name = "frontier",
    .summary = "energy that the clocks of a plan's stages save, against the time they cost",
    .inputs = "results of forerun search --objective energy --max-slowdown X --json; and a "
              "runs.csv with measured_J",
    .size_px = {WIDTH_PX, HEIGHT_PX},
    .stacks = true,
    .draw = draw,
};
