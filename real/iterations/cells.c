#include "real/iterations/cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "base/file.h"
#include "real/trainings.h"

static const double ADAM_STATE_B = 8;

fr_status fr_cells_want(struct fr_training_cells *cells, const struct fr_training_options *o,
                        int64_t tp, int64_t ghost, struct fr_error *err) {
    for (int64_t seed = 1; seed <= o->seeds; seed++) {
        bool there = false;
        for (int i = 0; i < cells->n; i++) {
            const struct fr_training_cell *c = &cells->items[i];
            there = there || (c->tp == tp && c->ghost == ghost && c->seed == seed);
        }
        if (there) continue;
        struct fr_training_cell *grown =
            fr_realloc(cells->items, (size_t)(cells->n + 1), sizeof *grown);
        if (!grown) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d trainings", cells->n);
        cells->items = grown;
        grown[cells->n++] = (struct fr_training_cell){.tp = tp, .ghost = ghost, .seed = seed};
    }
    return FR_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* What all trainings of a file have in common; the seeds, p and k may grow from run to run. */
struct common {
    const char *key;
    double value;
};
enum { N_COMMON = 7 };
static void common_of(const struct fr_training_options *o, struct common out[N_COMMON]) {
    const struct common all[N_COMMON] = {{"width", (double)o->width},
                                         {"layers", (double)o->layers},
                                         {"batch", (double)o->batch},
                                         {"most", (double)o->most},
                                         {"loss", o->loss},
                                         {"rate", fr_training_rate(o)},
                                         {"same_batch", o->same_batch}};
    memcpy(out, all, sizeof all);
}

static void put_head(struct fr_text *text, const struct fr_training_options *o) {
    struct fr_json_writer w = {.text = text};
    struct common common[N_COMMON];
    common_of(o, common);
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "provenance");
    fr_json_add_string(&w, "schema", FR_TRAININGS_SCHEMA);
    fr_json_add_string(&w, "version", FR_VERSION);
    for (int i = 0; i < N_COMMON; i++) fr_json_add_number(&w, common[i].key, common[i].value);
    fr_json_end_object(&w);
    fr_text_add(text, "\n", 1);
}

static void put_cell(struct fr_text *text, const struct fr_training_options *o,
                     const struct fr_training_cell *cell, int id) {
    struct fr_json_writer w = {.text = text};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "train");
    fr_json_add_integer(&w, "id", id);
    fr_json_add_integer(&w, "tp", cell->tp);
    fr_json_add_integer(&w, "ghost", cell->ghost);
    fr_json_add_integer(&w, "seed", cell->seed);
    fr_json_add_integer(&w, "width", o->width);
    fr_json_add_integer(&w, "layers", o->layers);
    fr_json_add_integer(&w, "batch", o->batch);
    fr_json_add_bool(&w, "same_batch", o->same_batch);
    fr_json_add_number(&w, "optimizer_state_B", ADAM_STATE_B);
    fr_json_add_number(&w, "rate", fr_training_rate(o));
    fr_json_add_number(&w, "loss", o->loss);
    fr_json_add_integer(&w, "most", o->most);
    fr_json_end_object(&w);
    fr_text_add(text, "\n", 1);
}

static void put_result(struct fr_text *text, const struct fr_training_cell *cell, int id) {
    struct fr_json_writer w = {.text = text};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "trained");
    fr_json_add_integer(&w, "id", id);
    fr_json_add_number(&w, "iterations", cell->iterations);
    fr_json_add_number(&w, "steps", cell->steps);
    fr_json_add_number(&w, "loss", cell->loss);
    fr_json_add_number(&w, "parameters", cell->parameters);
    fr_json_add_number(&w, "train_s", cell->train_s);
    fr_json_end_object(&w);
    fr_text_add(text, "\n", 1);
}

