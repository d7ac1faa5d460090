#include "studies/phantom/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json/interval.h"
#include "base/text/version.h"
#include "models/job/preset.h"

bool fr_phantom_reached(const struct fr_trained *row) {
    return row && row->n_seeds > 0 && row->n_reached == row->n_seeds;
}

bool fr_phantom_better(const struct fr_trained *a, const struct fr_trained *b) {
    if (fr_phantom_reached(a) != fr_phantom_reached(b)) return fr_phantom_reached(a);
    if (fr_phantom_reached(a)) return a->iterations < b->iterations;
    return a->n_reached != b->n_reached ? a->n_reached > b->n_reached : a->loss < b->loss;
}

static void forget(struct fr_phantom_measured *one) {
    free(one->rows);
    free(one->rate);
}

fr_status fr_phantom_table_add(struct fr_phantom_table *table,
                               const struct fr_phantom_measured *one, struct fr_error *err) {
    struct fr_phantom_measured own = *one,
                               *grown = fr_realloc(table->items, (size_t)table->n + 1,
                                                   sizeof *grown);
    if (!grown) {
        forget(&own);
        return fr_fail(err, FR_ERR_NOMEM, NULL, "%d settings", table->n);
    }
    table->items = grown;
    grown[table->n++] = own;
    return FR_OK;
}

void fr_phantom_table_free(struct fr_phantom_table *table) {
    for (int i = 0; i < table->n; i++) forget(&table->items[i]);
    free(table->items);
    free(table->command);
    *table = (struct fr_phantom_table){0};
}

/* ---- writing ------------------------------------------------------------------------------------- */

static void put_row(struct fr_json_writer *w, const struct fr_phantom_measured *one, int i) {
    const struct fr_trained *row = &one->rows[i];
    fr_json_begin_object(w);
    fr_json_add_integer(w, "width", one->width);
    fr_json_add_integer(w, "layers", one->layers);
    fr_json_add_integer(w, "batch", one->batch);
    fr_json_add_bool(w, "same_batch", one->same_batch);
    fr_json_add_number(w, "loss", one->loss);
    fr_json_add_integer(w, "most", one->most);
    fr_json_add_integer(w, "tp", row->tp);
    fr_json_add_integer(w, "ghost", row->ghost);
    fr_json_add_number(w, "rate", one->rate[i]);
    fr_json_add_integer(w, "seeds", row->n_seeds);
    fr_json_add_integer(w, "reached", row->n_reached);
    fr_json_add_number(w, "iterations", row->iterations);
    fr_json_add_interval(w, "", row->low, row->high);
    fr_json_add_number(w, "lowest_loss", row->loss);
    fr_json_end_object(w);
}

static void put_commands(struct fr_json_writer *w, const char *lines) {
    struct fr_text line = {0};
    fr_json_add_array(w, "commands");
    for (const char *at = lines; *at; at += strspn(at, "\n")) {
        size_t length = strcspn(at, "\n");
        line.length = 0;
        fr_text_add(&line, at, length);
        fr_json_put_string(w, fr_text_get(&line));
        at += length;
    }
    fr_json_end_array(w);
    fr_text_free(&line);
}

void fr_phantom_table_write(const struct fr_phantom_table *table, struct fr_text *text) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/measured-iterations/1");
    fr_json_add_string(&w, "version", fr_version);
    fr_json_add_string(
        &w, "source",
        "y = relu(W relu(x)) learnt by Adam at the best of several rates, medians over seeds; "
        "each network whole in one process, as its p ranks compute it together");
    put_commands(&w, table->command ? table->command : "");
    fr_json_add_array(&w, "rows");
    for (int i = 0; i < table->n; i++)
        for (int j = 0; j < table->items[i].n; j++) put_row(&w, &table->items[i], j);
    fr_json_end_array(&w);
    fr_json_end_object(&w);
    fr_text_addf(text, "\n");
}

/* ---- reading ------------------------------------------------------------------------------------- */

static const char *const row_keys[] = {
    "width", "layers", "batch",   "same_batch", "loss", "most", "tp",          "ghost",
    "rate",  "seeds",  "reached", "iterations", "low",  "high", "lowest_loss", NULL};

/* Null is NaN. */
static fr_status read_number(const struct fr_json *row, const char *key, double *out,
                             struct fr_error *err) {
    struct fr_json node = fr_json_member(row, key);
    *out = NAN;
    return fr_json_is_null(&node) ? FR_OK
                                  : fr_json_get_number(row, key, true, 0, 1e300, out, err);
}

static fr_status read_setting(const struct fr_json *row, struct fr_phantom_measured *one,
                              struct fr_error *err) {
    enum { MOST = 1 << 30 };
    FR_TRY(fr_json_get_integer(row, "width", true, 2, MOST, &one->width, err));
    FR_TRY(fr_json_get_integer(row, "layers", true, 1, MOST, &one->layers, err));
    FR_TRY(fr_json_get_integer(row, "batch", true, 1, MOST, &one->batch, err));
    FR_TRY(fr_json_get_bool(row, "same_batch", true, &one->same_batch, err));
    FR_TRY(fr_json_get_number(row, "loss", true, 0, 1e300, &one->loss, err));
    return fr_json_get_integer(row, "most", true, 1, MOST, &one->most, err);
}

