/* Clusters side by side: what the best plan of each takes in time, energy, money and CO2, a bar each with the
 * interval of time; of a whole training where one was asked for, else of an iteration. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plots/provenance.h"
#include "plots/scale.h"

enum {
    ROWS_MAX = 32,
    TOP_PX = 80,
    BELOW_PX = 110,
    GAP_PX = 95,
    PANEL_PX = 250,
    NAME_SIZE = 11
};
static const double bar_px = 40, bar_half = 0.33; /* of the room of a bar */

/* What bars show; the first that is known of all rows is drawn, and so on. */
enum what { TIME, ENERGY, MONEY, CARBON, WHATS };

struct row {
    char cluster[64], model[64];
    double value[WHATS], low_s, high_s; /* NaN: not known */
};

struct rows {
    struct row item[ROWS_MAX];
    int n;
    bool training; /* all of one */
    char currency[16];
};

/* ---- reading --------------------------------------------------------------------------------- */

static fr_status read_training(const struct fr_json *one, struct rows *rows, struct row *row,
                               struct fr_error *err) {
    struct fr_json t = fr_json_member(one, "training"),
                   currency = fr_json_member(&t, "currency");
    const char *text = NULL;
    FR_TRY(fr_json_get_known(&t, "time_s", 0, 1e18, &row->value[TIME], err));
    FR_TRY(fr_json_get_known(&t, "time_low_s", 0, 1e18, &row->low_s, err));
    FR_TRY(fr_json_get_known(&t, "time_high_s", 0, 1e18, &row->high_s, err));
    FR_TRY(fr_json_get_known(&t, "energy_J", 0, 1e30, &row->value[ENERGY], err));
    FR_TRY(fr_json_get_known(&t, "price", 0, 1e30, &row->value[MONEY], err));
    FR_TRY(fr_json_get_known(&t, "carbon_kg", 0, 1e30, &row->value[CARBON], err));
    if (fr_json_is_string(&currency)) FR_TRY(fr_json_text(&currency, &text, err));
    if (text && !*rows->currency) snprintf(rows->currency, sizeof rows->currency, "%s", text);
    if (text && strcmp(text, rows->currency) != 0) row->value[MONEY] = NAN;
    return FR_OK;
}

static fr_status read_iteration(const struct fr_json *outcome, struct row *row,
                                struct fr_error *err) {
    FR_TRY(fr_json_get_known(outcome, "iteration_time_s", 0, 1e18, &row->value[TIME], err));
    FR_TRY(fr_json_get_known(outcome, "iteration_energy_J", 0, 1e30, &row->value[ENERGY], err));
    FR_TRY(fr_json_get_known(outcome, "iteration_time_low_s", 0, 1e18, &row->low_s, err));
    return fr_json_get_known(outcome, "iteration_time_high_s", 0, 1e18, &row->high_s, err);
}

/* A preset's name, or a file's without its folders. */
static const char *last_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A row without a plan is left out. */
static fr_status read_row(const struct fr_json *one, struct rows *rows, struct fr_error *err) {
    struct fr_json outcome = fr_json_member(one, "outcome"),
                   training = fr_json_member(one, "training");
    struct row *row = &rows->item[rows->n];
    const char *cluster = NULL, *model = NULL;
    *row = (struct row){.value = {NAN, NAN, NAN, NAN}, .low_s = NAN, .high_s = NAN};
    struct fr_json where = fr_json_member(one, "cluster"), of = fr_json_member(one, "model");
    FR_TRY(fr_json_text(&where, &cluster, err));
    FR_TRY(fr_json_text(&of, &model, err));
    snprintf(row->cluster, sizeof row->cluster, "%.60s", last_of(cluster));
    snprintf(row->model, sizeof row->model, "%.60s", last_of(model));
    if (!fr_json_is_object(&outcome)) return FR_OK;
    bool trains = fr_json_is_object(&training);
    if (rows->n > 0 && trains != rows->training)
        return fr_json_fail(one, err, "is not of a training as the rows before it are");
    rows->training = trains;
    FR_TRY(trains ? read_training(one, rows, row, err) : read_iteration(&outcome, row, err));
    rows->n++;
    return FR_OK;
}

