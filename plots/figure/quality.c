/* Effects of compression on learning: the held-out loss against iterations, priced time and
 * priced energy, with its interval over seeds; time and energy to the loss; and the last loss
 * against the compression ratio. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "plots/provenance.h"
#include "plots/scale.h"

enum { HEIGHT_PX = 830, LABEL_B = 96, KEY_LEFT = 1150 };
static const struct fr_box curve_box[] = {{75, 80, 300, 280},
                                          {440, 80, 300, 280},
                                          {805, 80, 300, 280}},
                           cost_box[] = {{75, 460, 300, 250}, {440, 460, 300, 250}},
                           ratio_box = {805, 460, 300, 250};

struct mean {
    double mean, low, high;
};

struct row {
    char label[LABEL_B];
    double ratio, reached, seeds, iteration_s, iteration_J;
    struct mean loss, to_loss[2]; /* time [s], energy [J] */
    struct mean *curve;
};

struct rows {
    struct row *items;
    double *iteration;
    int n, points;
    double entropy, target;
    bool tuned; /**< the rate of each was sought, not given */
    char corpus[64], cluster[64], unit[64];
};

/* ---- reading --------------------------------------------------------------------------------- */

static fr_status read_mean(const struct fr_json *object, const char *const keys[3],
                           struct mean *out, struct fr_error *err) {
    FR_TRY(fr_json_get_known(object, keys[0], 0, 1e300, &out->mean, err));
    FR_TRY(fr_json_get_known(object, keys[1], -1e300, 1e300, &out->low, err));
    return fr_json_get_known(object, keys[2], -1e300, 1e300, &out->high, err);
}

static const char *const loss_keys[] = {"loss", "loss_low", "loss_high"};
static const char *const cost_keys[2][3] = {
    {"time_to_loss_s", "time_to_loss_low_s", "time_to_loss_high_s"},
    {"energy_to_loss_J", "energy_to_loss_low_J", "energy_to_loss_high_J"}};

static fr_status read_curve(const struct fr_json *one, struct rows *rows, struct row *row,
                            struct fr_error *err) {
    struct fr_json list = fr_json_member(one, "curve");
    int least = rows->points > 0 ? rows->points : 2;
    FR_TRY(fr_json_array(&list, least, rows->points > 0 ? rows->points : 1 << 20, err));
    rows->points = (int)fr_json_array_length(&list);
    row->curve = fr_calloc((size_t)rows->points, sizeof *row->curve);
    if (!rows->iteration) rows->iteration = fr_calloc((size_t)rows->points, sizeof(double));
    if (!row->curve || !rows->iteration) return fr_fail(err, FR_ERR_NOMEM, NULL, "a curve");
    for (int i = 0; i < rows->points; i++) {
        struct fr_json at = fr_json_element(&list, i);
        FR_TRY(fr_json_get_number(&at, "iteration", true, 0, 1e15, &rows->iteration[i], err));
        FR_TRY(read_mean(&at, loss_keys, &row->curve[i], err));
    }
    return FR_OK;
}

static fr_status read_row(const struct fr_json *one, struct rows *rows, struct fr_error *err) {
    struct row *row = &rows->items[rows->n++];
    struct fr_json label = fr_json_member(one, "label"), rates = fr_json_member(one, "rates");
    const char *text = "";
    rows->tuned = rows->tuned || fr_json_array_length(&rates) > 0;
    double share = 1;
    FR_TRY(fr_json_text(&label, &text, err));
    snprintf(row->label, sizeof row->label, "%s", text);
    FR_TRY(fr_json_get_known(one, "sent_share", 0, 1e6, &share, err));
    row->ratio = 1 / share;
    FR_TRY(fr_json_get_known(one, "iteration_time_s", 0, 1e300, &row->iteration_s, err));
    FR_TRY(fr_json_get_known(one, "iteration_energy_J", 0, 1e300, &row->iteration_J, err));
    FR_TRY(fr_json_get_known(one, "seeds", 0, 1e9, &row->seeds, err));
    FR_TRY(fr_json_get_known(one, "reached", 0, 1e9, &row->reached, err));
    FR_TRY(read_mean(one, loss_keys, &row->loss, err));
    for (int k = 0; k < 2; k++) FR_TRY(read_mean(one, cost_keys[k], &row->to_loss[k], err));
    return read_curve(one, rows, row, err);
}

