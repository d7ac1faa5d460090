/* Predicted against measured times of training runs, with the interval of each prediction, and
 * the errors in order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plots/provenance.h"
#include "plots/scale.h"

enum { WIDTH_PX = 1280, HEIGHT_PX = 620, KEYS_MAX = 7 };
static const struct fr_box times_box = {90, 80, 460, 440}, errors_box = {660, 80, 380, 440};

struct row {
    double measured_s, predicted_s, low_s, high_s;
    char key[104]; /* "plan.tp 8" */
};

struct rows {
    struct row *items;
    int n, skipped;
    char key[KEYS_MAX][104];
    int n_keys; /* drawn apart; the rest as one */
};

static fr_status read_rows(const struct fr_json *root, struct rows *rows,
                           struct fr_error *err) {
    static const char *const schemas[] = {"forerun/score/1", NULL};
    struct fr_json list = fr_json_member(root, "rows");
    const char *by = fr_json_text_at(root, "by");
    int schema = 0;
    FR_TRY(fr_json_get_choice(root, "schema", true, schemas, &schema, err));
    FR_TRY(fr_json_array(&list, 1, 1 << 20, err));
    int64_t n = fr_json_array_length(&list);
    rows->items = fr_calloc((size_t)n, sizeof *rows->items);
    if (!rows->items) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int64_t i = 0; i < n; i++) {
        struct fr_json one = fr_json_element(&list, i), node = fr_json_member(&one, "key");
        struct row *row = &rows->items[rows->n];
        const char *text = NULL;
        *row = (struct row){0};
        FR_TRY(
            fr_json_get_number(&one, "measured_s", true, 1e-12, 1e12, &row->measured_s, err));
        FR_TRY(fr_json_get_known(&one, "predicted_s", 0, 1e18, &row->predicted_s, err));
        FR_TRY(fr_json_get_known(&one, "low_s", 0, 1e18, &row->low_s, err));
        FR_TRY(fr_json_get_known(&one, "high_s", 0, 1e18, &row->high_s, err));
        if (fr_json_is_string(&node)) FR_TRY(fr_json_text(&node, &text, err));
        if (text && *by) snprintf(row->key, sizeof row->key, "%.40s %.60s", by, text);
        if (text && !*by) snprintf(row->key, sizeof row->key, "%.100s", text);
        if (row->predicted_s > 0)
            rows->n++;
        else
            rows->skipped++;
    }
    return rows->n ? FR_OK : fr_json_fail(&list, err, "holds no row that could be predicted");
}

static void find_keys(struct rows *rows) {
    for (int i = 0; i < rows->n && rows->n_keys < KEYS_MAX; i++) {
        int k = 0;
        while (k < rows->n_keys && strcmp(rows->key[k], rows->items[i].key) != 0) k++;
        if (k == rows->n_keys) strcpy(rows->key[rows->n_keys++], rows->items[i].key);
    }
}

static int key_of(const struct rows *rows, const struct row *row) {
    int k = 0;
    while (k < rows->n_keys && strcmp(rows->key[k], row->key) != 0) k++;
    return k < rows->n_keys ? k : rows->n_keys - 1;
}

static void draw_times(struct fr_picture *p, const struct rows *rows) {
    struct fr_scale seen = FR_SCALE_EMPTY;
    for (int i = 0; i < rows->n; i++) {
        fr_scale_include(&seen, rows->items[i].measured_s);
        fr_scale_include(&seen, rows->items[i].predicted_s);
    }
    struct fr_scale padded = fr_scale_padded(seen);
    fr_picture_panel(p, &times_box, "one iteration");
    fr_scale_axis(p, "x", seen, FR_QUANTITY_TIME, 7);
    fr_scale_axis(p, "y", seen, FR_QUANTITY_TIME, 9);
    fr_picture_axis_label(p, "x", "measured");
    fr_picture_axis_label(p, "y", "predicted, with 90 % interval");
    fr_picture_guide(p, padded.low, padded.low, padded.high, padded.high);
    int block = fr_picture_block(p);
    for (int i = 0; i < rows->n; i++) {
        const struct row *r = &rows->items[i];
        FR_ROW(p, r->measured_s, r->predicted_s, isnan(r->low_s) ? r->predicted_s : r->low_s,
               isnan(r->high_s) ? r->predicted_s : r->high_s);
    }
    fr_picture_curve(p, block, NULL,
                     "using 1:2:3:4 with yerrorbars pt -1 lc rgb '#bbbbbb' lw 1");
    for (int k = 0; k < rows->n_keys; k++) {
        block = fr_picture_block(p);
        for (int i = 0; i < rows->n; i++)
            if (key_of(rows, &rows->items[i]) == k)
                FR_ROW(p, rows->items[i].measured_s, rows->items[i].predicted_s);
        fr_picture_curve(p, block, NULL, "using 1:2 with points lc rgb '%s' pt %d ps 0.7",
                         fr_picture_series_colour(rows->key[k], k), fr_picture_point(k));
    }
    fr_picture_plotted(p);
}