fr_status fr_cells_write(const struct fr_training_cells *cells,
                         const struct fr_training_options *o, struct fr_error *err) {
    struct fr_text text = {0};
    put_head(&text, o); /* what all trainings of the file answer */
    uint64_t question = fr_digest_bytes(FR_DIGEST_START, fr_text_get(&text), text.length);
    for (int i = 0; i < cells->n; i++) put_cell(&text, o, &cells->items[i], i);
    for (int i = 0; i < cells->n; i++)
        if (cells->items[i].done) put_result(&text, &cells->items[i], i);
    fr_status status =
        text.failed ? fr_fail(err, FR_ERR_NOMEM, o->samples, "trainings do not fit in memory")
                    : fr_journal_write(o->samples, text.data, text.length, question, err);
    fr_text_free(&text);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

static fr_status read_head(const struct fr_json *root, const struct fr_training_options *o,
                           struct fr_error *err) {
    struct common common[N_COMMON];
    char version[32] = "";
    FR_TRY(fr_journal_schema(root, FR_TRAININGS_SCHEMA, err));
    FR_TRY(fr_json_get_string(root, "version", true, version, sizeof version, err));
    if (strcmp(version, FR_VERSION) != 0)
        return fr_fail(err, FR_ERR_INPUT, o->samples,
                       "cannot be resumed: it is of version %s, this is %s; name another "
                       "--samples file",
                       version, FR_VERSION);
    common_of(o, common);
    for (int i = 0; i < N_COMMON; i++) {
        double was = NAN;
        FR_TRY(fr_json_get_number(root, common[i].key, true, 0, 1e18, &was, err));
        if (was != common[i].value)
            return fr_fail(err, FR_ERR_INPUT, o->samples,
                           "cannot be resumed: %s was %g, is %g; name another --samples file",
                           common[i].key, was, common[i].value);
    }
    return FR_OK;
}

/* Cells up to @p id, of which nothing is known yet. */
static fr_status make_room(struct fr_training_cells *cells, int64_t id, struct fr_error *err) {
    if (id < cells->n) return FR_OK;
    struct fr_training_cell *grown = fr_realloc(cells->items, (size_t)id + 1, sizeof *grown);
    if (!grown) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d trainings", cells->n);
    cells->items = grown;
    while (cells->n <= id) grown[cells->n++] = (struct fr_training_cell){.lost = true};
    return FR_OK;
}

static void leave_out_lost(struct fr_training_cells *cells) {
    int kept = 0;
    for (int i = 0; i < cells->n; i++)
        if (!cells->items[i].lost) cells->items[kept++] = cells->items[i];
    cells->n = kept;
}

static fr_status read_cell(const struct fr_json *root, int64_t id,
                           struct fr_training_cells *cells, struct fr_error *err) {
    int64_t tp = 0, ghost = 0, seed = 0;
    FR_TRY(fr_json_get_integer(root, "tp", true, 1, 1 << 20, &tp, err));
    FR_TRY(fr_json_get_integer(root, "ghost", true, 0, 1 << 20, &ghost, err));
    FR_TRY(fr_json_get_integer(root, "seed", true, 1, INT64_MAX / 2, &seed, err));
    struct fr_training_cell *cell = &cells->items[id];
    if (!cell->lost) return fr_json_fail(root, err, "is there twice");
    cell->tp = tp;
    cell->ghost = ghost;
    cell->seed = seed;
    cell->lost = false;
    return FR_OK;
}

static fr_status read_result(const struct fr_json *root, struct fr_training_cell *cell,
                             struct fr_error *err) {
    FR_TRY(fr_json_get_number(root, "iterations", true, 0, 1e12, &cell->iterations, err));
    FR_TRY(fr_json_get_number(root, "steps", true, 0, 1e12, &cell->steps, err));
    FR_TRY(fr_json_get_number(root, "loss", true, 0, 1e30, &cell->loss, err));
    FR_TRY(fr_json_get_number(root, "parameters", true, 0, 1e18, &cell->parameters, err));
    FR_TRY(fr_json_get_number(root, "train_s", true, 0, 1e12, &cell->train_s, err));
    cell->done = true;
    return FR_OK;
}

struct reading {
    struct fr_training_cells *cells;
    const struct fr_training_options *o;
    struct fr_journal journal;
};

static fr_status read_line(const struct fr_journal_line *line, void *context,
                           struct fr_error *err) {
    const struct reading *reading = context;
    const struct fr_json *root = line->root;
    struct fr_training_cells *cells = reading->cells;
    const struct fr_training_options *o = reading->o;
    static const char *const kinds[] = {"provenance", "train", "trained", NULL};
    int kind = 0;
    int64_t id = 0;
    FR_TRY(fr_trainings_line(line, &reading->journal, kinds, cells->n, &kind, &id, err));
    if (kind == FR_TRAININGS_HEAD) return read_head(root, o, err);
    FR_TRY(make_room(cells, id, err));
    return kind == FR_TRAININGS_CELL ? read_cell(root, id, cells, err)
                                     : read_result(root, &cells->items[id], err);
}

fr_status fr_cells_read(struct fr_training_cells *cells, const struct fr_training_options *o,
                        struct fr_error *err) {
    struct reading reading = {.cells = cells, .o = o};
    free(cells->items);
    *cells = (struct fr_training_cells){0};
    fr_status status = fr_journal_read_each(o->samples, FR_FILE_MAX_B, &reading.journal,
                                            read_line, &reading, err);
    leave_out_lost(cells);
    fr_journal_free(&reading.journal);
    return status;
}