static fr_status read_rows(const struct fr_json *root, struct rows *rows,
                           struct fr_error *err) {
    static const char *const schemas[] = {"forerun/quality/1", NULL};
    struct fr_json list = fr_json_member(root, "rows");
    int schema = 0;
    FR_TRY(fr_json_get_choice(root, "schema", true, schemas, &schema, err));
    FR_TRY(fr_json_get_known(root, "entropy", 0, 1e6, &rows->entropy, err));
    FR_TRY(fr_json_get_known(root, "target_loss", 0, 1e6, &rows->target, err));
    snprintf(rows->corpus, sizeof rows->corpus, "%s", fr_json_text_at(root, "corpus"));
    snprintf(rows->cluster, sizeof rows->cluster, "%s", fr_json_text_at(root, "cluster"));
    const char *unit = fr_json_text_at(root, "loss_unit");
    snprintf(rows->unit, sizeof rows->unit, "%s", *unit ? unit : "nat a token");
    FR_TRY(fr_json_array(&list, 1, 64, err));
    int64_t n = fr_json_array_length(&list);
    rows->items = fr_calloc((size_t)n, sizeof *rows->items);
    if (!rows->items) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int64_t i = 0; i < n; i++) {
        struct fr_json one = fr_json_element(&list, i);
        FR_TRY(read_row(&one, rows, err));
    }
    for (int i = 0; i < rows->n; i++)
        if (rows->items[i].loss.mean > 0) return FR_OK;
    return fr_json_fail(&list, err, "holds no loss: nothing was trained to its end");
}

static void rows_free(struct rows *rows) {
    for (int i = 0; i < rows->n; i++) free(rows->items[i].curve);
    free(rows->items);
    free(rows->iteration);
}

/* ---- panels ---------------------------------------------------------------------------------- */

static void linear(struct fr_picture *p, const char *axis, double low, double high) {
    fr_text_addf(&p->script, "set %srange [%.9g:%.9g]\n", axis, low, high);
}

/* From the floor to where the curves are once the first eighth is over: the first fall hides the rest. */
static void loss_axis(struct fr_picture *p, const struct rows *rows, bool last, bool named) {
    char label[96];
    double low = isfinite(rows->entropy) ? rows->entropy : INFINITY, high = 0;
    for (int i = 0; i < rows->n; i++) {
        const struct row *row = &rows->items[i];
        for (int j = last ? rows->points - 1 : (rows->points + 7) / 8; j < rows->points; j++) {
            low = fmin(low, fmin(row->curve[j].mean, row->curve[j].low));
            high = fmax(high, fmax(row->curve[j].mean, last ? row->curve[j].high : 0));
        }
    }
    double span = fmax(high - low, 0.01 * high);
    linear(p, "y", low - 0.03 * span, low + 1.05 * span);
    if (!named) return; /* it would lie over the panel before */
    snprintf(label, sizeof label, "held-out loss, %s", rows->unit);
    fr_picture_axis_label(p, "y", label);
}

static void across(struct fr_picture *p, double from, double to, double y, const char *title) {
    if (!isfinite(y)) return;
    int block = fr_picture_block(p);
    FR_ROW(p, from, y);
    FR_ROW(p, to, y);
    fr_picture_curve(p, block, title, "using 1:2 with lines lc rgb '#888888' lw 1.2 dt 2");
}

static double or_mean(double x, const struct mean *m) { return isfinite(x) ? x : m->mean; }

/* The amount of axis @p axis in an iteration: itself, time or energy; NaN where it has no
 * price. */
static double step_of(const struct row *row, int axis) {
    return axis == 0 ? 1 : axis == 1 ? row->iteration_s : row->iteration_J;
}

