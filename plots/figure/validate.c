/* Real runs beside their predictions: predicted against measured with both intervals, and each
 * configuration's error with the term that is off. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plots/provenance.h"
#include "plots/scale.h"

enum { WIDTH_PX = 1280, HEIGHT_PX = 620, APPS_MAX = 7 };
static const struct fr_box times_box = {90, 80, 460, 440}, errors_box = {660, 80, 420, 440};

struct row {
    double measured_s, measured_low_s, measured_high_s;
    double predicted_s, predicted_low_s, predicted_high_s;
    bool scored;
    int app;
};

struct rows {
    struct row *items;
    int n, skipped, unscored;
    char app[APPS_MAX][24];
    int n_apps;
    double median_error, regret;
};

static fr_status read_app(const struct fr_json *one, struct rows *rows, int *app,
                          struct fr_error *err) {
    struct fr_json configuration = fr_json_member(one, "configuration");
    char name[24] = "";
    FR_TRY(fr_json_get_string(&configuration, "app", true, name, sizeof name, err));
    for (*app = 0; *app < rows->n_apps; (*app)++)
        if (strcmp(rows->app[*app], name) == 0) return FR_OK;
    if (rows->n_apps == APPS_MAX)
        *app = APPS_MAX - 1;
    else
        strcpy(rows->app[rows->n_apps++], name);
    return FR_OK;
}

static fr_status read_row(const struct fr_json *one, struct rows *rows, struct fr_error *err) {
    struct row *r = &rows->items[rows->n];
    *r = (struct row){0};
    FR_TRY(fr_json_get_known(one, "measured_s", 0, 1e18, &r->measured_s, err));
    FR_TRY(fr_json_get_known(one, "measured_low_s", 0, 1e18, &r->measured_low_s, err));
    FR_TRY(fr_json_get_known(one, "measured_high_s", 0, 1e18, &r->measured_high_s, err));
    FR_TRY(fr_json_get_known(one, "predicted_s", 0, 1e18, &r->predicted_s, err));
    FR_TRY(fr_json_get_known(one, "predicted_low_s", 0, 1e18, &r->predicted_low_s, err));
    FR_TRY(fr_json_get_known(one, "predicted_high_s", 0, 1e18, &r->predicted_high_s, err));
    FR_TRY(fr_json_get_bool(one, "scored", true, &r->scored, err));
    if (!(r->measured_s > 0 && r->predicted_s > 0)) {
        rows->skipped++;
        return FR_OK;
    }
    FR_TRY(read_app(one, rows, &r->app, err));
    rows->unscored += !r->scored;
    rows->n++;
    return FR_OK;
}

static fr_status read_rows(const struct fr_json *root, struct rows *rows,
                           struct fr_error *err) {
    static const char *const schemas[] = {"forerun/validate/1", NULL};
    struct fr_json list = fr_json_member(root, "rows");
    int schema = 0;
    FR_TRY(fr_json_get_choice(root, "schema", true, schemas, &schema, err));
    FR_TRY(fr_json_get_known(root, "median_error", 0, 1e18, &rows->median_error, err));
    FR_TRY(fr_json_get_known(root, "regret", 0, 1e18, &rows->regret, err));
    FR_TRY(fr_json_array(&list, 1, 1 << 20, err));
    int64_t n = fr_json_array_length(&list);
    rows->items = fr_calloc((size_t)n, sizeof *rows->items);
    if (!rows->items) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int64_t i = 0; i < n; i++) {
        struct fr_json one = fr_json_element(&list, i);
        FR_TRY(read_row(&one, rows, err));
    }
    return rows->n ? FR_OK : fr_json_fail(&list, err, "holds no row measured and predicted");
}

static struct fr_scale range_of(const struct rows *rows) {
    struct fr_scale seen = FR_SCALE_EMPTY;
    for (int i = 0; i < rows->n; i++) {
        fr_scale_include(&seen, rows->items[i].measured_s);
        fr_scale_include(&seen, rows->items[i].predicted_s);
    }
    return seen;
}

static double within(struct fr_scale range, double x, double otherwise) {
    return isfinite(x) ? fmin(fmax(x, range.low), range.high) : otherwise;
}

static void draw_times(struct fr_picture *p, const struct rows *rows) {
    struct fr_scale seen = range_of(rows), padded = fr_scale_padded(seen);
    fr_picture_panel(p, &times_box, "one iteration, with 95 % and calibration intervals");
    fr_scale_axis(p, "x", seen, FR_QUANTITY_TIME, 7);
    fr_scale_axis(p, "y", seen, FR_QUANTITY_TIME, 9);
    fr_picture_axis_label(p, "x", "measured");
    fr_picture_axis_label(p, "y", "predicted");
    fr_picture_guide(p, padded.low, padded.low, padded.high, padded.high);
    int block = fr_picture_block(p);
    for (int i = 0; i < rows->n; i++) {
        const struct row *r = &rows->items[i];
        FR_ROW(p, r->measured_s, r->predicted_s,
               within(padded, r->measured_low_s, r->measured_s),
               within(padded, r->measured_high_s, r->measured_s),
               within(padded, r->predicted_low_s, r->predicted_s),
               within(padded, r->predicted_high_s, r->predicted_s));
    }
    fr_picture_curve(p, block, NULL,
                     "using 1:2:3:4:5:6 with xyerrorbars pt -1 lc rgb '#bbbbbb' lw 1");
    for (int k = 0; k < rows->n_apps; k++) {
        block = fr_picture_block(p);
        for (int i = 0; i < rows->n; i++)
            if (rows->items[i].app == k)
                FR_ROW(p, rows->items[i].measured_s, rows->items[i].predicted_s);
        fr_picture_curve(p, block, NULL, "using 1:2 with points lc rgb '%s' pt %d ps 0.9",
                         fr_picture_series_colour(rows->app[k], k), fr_picture_point(k));
    }
    fr_picture_plotted(p);
}

static double error_percent(const struct row *r) {
    return 100 * (r->predicted_s / r->measured_s - 1);
}

static void draw_errors(struct fr_picture *p, const struct rows *rows) {
    struct fr_scale seen = range_of(rows), padded = fr_scale_padded(seen);
    double low = -10, high = 10;
    for (int i = 0; i < rows->n; i++) {
        low = fmin(low, error_percent(&rows->items[i]));
        high = fmax(high, error_percent(&rows->items[i]));
    }
    fr_picture_panel(p, &errors_box, "predicted / measured - 1");
    fr_scale_axis(p, "x", seen, FR_QUANTITY_TIME, 6);
    fr_scale_percent(p, "y", 1.08 * low, 1.08 * high);
    fr_picture_axis_label(p, "x", "measured");
    fr_picture_key(p, errors_box.left + errors_box.width + 20, errors_box.top);
    fr_picture_guide(p, padded.low, 0, padded.high, 0);
    for (int k = 0; k < rows->n_apps; k++) {
        int block = fr_picture_block(p);
        for (int i = 0; i < rows->n; i++)
            if (rows->items[i].app == k)
                FR_ROW(p, rows->items[i].measured_s, error_percent(&rows->items[i]));
        fr_picture_curve(p, block, rows->app[k],
                         "using 1:2 with points lc rgb '%s' pt %d ps 0.9",
                         fr_picture_series_colour(rows->app[k], k), fr_picture_point(k));
    }
    fr_picture_plotted(p);
}

static void add_texts(struct fr_picture *p, const struct rows *rows,
                      const struct fr_json *root) {
    fr_text_addf(&p->title, "%d real configurations", rows->n);
    if (isfinite(rows->median_error))
        fr_text_addf(&p->title, ": median error %.1f %%", 100 * rows->median_error);
    if (isfinite(rows->regret))
        fr_text_addf(&p->title, ", median regret %.1f %%", 100 * rows->regret);
    if (rows->unscored)
        fr_text_addf(&p->note, "%d with more ranks than cores, not scored.  ", rows->unscored);
    if (rows->skipped)
        fr_text_addf(&p->note, "%d not measured or not predicted.  ", rows->skipped);
    fr_provenance_line(p, "forerun validate", root);
}

static fr_status draw(struct fr_picture *p, const struct fr_json *roots, int n_inputs,
                      struct fr_error *err) {
    struct rows rows = {0};
    (void)n_inputs;
    fr_status status = read_rows(roots, &rows, err);
    if (status == FR_OK) {
        add_texts(p, &rows, roots);
        draw_times(p, &rows);
        draw_errors(p, &rows);
    }
    free(rows.items);
    return status;
}

const struct fr_figure fr_figure_validate = {
    .name = "validate",
    .summary = "real runs: predicted against measured with both intervals, and the errors",
    .inputs = "one result of forerun validate --json",
    .size_px = {WIDTH_PX, HEIGHT_PX},
    .stacks = true,
    .one_input = true,
    .draw = draw,
};
