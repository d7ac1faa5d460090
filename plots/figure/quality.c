/* What compression does to learning: the held-out loss against iterations with its interval over seeds,
 * the time to the loss, and the last loss against what is sent. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "plots/scale.h"

enum { HEIGHT_PX = 520, LABEL_B = 96, KEY_LEFT = 1130 };
static const struct fr_box curve_box = {75, 80, 400, 350}, time_box = {550, 80, 210, 350},
                           bytes_box = {840, 80, 260, 350};

struct mean {
    double mean, low, high;
};

struct row {
    char label[LABEL_B];
    double sent_share, reached, seeds;
    struct mean loss, time_s;
    struct mean *curve;
};

struct rows {
    struct row *items;
    double *iteration;
    int n, points;
    double entropy, target;
    char corpus[64], cluster[64];
};

/* ---- reading --------------------------------------------------------------------------------- */

static fr_status read_mean(const struct fr_json *object, const char *const keys[3],
                           struct mean *out, struct fr_error *err) {
    FR_TRY(fr_json_get_known(object, keys[0], 0, 1e300, &out->mean, err));
    FR_TRY(fr_json_get_known(object, keys[1], -1e300, 1e300, &out->low, err));
    return fr_json_get_known(object, keys[2], -1e300, 1e300, &out->high, err);
}

static const char *const loss_keys[] = {"loss", "loss_low", "loss_high"};
static const char *const time_keys[] = {"time_to_loss_s", "time_to_loss_low_s",
                                        "time_to_loss_high_s"};

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
    struct fr_json label = fr_json_member(one, "label");
    const char *text = "";
    FR_TRY(fr_json_text(&label, &text, err));
    snprintf(row->label, sizeof row->label, "%s", text);
    FR_TRY(fr_json_get_known(one, "sent_share", 0, 1e6, &row->sent_share, err));
    FR_TRY(fr_json_get_known(one, "seeds", 0, 1e9, &row->seeds, err));
    FR_TRY(fr_json_get_known(one, "reached", 0, 1e9, &row->reached, err));
    FR_TRY(read_mean(one, loss_keys, &row->loss, err));
    FR_TRY(read_mean(one, time_keys, &row->time_s, err));
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
static void loss_axis(struct fr_picture *p, const struct rows *rows, bool last) {
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
    fr_picture_axis_label(p, "y", "held-out loss, nat a token");
}

static void across(struct fr_picture *p, double from, double to, double y, const char *title) {
    if (!isfinite(y)) return;
    int block = fr_picture_block(p);
    FR_ROW(p, from, y);
    FR_ROW(p, to, y);
    fr_picture_curve(p, block, title, "using 1:2 with lines lc rgb '#888888' lw 1.2 dt 2");
}

static double or_mean(double x, const struct mean *m) { return isfinite(x) ? x : m->mean; }

static void draw_curves(struct fr_picture *p, const struct rows *rows) {
    double last = rows->iteration[rows->points - 1];
    fr_picture_panel(p, &curve_box, "loss against iterations");
    linear(p, "x", 0, last);
    loss_axis(p, rows, false);
    fr_picture_axis_label(p, "x", "iterations");
    fr_picture_key(p, KEY_LEFT, curve_box.top);
    for (int i = 0; i < rows->n; i++) {
        const struct row *row = &rows->items[i];
        const char *colour = fr_picture_colour(i);
        int block = fr_picture_block(p);
        for (int j = 0; j < rows->points; j++)
            FR_ROW(p, rows->iteration[j], row->curve[j].mean,
                   or_mean(row->curve[j].low, &row->curve[j]),
                   or_mean(row->curve[j].high, &row->curve[j]));
        fr_picture_curve(p, block, NULL,
                         "using 1:3:4 with filledcurves lc rgb '%s' fs transparent solid 0.15 "
                         "noborder",
                         colour);
        fr_picture_curve(p, block, row->label, "using 1:2 with lines lc rgb '%s' lw 1.8",
                         colour);
    }
    across(p, 0, last, rows->entropy, "entropy of the language");
    fr_picture_plotted(p);
}