static void draw_curve(struct fr_picture *p, const struct rows *rows, int i, double step,
                       const char *title) {
    const struct row *row = &rows->items[i];
    const char *colour = fr_picture_colour(i);
    int block = fr_picture_block(p);
    for (int j = 0; j < rows->points; j++)
        FR_ROW(p, step * rows->iteration[j], row->curve[j].mean,
               or_mean(row->curve[j].low, &row->curve[j]),
               or_mean(row->curve[j].high, &row->curve[j]));
    fr_picture_curve(
        p, block, NULL,
        "using 1:3:4 with filledcurves lc rgb '%s' fs transparent solid 0.15 noborder", colour);
    fr_picture_curve(p, block, title, "using 1:2 with lines lc rgb '%s' lw 1.8", colour);
}

/* A round unit of @p most, that ticks are short. */
static double unit_of(double most, int axis, char *label, size_t capacity) {
    static const char *const units[2][3] = {{"ms", "s", "1000 s"}, {"J", "kJ", "MJ"}};
    const double below = axis == 1 ? 1 : 1e3;
    int k = most < below ? 0 : most < 1e3 * below ? 1 : 2;
    double unit = (axis == 1 ? 1e-3 : 1) * pow(1e3, k);
    if (axis == 0) snprintf(label, capacity, "iterations");
    if (axis > 0)
        snprintf(label, capacity, "%s [%s]", axis == 1 ? "priced time" : "priced energy",
                 units[axis - 1][k]);
    return axis == 0 ? 1 : unit;
}

static void draw_curves(struct fr_picture *p, const struct rows *rows, int axis) {
    static const char *const headings[] = {"loss against iterations", "loss against time",
                                           "loss against energy"};
    char label[48];
    double last = 0;
    for (int i = 0; i < rows->n; i++)
        last = fmax(last, rows->iteration[rows->points - 1] * step_of(&rows->items[i], axis));
    double unit = unit_of(last, axis, label, sizeof label);
    fr_picture_panel(p, &curve_box[axis], headings[axis]);
    linear(p, "x", 0, last > 0 ? last / unit : 1);
    loss_axis(p, rows, false, axis == 0);
    fr_picture_axis_label(p, "x", label);
    if (axis == 0) fr_picture_key(p, KEY_LEFT, curve_box[0].top);
    for (int i = 0; i < rows->n; i++)
        if (step_of(&rows->items[i], axis) > 0)
            draw_curve(p, rows, i, step_of(&rows->items[i], axis) / unit,
                       axis == 0 ? rows->items[i].label : NULL);
    across(p, 0, last > 0 ? last / unit : 1, rows->entropy,
           axis == 0 ? "entropy of the language" : NULL);
    if (!(last > 0)) across(p, 0, 1, -1, NULL);
    fr_picture_plotted(p);
}

/* One point of every row, its number as place on the axis that has no scale. */
static void draw_costs(struct fr_picture *p, const struct rows *rows, int k) {
    struct fr_scale seen = FR_SCALE_EMPTY;
    bool any = false;
    for (int i = 0; i < rows->n; i++) {
        fr_scale_include(&seen, rows->items[i].to_loss[k].mean);
        fr_scale_include(&seen, rows->items[i].to_loss[k].low);
        fr_scale_include(&seen, rows->items[i].to_loss[k].high);
    }
    fr_picture_panel(p, &cost_box[k], k == 0 ? "time to the loss" : "energy to the loss");
    if (seen.high > 0)
        fr_scale_axis(p, "x", seen, k == 0 ? FR_QUANTITY_TIME : FR_QUANTITY_ENERGY, 4);
    else {
        fr_text_addf(&p->script, "set xrange [0:1]\nunset xtics\n");
        fr_picture_text(p, "no plan reached it with every seed",
                        p->placed.left + 0.5 * p->placed.width,
                        p->placed.top + 0.5 * p->placed.height, "center", 10, "#555555");
    }
    linear(p, "y", rows->n - 0.5, -0.5);
    fr_text_addf(&p->script, "unset ytics\n");
    for (int i = 0; i < rows->n; i++) {
        const struct mean *m = &rows->items[i].to_loss[k];
        if (!(m->mean > 0)) continue;
        int block = fr_picture_block(p);
        any = true;
        FR_ROW(p, m->mean, i, or_mean(m->low, m), or_mean(m->high, m));
        fr_picture_curve(p, block, NULL,
                         "using 1:2:3:4 with xerrorbars lc rgb '%s' pt %d ps 1.2 lw 1.6",
                         fr_picture_colour(i), fr_picture_point(i));
    }
    if (!any) {
        int block = fr_picture_block(p);
        FR_ROW(p, 1, -5);
        fr_picture_curve(p, block, NULL, "using 1:2 with points pt -1");
    }
    fr_picture_plotted(p);
}