static double error_percent(const struct row *r) {
    return 100 * (r->predicted_s / r->measured_s - 1);
}

static void draw_errors(struct fr_picture *p, const struct rows *rows) {
    struct fr_scale seen = FR_SCALE_EMPTY;
    double low = -10, high = 10;
    for (int i = 0; i < rows->n; i++) {
        fr_scale_include(&seen, rows->items[i].measured_s);
        low = fmin(low, error_percent(&rows->items[i]));
        high = fmax(high, error_percent(&rows->items[i]));
    }
    struct fr_scale padded = fr_scale_padded(seen);
    fr_picture_panel(p, &errors_box, "predicted / measured - 1");
    fr_scale_axis(p, "x", seen, FR_QUANTITY_TIME, 6);
    fr_scale_percent(p, "y", 1.08 * low, 1.08 * high);
    fr_picture_axis_label(p, "x", "measured");
    fr_picture_key(p, errors_box.left + errors_box.width + 20, errors_box.top);
    fr_picture_guide(p, padded.low, 0, padded.high, 0);
    for (int k = 0; k < rows->n_keys; k++) {
        bool rest = k == KEYS_MAX - 1, named = rows->key[k][0];
        int block = fr_picture_block(p);
        for (int i = 0; i < rows->n; i++)
            if (key_of(rows, &rows->items[i]) == k)
                FR_ROW(p, rows->items[i].measured_s, error_percent(&rows->items[i]));
        fr_picture_curve(p, block,
                         rest    ? "others"
                         : named ? rows->key[k]
                                 : NULL,
                         "using 1:2 with points lc rgb '%s' pt %d ps 0.7",
                         fr_picture_series_colour(rows->key[k], k), fr_picture_point(k));
    }
    fr_picture_plotted(p);
}

static void add_texts(struct fr_picture *p, const struct rows *rows,
                      const struct fr_json *root) {
    double sum = 0;
    int inside = 0, stated = 0;
    for (int i = 0; i < rows->n; i++) {
        const struct row *r = &rows->items[i];
        sum += fabs(error_percent(r));
        stated += !isnan(r->low_s);
        inside += r->low_s <= r->measured_s && r->measured_s <= r->high_s;
    }
    fr_text_addf(&p->title, "%d runs: mean error %.1f %%", rows->n, sum / rows->n);
    if (stated) fr_text_addf(&p->title, ", %.0f %% in their interval", 100.0 * inside / stated);
    if (rows->skipped)
        fr_text_addf(&p->note, "%d run%s could not be predicted.  ", rows->skipped,
                     rows->skipped > 1 ? "s" : "");
    fr_provenance_line(p, "forerun score", root);
}

static fr_status draw(struct fr_picture *p, const struct fr_json *roots, int n_inputs,
                      struct fr_error *err) {
    struct rows rows = {0};
    (void)n_inputs;
    fr_status status = read_rows(roots, &rows, err);
    if (status == FR_OK) {
        find_keys(&rows);
        add_texts(p, &rows, roots);
        draw_times(p, &rows);
        draw_errors(p, &rows);
    }
    free(rows.items);
    return status;
}

const struct fr_figure fr_figure_score = {
    .name = "score",
    .summary = "predicted against measured times of training runs, with intervals",
    .inputs = "one result of forerun score --json, best with --by",
    .size_px = {WIDTH_PX, HEIGHT_PX},
    .stacks = true,
    .one_input = true,
    .draw = draw,
};