/* One point of every row, its number as place on the axis that has no scale. */
static void draw_times(struct fr_picture *p, const struct rows *rows) {
    struct fr_scale seen = FR_SCALE_EMPTY;
    bool any = false;
    for (int i = 0; i < rows->n; i++) {
        fr_scale_include(&seen, rows->items[i].time_s.mean);
        fr_scale_include(&seen, rows->items[i].time_s.low);
        fr_scale_include(&seen, rows->items[i].time_s.high);
    }
    fr_picture_panel(p, &time_box, "time to the loss");
    fr_scale_axis(p, "x", seen, FR_QUANTITY_TIME, 3);
    linear(p, "y", rows->n - 0.5, -0.5);
    fr_text_addf(&p->script, "unset ytics\n");
    for (int i = 0; i < rows->n; i++) {
        const struct row *row = &rows->items[i];
        if (!(row->time_s.mean > 0)) continue;
        int block = fr_picture_block(p);
        any = true;
        FR_ROW(p, row->time_s.mean, i, or_mean(row->time_s.low, &row->time_s),
               or_mean(row->time_s.high, &row->time_s));
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

static void draw_bytes(struct fr_picture *p, const struct rows *rows) {
    fr_picture_panel(p, &bytes_box, "last loss against bytes sent");
    loss_axis(p, rows, true);
    fr_scale_percent(p, "x", 0, 105);
    fr_picture_axis_label(p, "x", "of what the plan that sends most does");
    for (int i = 0; i < rows->n; i++) {
        const struct row *row = &rows->items[i];
        if (!(row->loss.mean > 0) || !isfinite(row->sent_share)) continue;
        int block = fr_picture_block(p);
        FR_ROW(p, 100 * row->sent_share, row->loss.mean, or_mean(row->loss.low, &row->loss),
               or_mean(row->loss.high, &row->loss));
        fr_picture_curve(p, block, NULL,
                         "using 1:2:3:4 with yerrorbars lc rgb '%s' pt %d ps 1.2 lw 1.6",
                         fr_picture_colour(i), fr_picture_point(i));
    }
    across(p, 0, 105, rows->entropy, NULL);
    fr_picture_plotted(p);
}

/* ---------------------------------------------------------------------------------------------- */

static void add_texts(struct fr_picture *p, const struct rows *rows) {
    int never = 0;
    for (int i = 0; i < rows->n; i++) never += !(rows->items[i].time_s.mean > 0);
    fr_text_addf(&p->title, "Learning %s: %.0f seeds a plan, each at its best learning rate",
                 rows->corpus, rows->items[0].seeds);
    fr_text_addf(&p->note, "Means over seeds and their 95 %% intervals.  ");
    if (isfinite(rows->target))
        fr_text_addf(&p->note, "The loss: %.4g nat a token; times of %s.  ", rows->target,
                     rows->cluster);
    if (never && isfinite(rows->target))
        fr_text_addf(&p->note, "%d of %d plans did not reach it with every seed.", never,
                     rows->n);
    fr_text_addf(&p->footer, "forerun quality");
}

static fr_status draw(struct fr_picture *p, const struct fr_json *roots, int n_inputs,
                      struct fr_error *err) {
    struct rows rows = {0};
    (void)n_inputs;
    fr_status status = read_rows(roots, &rows, err);
    if (status == FR_OK) {
        p->width_px = KEY_LEFT + 60;
        p->height_px = HEIGHT_PX;
        fr_picture_key_room(p, KEY_LEFT, "entropy of the language");
        for (int i = 0; i < rows.n; i++) fr_picture_key_room(p, KEY_LEFT, rows.items[i].label);
        add_texts(p, &rows);
        draw_curves(p, &rows);
        draw_times(p, &rows);
        draw_bytes(p, &rows);
    }
    rows_free(&rows);
    return status;
}

const struct fr_figure fr_figure_quality = {
    .name = "quality",
    .summary =
        "loss against iterations, time to the loss, and loss against bytes sent, over seeds",
    .inputs = "one result of forerun quality --json",
    .one_input = true,
    .draw = draw,
};