static fr_status read_rows(const struct fr_json *root, struct rows *rows,
                           struct fr_error *err) {
    static const char *const schemas[] = {"forerun/clusters/1", NULL};
    struct fr_json list = fr_json_member(root, "rows");
    int schema = 0;
    FR_TRY(fr_json_get_choice(root, "schema", true, schemas, &schema, err));
    FR_TRY(fr_json_array(&list, 1, ROWS_MAX, err));
    for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
        struct fr_json one = fr_json_element(&list, i);
        FR_TRY(read_row(&one, rows, err));
    }
    return rows->n ? FR_OK : fr_json_fail(&list, err, "holds no feasible plan");
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Of one model all, which the title names, or each of its own. */
static bool several_models(const struct rows *rows) {
    for (int i = 1; i < rows->n; i++)
        if (strcmp(rows->item[i].model, rows->item[0].model) != 0) return true;
    return false;
}

static const char *name_of(const struct rows *rows, int i, char *out, size_t capacity) {
    const struct row *row = &rows->item[i];
    bool several = several_models(rows);
    snprintf(out, capacity, "%s%s%s", row->cluster, several ? ", " : "",
             several ? row->model : "");
    return out;
}

static double most_of(const struct rows *rows, int what) {
    double most = 0;
    for (int i = 0; i < rows->n; i++) {
        double value = rows->item[i].value[what];
        if (!isfinite(value)) return NAN;
        most = fmax(most, value);
        if (what == TIME && isfinite(rows->item[i].high_s))
            most = fmax(most, rows->item[i].high_s);
    }
    return most > 0 ? most : NAN;
}

struct unit {
    double si;
    const char *name;
};

/* The largest that the most is not below. */
static struct unit unit_of(int what, double most) {
    static const struct unit units[WHATS][8] = {
        {{86400, "days"}, {3600, "hours"}, {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}},
        {{3.6e12, "GWh"}, {3.6e9, "MWh"}, {3.6e6, "kWh"}, {1e3, "kJ"}, {1, "J"}, {1e-3, "mJ"}},
        {{1e6, "million"}, {1e3, "thousand"}, {1, ""}},
        {{1e3, "t"}, {1, "kg"}, {1e-3, "g"}}};
    const struct unit *u = units[what];
    while (u[1].name && most < 2 * u->si) u++;
    return *u;
}

static void label_of(const struct rows *rows, int what, const struct unit *unit, char *out,
                     size_t capacity) {
    static const char *const names[WHATS] = {"time", "energy", "money", "CO2"};
    if (what == MONEY)
        snprintf(out, capacity, "money [%s%s%s]", unit->name, *unit->name ? " " : "",
                 rows->currency);
    else
        snprintf(out, capacity, "%s [%s]", names[what], unit->name);
}

/* Of a bar. */
static double space_px(const struct fr_picture *p) { return p->stack.on ? 24 : bar_px; }

/* Where any is known. */
static void draw_intervals(struct fr_picture *p, const struct rows *rows, double unit_s) {
    int block = -1;
    for (int i = 0; i < rows->n; i++) {
        const struct row *row = &rows->item[i];
        if (!isfinite(row->low_s) || !isfinite(row->high_s)) continue;
        if (block < 0) block = fr_picture_block(p);
        FR_ROW(p, row->value[TIME] / unit_s, i, row->low_s / unit_s, row->high_s / unit_s);
    }
    if (block >= 0)
        fr_picture_curve(p, block, NULL,
                         "using 1:2:3:4 with xerrorbars pt -1 lc rgb '#333333'");
}

