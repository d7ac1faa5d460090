/* The network that was trained, as a model file whose iterations search reads. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/plan/iterations.h"
#include "real/iterations/iterations.h"
#include "real/iterations/laws.h"

enum { LAW_POINTS_MAX = 256 };

static void put_row(struct fr_json_writer *w, const char *method, int64_t tp, int64_t ghost,
                    double iterations) {
    fr_json_begin_object(w);
    fr_json_add_string(w, "method", method);
    if (tp > 0) fr_json_add_integer(w, "tp", tp);
    if (ghost > 0) fr_json_add_integer(w, "ghost", ghost);
    fr_json_add_number(w, "iterations", iterations);
    fr_json_end_object(w);
}

/* A median of only those seeds that reached the loss would flatter. */
static bool known(const struct fr_trained *row) {
    return row->n_seeds > 0 && row->n_reached == row->n_seeds;
}

/* Laws of phantom rows along k and p, where there are enough. */
static void put_laws(struct fr_json_writer *w, const struct fr_trained *rows, int n) {
    struct fr_law_point points[LAW_POINTS_MAX];
    struct fr_iterations_law law;
    int found = 0;
    for (int i = 0; i < n && found < LAW_POINTS_MAX; i++)
        if (known(&rows[i]) && rows[i].tp > 1)
            points[found++] = (struct fr_law_point){(double)rows[i].ghost, (double)rows[i].tp,
                                                    rows[i].iterations};
    if (!fr_law_fit(FR_LAW_GHOST, points, found, &law)) return;
    law.method = FR_METHOD_WITH(uses_ghost);
    fr_json_add_array(w, "laws");
    fr_json_begin_object(w);
    fr_iterations_law_write(w, &law);
    fr_json_end_object(w);
    fr_json_end_array(w);
}

void fr_training_growth(const struct fr_training_options *o, const struct fr_trained *rows,
                        int n, struct fr_growth_points *points) {
    double dense = NAN;
    *points = o->with ? *o->with : (struct fr_growth_points){.n = 0};
    for (int i = 0; i < n; i++)
        if (known(&rows[i]) && rows[i].tp == 1) dense = rows[i].iterations;
    for (int i = 0; i < n; i++) {
        if (!known(&rows[i]) || rows[i].tp == 1) continue;
        const struct fr_growth_point point = {.x = {[FR_GROWTH_GHOST] = (double)rows[i].ghost,
                                                    [FR_GROWTH_TP] = (double)rows[i].tp,
                                                    [FR_GROWTH_WIDTH] = (double)o->width,
                                                    [FR_GROWTH_DEPTH] = (double)o->layers},
                                              .ratio = rows[i].iterations / dense};
        fr_growth_points_add(points, FR_LAW_GHOST, &point);
    }
}

static void put_growth(struct fr_json_writer *w, const struct fr_training_options *o,
                       const struct fr_trained *rows, int n) {
    struct fr_growth_points points;
    fr_training_growth(o, rows, n, &points);
    fr_growth_points_put(w, &points);
}

void fr_training_write_model(const struct fr_training_options *o, const struct fr_trained *rows,
                             int n, struct fr_text *text) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    char line[256];
    bool any = false;
    for (int i = 0; i < n; i++) any = any || known(&rows[i]);
    snprintf(line, sizeof line,
             "measured by forerun iterations: Adam at %g to a mean squared error of %g, "
             "y = relu(W relu(x)), %s, medians over %" PRId64 " seeds",
             fr_training_rate(o), o->loss,
             o->same_batch ? "one batch again and again" : "every iteration on new samples",
             o->seeds);
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "ffn");
    fr_json_add_integer(&w, "width", o->width);
    fr_json_add_integer(&w, "layers", o->layers);
    fr_json_add_integer(&w, "global_batch", o->batch);
    fr_json_add_string(&w, "optimizer", "adam");
    if (any) {
        fr_json_add_object(&w, "iterations");
        fr_json_add_string(&w, "source", line);
        fr_json_add_integer(&w, "width", o->width);
        fr_json_add_integer(&w, "layers", o->layers);
        fr_json_add_integer(&w, "global_batch", o->batch);
        fr_json_add_number(&w, "rate", fr_training_rate(o));
        fr_json_add_number(&w, "loss", o->loss);
        put_laws(&w, rows, n);
        put_growth(&w, o, rows, n);
        fr_json_add_array(&w, "table");
        for (int i = 0; i < n; i++)
            if (known(&rows[i]))
                put_row(&w, fr_trained_method(&rows[i])->name, rows[i].tp == 1 ? 0 : rows[i].tp,
                        rows[i].ghost, rows[i].iterations);
        fr_json_end_array(&w);
        fr_json_end_object(&w);
    }
    fr_json_end_object(&w);
    fr_text_add(text, "\n", 1);
}

fr_status fr_training_workload(const struct fr_training_options *o,
                               struct fr_workload *workload, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    struct fr_text text = {0};
    fr_training_write_model(o, NULL, 0, &text);
    fr_status status = text.failed
                           ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                           : fr_json_parse(text.data, text.length, "model", &document, err);
    if (status == FR_OK) status = fr_model_read(document, workload, err);
    fr_json_free(document);
    fr_text_free(&text);
    return status;
}