static fr_status read_trained(const struct fr_json *row, struct fr_trained *t, double *rate,
                              struct fr_error *err) {
    int64_t seeds = 0, reached = 0;
    FR_TRY(fr_json_get_integer(row, "tp", true, 1, 1 << 20, &t->tp, err));
    FR_TRY(fr_json_get_integer(row, "ghost", true, 0, 1 << 20, &t->ghost, err));
    FR_TRY(fr_json_get_number(row, "rate", true, 0, 1e300, rate, err));
    FR_TRY(fr_json_get_integer(row, "seeds", true, 1, 1 << 20, &seeds, err));
    FR_TRY(fr_json_get_integer(row, "reached", true, 0, seeds, &reached, err));
    t->n_seeds = (int)seeds;
    t->n_reached = (int)reached;
    FR_TRY(read_number(row, "iterations", &t->iterations, err));
    FR_TRY(read_number(row, "low", &t->low, err));
    FR_TRY(read_number(row, "high", &t->high, err));
    return read_number(row, "lowest_loss", &t->loss, err);
}

fr_status fr_phantom_measured_capacity(struct fr_phantom_measured *one, int more,
                                       struct fr_error *err) {
    size_t capacity = (size_t)(one->n + more);
    struct fr_trained *rows = fr_realloc(one->rows, capacity, sizeof *rows);
    if (rows) one->rows = rows;
    double *rate = fr_realloc(one->rate, capacity, sizeof *rate);
    if (rate) one->rate = rate;
    return rows && rate ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "%d networks", one->n);
}

static bool same_setting(const struct fr_phantom_measured *a,
                         const struct fr_phantom_measured *b) {
    return a->width == b->width && a->layers == b->layers && a->batch == b->batch &&
           a->same_batch == b->same_batch && a->loss == b->loss && a->most == b->most;
}

static fr_status append(struct fr_phantom_measured *to, const struct fr_trained *t, double rate,
                        struct fr_error *err) {
    FR_TRY(fr_phantom_measured_capacity(to, 1, err));
    to->rows[to->n] = *t;
    to->rate[to->n++] = rate;
    return FR_OK;
}

static fr_status read_row(const struct fr_json *row, struct fr_phantom_table *table,
                          struct fr_error *err) {
    struct fr_phantom_measured setting = {0};
    struct fr_trained trained = {0};
    double rate = 0;
    FR_TRY(fr_json_object(row, row_keys, err));
    FR_TRY(read_setting(row, &setting, err));
    FR_TRY(read_trained(row, &trained, &rate, err));
    if (table->n == 0 || !same_setting(&setting, &table->items[table->n - 1]))
        FR_TRY(fr_phantom_table_add(table, &setting, err));
    return append(&table->items[table->n - 1], &trained, rate, err);
}

static fr_status read_commands(const struct fr_json *list, struct fr_phantom_table *table,
                               struct fr_error *err) {
    struct fr_text lines = {0};
    fr_status status = fr_json_array(list, 0, 1000, err);
    for (int64_t i = 0; status == FR_OK && i < fr_json_array_length(list); i++) {
        struct fr_json one = fr_json_element(list, i);
        const char *line = NULL;
        status = fr_json_text(&one, &line, err);
        if (status == FR_OK) fr_text_addf(&lines, "%s\n", line);
    }
    table->command = lines.data;
    return status == FR_OK && lines.failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "commands")
                                           : status;
}

fr_status fr_phantom_table_read(const struct fr_json *root, struct fr_phantom_table *table,
                                struct fr_error *err) {
    static const char *const keys[] = {"schema", "version", "source", "commands", "rows", NULL};
    static const char *const schemas[] = {"forerun/measured-iterations/1", NULL};
    struct fr_json rows = fr_json_member(root, "rows"),
                   commands = fr_json_member(root, "commands");
    int schema = 0;
    *table = (struct fr_phantom_table){0};
    FR_TRY(fr_json_object(root, keys, err));
    FR_TRY(fr_json_get_choice(root, "schema", true, schemas, &schema, err));
    FR_TRY(read_commands(&commands, table, err));
    FR_TRY(fr_json_array(&rows, 1, 1 << 20, err));
    for (int64_t i = 0; i < fr_json_array_length(&rows); i++) {
        struct fr_json row = fr_json_element(&rows, i);
        FR_TRY(read_row(&row, table, err));
    }
    return FR_OK;
}

fr_status fr_phantom_table_shipped(struct fr_phantom_table *table, struct fr_error *err) {
    const struct fr_preset *preset = fr_preset_find("iterations", "phantom");
    struct fr_json_document *document = NULL;
    *table = (struct fr_phantom_table){0};
    if (!preset)
        return fr_fail(err, FR_ERR_INPUT, "phantom", "no measured table was compiled in");
    fr_status status =
        fr_json_parse(preset->text, preset->length, preset->name, &document, err);
    if (status == FR_OK) {
        struct fr_json root = fr_json_root(document);
        status = fr_phantom_table_read(&root, table, err);
    }
    fr_json_free(document);
    return status;
}