static void draw_panel(struct fr_picture *p, const struct rows *rows, int what,
                       const struct fr_box *box, bool names) {
    double most = most_of(rows, what);
    struct unit unit = unit_of(what, most);
    char label[64], value[32], name[160];
    p->stack.plot_px = box->height, p->stack.left_px = box->left;
    fr_picture_panel(p, box, "");
    box = &p->placed;
    label_of(rows, what, &unit, label, sizeof label);
    fr_text_addf(&p->script,
                 "set border 1\nunset grid\nset grid x lt 1 lc rgb '#dddddd' lw 0.8\n"
                 "unset ytics\nset xrange [0:%.9g]\nset yrange [%.9g:-0.5]\n",
                 1.25 * most / unit.si, rows->n - 0.5);
    fr_picture_axis_label(p, "x", label);
    for (int i = 0; i < rows->n; i++) {
        const struct row *row = &rows->item[i];
        double middle = box->top + space_px(p) * (i + 0.5), end = row->value[what];
        if (what == TIME && isfinite(row->high_s)) end = row->high_s;
        if (names)
            fr_picture_text(p, name_of(rows, i, name, sizeof name), box->left - 12, middle,
                            "right", p->stack.on ? 9 : NAME_SIZE, "#000000");
        fr_scale_number(row->value[what] / unit.si, 3, value, sizeof value);
        fr_picture_text(p, value, box->left + box->width * end / (1.25 * most) + 6, middle,
                        "left", p->stack.on ? 9 : NAME_SIZE, "#333333");
    }
    for (int i = 0; i < rows->n; i++) {
        int block = fr_picture_block(p);
        double to = rows->item[i].value[what] / unit.si;
        FR_ROW(p, to / 2, i, 0, to, i - bar_half, i + bar_half);
        fr_picture_curve(p, block, NULL,
                         "using 1:2:3:4:5:6 with boxxyerror fs solid 0.85 noborder lc rgb '%s'",
                         fr_picture_colour(i + 1));
    }
    if (what == TIME) draw_intervals(p, rows, unit.si);
    fr_picture_plotted(p);
}

/* Clusters and models are named at their bars. */
static void provenance(struct fr_picture *p, const struct fr_json *root) {
    struct fr_json rows = fr_json_member(root, "rows"), row = fr_json_element(&rows, 0),
                   outcome = fr_json_member(&row, "outcome"),
                   from = fr_json_member(&outcome, "provenance");
    fr_text_addf(&p->footer, "forerun %s, compare", fr_json_text_at(&from, "version"));
}

static void title(struct fr_picture *p, const struct rows *rows) {
    fr_text_addf(&p->title, "%s%s%s: the best plan of each",
                 rows->training ? "A training" : "An iteration",
                 several_models(rows) ? "" : " of ",
                 several_models(rows) ? "" : rows->item[0].model);
    if (isfinite(rows->item[0].high_s))
        fr_text_addf(&p->note, "Bars of time: predicted, with the 90 %% interval.");
}

static fr_status draw(struct fr_picture *p, const struct fr_json *roots, int n_inputs,
                      struct fr_error *err) {
    struct rows rows = {.n = 0};
    char name[160];
    double names_px = p->stack.on ? 30 : 60;
    int panels = 0;
    (void)n_inputs;
    FR_TRY(read_rows(&roots[0], &rows, err));
    for (int i = 0; i < rows.n; i++)
        names_px = fmax(names_px, fr_picture_text_px(name_of(&rows, i, name, sizeof name),
                                                     p->stack.on ? 9 : NAME_SIZE) +
                                      (p->stack.on ? 36 : 30));
    for (int what = 0; what < WHATS; what++) panels += isfinite(most_of(&rows, what));
    if (!p->stack.on) {
        p->width_px = (int)names_px + panels * (PANEL_PX + GAP_PX);
        p->height_px = TOP_PX + BELOW_PX + (int)(bar_px * rows.n);
    }
    title(p, &rows);
    provenance(p, &roots[0]);
    struct fr_box box = {names_px, TOP_PX, PANEL_PX, space_px(p) * rows.n};
    for (int what = 0; what < WHATS; what++) {
        if (!isfinite(most_of(&rows, what))) continue;
        draw_panel(p, &rows, what, &box, p->stack.on || box.left <= names_px);
        if (!p->stack.on) box.left += PANEL_PX + GAP_PX;
    }
    return FR_OK;
}

const struct fr_figure fr_figure_clusters = {
    .name = "clusters",
    .summary = "clusters side by side: time, energy, money and CO2 of each one's best plan",
    .inputs = "compare --cluster A --cluster B --json",
    .one_input = true,
    .stacks = true,
    .draw = draw,
};