static void draw_ratios(struct fr_picture *p, const struct rows *rows) {
    double most = 1;
    for (int i = 0; i < rows->n; i++)
        if (isfinite(rows->items[i].ratio)) most = fmax(most, rows->items[i].ratio);
    fr_picture_panel(p, &ratio_box, "last loss against the compression ratio");
    loss_axis(p, rows, true, true);
    linear(p, "x", 1 - 0.06 * fmax(most - 1, 0.2), most + 0.06 * fmax(most - 1, 0.2));
    fr_picture_axis_label(p, "x", "bytes of the plan that sends most over its own");
    for (int i = 0; i < rows->n; i++) {
        const struct row *row = &rows->items[i];
        if (!(row->loss.mean > 0) || !isfinite(row->ratio)) continue;
        int block = fr_picture_block(p);
        FR_ROW(p, row->ratio, row->loss.mean, or_mean(row->loss.low, &row->loss),
               or_mean(row->loss.high, &row->loss));
        fr_picture_curve(p, block, NULL,
                         "using 1:2:3:4 with yerrorbars lc rgb '%s' pt %d ps 1.2 lw 1.6",
                         fr_picture_colour(i), fr_picture_point(i));
    }
    across(p, 1, most, rows->entropy, NULL);
    fr_picture_plotted(p);
}

/* ---------------------------------------------------------------------------------------------- */

static void add_texts(struct fr_picture *p, const struct rows *rows,
                      const struct fr_json *root) {
    int never = 0, unpriced = 0;
    for (int i = 0; i < rows->n; i++) never += rows->items[i].reached < rows->items[i].seeds;
    for (int i = 0; i < rows->n; i++) unpriced += !(rows->items[i].iteration_s > 0);
    fr_text_addf(&p->title, "Learning %s: %.0f seeds a plan, %s", rows->corpus,
                 rows->items[0].seeds,
                 rows->tuned ? "each at its best learning rate" : "all at one learning rate");
    fr_text_addf(&p->note, "Means over seeds and their 95 %% intervals.  ");
    if (isfinite(rows->target))
        fr_text_addf(&p->note, "The loss: %.4g %s; times and energies of %s.  ", rows->target,
                     rows->unit, rows->cluster);
    if (never && isfinite(rows->target))
        fr_text_addf(&p->note, "%d of %d plans did not reach it with every seed.  ", never,
                     rows->n);
    if (unpriced) fr_text_addf(&p->note, "%d of %d have no price there.", unpriced, rows->n);
    fr_provenance_line(p, "forerun quality", root);
}

static fr_status draw(struct fr_picture *p, const struct fr_json *roots, int n_inputs,
                      struct fr_error *err) {
    struct rows rows = {0};
    (void)n_inputs;
    fr_status status = read_rows(roots, &rows, err);
    if (status == FR_OK) {
        if (!p->stack.on) p->width_px = KEY_LEFT + 60, p->height_px = HEIGHT_PX;
        fr_picture_key_space(p, KEY_LEFT, "entropy of the language");
        for (int i = 0; i < rows.n; i++) fr_picture_key_space(p, KEY_LEFT, rows.items[i].label);
        add_texts(p, &rows, roots);
        for (int axis = 0; axis < 3; axis++) draw_curves(p, &rows, axis);
        for (int k = 0; k < 2; k++) draw_costs(p, &rows, k);
        draw_ratios(p, &rows);
    }
    rows_free(&rows);
    return status;
}

const struct fr_figure fr_figure_quality = {
    .name = "quality",
    .summary = "loss against iterations, time, energy and compression; time and energy to it; "
               "over seeds",
    .inputs = "one result of forerun quality --json",
    .one_input = true,
    .stacks = true,
    .draw = draw,
};
