#include "real/cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/text/version.h"
#include "calibrate/measure/watch/wire.h"

enum { TRAININGS_MOST = 1 << 20 };

static void free_cell(struct fr_cell *cell) {
    free(cell->plan_text);
    free(cell->loss);
    free(cell->observed);
}

void fr_cells_free(struct fr_cells *cells) {
    for (int i = 0; i < cells->n; i++) free_cell(&cells->items[i]);
    free(cells->items);
    *cells = (struct fr_cells){0};
}

int fr_cells_done(const struct fr_cells *cells) {
    int n = 0;
    for (int i = 0; i < cells->n; i++) n += cells->items[i].done;
    return n;
}

static fr_status no_memory(const struct fr_cells *cells, struct fr_error *err) {
    return fr_fail(err, FR_ERR_NOMEM, NULL, "%d trainings", cells->n);
}

static void complete(const struct fr_cells_of *of, struct fr_cell *cell) {
    if (of->table->complete) of->table->complete(of->question, cell);
}

fr_status fr_cells_append(struct fr_cells *cells, const struct fr_cells_of *of,
                          struct fr_cell cell, struct fr_error *err) {
    size_t points = (size_t)of->points;
    struct fr_cell *grown = fr_realloc(cells->items, (size_t)(cells->n + 1), sizeof *grown);
    if (!grown) return no_memory(cells, err);
    cells->items = grown;
    cell.plan_text = cell.plan_text ? fr_strdup(cell.plan_text) : NULL;
    cell.loss = points ? fr_calloc(2 * points, sizeof *cell.loss) : NULL;
    cell.train_loss = cell.loss ? cell.loss + points : NULL;
    grown[cells->n] = cell;
    complete(of, &grown[cells->n++]);
    return points && !(cell.loss && cell.plan_text) ? no_memory(cells, err) : FR_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void *value_of(const struct fr_cells_column *c, const void *question,
                      const struct fr_cell *cell) {
    return (char *)(uintptr_t)(c->asked ? question : cell) + c->at;
}

static void put_list(struct fr_json_writer *w, const char *key, const double *values, int n) {
    fr_json_add_array(w, key);
    for (int i = 0; i < n; i++) fr_json_put_number(w, values[i]);
    fr_json_end_array(w);
}

static void put_columns(struct fr_json_writer *w, const struct fr_cells_column *c,
                        const struct fr_cells_of *of, const struct fr_cell *cell) {
    for (; c->key; c++) {
        const void *at = value_of(c, of->question, cell);
        if (c->type == FR_CELLS_INTEGER) fr_json_add_integer(w, c->key, *(const int64_t *)at);
        if (c->type == FR_CELLS_NUMBER) fr_json_add_number(w, c->key, *(const double *)at);
        if (c->type == FR_CELLS_BOOL) fr_json_add_bool(w, c->key, *(const bool *)at);
        if (c->type == FR_CELLS_FLAG) fr_json_add_integer(w, c->key, *(const bool *)at);
        if (c->type == FR_CELLS_TEXT) fr_json_add_string(w, c->key, *(char *const *)at);
        if (c->type == FR_CELLS_LIST) put_list(w, c->key, *(double *const *)at, of->points);
        if (c->type == FR_CELLS_RAW)
            fr_text_addf(w->text, ",\"%s\":%s", c->key, *(char *const *)at);
    }
    fr_json_end_object(w);
    fr_text_add(w->text, "\n", 1);
}

static void put_head(struct fr_text *text, const struct fr_cells_of *of) {
    struct fr_json_writer w = {.text = text};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "provenance");
    fr_json_add_string(&w, "schema", of->table->schema);
    fr_json_add_string(&w, "version", fr_version);
    put_columns(&w, of->table->head, of, NULL);
}

static void put_cell(struct fr_text *text, const struct fr_cells_of *of,
                     const struct fr_cell *cell, int id, bool result) {
    struct fr_json_writer w = {.text = text};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", result ? of->table->result : of->table->cell);
    fr_json_add_integer(&w, "id", id);
    put_columns(&w, result ? of->table->results : of->table->line, of, cell);
}

fr_status fr_cells_write(const struct fr_cells *cells, struct fr_cells_of of,
                         struct fr_error *err) {
    struct fr_text text = {0};
    put_head(&text, &of); /* what all trainings of the file answer */
    uint64_t question = fr_digest_bytes(FR_DIGEST_START, fr_text_get(&text), text.length);
    for (int i = 0; i < cells->n; i++) put_cell(&text, &of, &cells->items[i], i, false);
    for (int i = 0; i < cells->n; i++)
        if (cells->items[i].done) put_cell(&text, &of, &cells->items[i], i, true);
    fr_status status =
        text.failed ? fr_fail(err, FR_ERR_NOMEM, of.samples, "trainings do not fit in memory")
                    : fr_journal_write(of.samples, text.data, text.length, question, err);
    fr_text_free(&text);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

static fr_status differs(const struct fr_cells_of *of, const char *what, struct fr_error *err) {
    return fr_fail(err, FR_ERR_INPUT, of->samples,
                   "cannot be resumed: it is of another %s; name another --samples file", what);
}

static fr_status check_version(const struct fr_json *root, const struct fr_cells_of *of,
                               struct fr_error *err) {
    struct fr_json node = fr_json_member(root, "version");
    const char *was = NULL;
    FR_TRY(fr_json_text(&node, &was, err));
    if (strcmp(was, fr_version) == 0) return FR_OK;
    if (of->table->head->what) return differs(of, "version", err);
    return fr_fail(err, FR_ERR_INPUT, of->samples,
                   "cannot be resumed: it is of version %.32s, this is %s; name another "
                   "--samples file",
                   was, fr_version);
}

static fr_status check_text(const struct fr_json *root, const struct fr_cells_of *of,
                            const struct fr_cells_column *c, struct fr_error *err) {
    struct fr_json node = fr_json_member(root, c->key);
    const char *was = NULL;
    FR_TRY(fr_json_text(&node, &was, err));
    bool same = strcmp(was, *(char *const *)value_of(c, of->question, NULL)) == 0;
    return same ? FR_OK : differs(of, c->what, err);
}

static fr_status check_number(const struct fr_json *root, const struct fr_cells_of *of,
                              const struct fr_cells_column *c, struct fr_error *err) {
    const void *at = value_of(c, of->question, NULL);
    double was = NAN, is = c->type == FR_CELLS_INTEGER ? (double)*(const int64_t *)at
                           : c->type == FR_CELLS_FLAG  ? *(const bool *)at
                                                       : *(const double *)at;
    FR_TRY(fr_json_get_number(root, c->key, true, c->min, c->max, &was, err));
    if (was == is) return FR_OK;
    if (c->what) return differs(of, c->what, err);
    return fr_fail(err, FR_ERR_INPUT, of->samples,
                   "cannot be resumed: %s was %g, is %g; name another --samples file", c->key,
                   was, is);
}

static fr_status read_head(const struct fr_json *root, const struct fr_cells_of *of,
                           struct fr_error *err) {
    FR_TRY(fr_journal_schema(root, of->table->schema, err));
    FR_TRY(check_version(root, of, err));
    for (const struct fr_cells_column *c = of->table->head; c->key; c++)
        FR_TRY(c->type == FR_CELLS_TEXT ? check_text(root, of, c, err)
                                        : check_number(root, of, c, err));
    return FR_OK;
}

static fr_status read_text(const struct fr_json *root, const char *key, char **out,
                           struct fr_error *err) {
    struct fr_json node = fr_json_member(root, key);
    const char *text = NULL;
    FR_TRY(fr_json_text(&node, &text, err));
    char *copy = fr_strdup(text);
    if (!copy) return fr_fail(err, FR_ERR_NOMEM, NULL, "a training");
    free(*out);
    *out = copy;
    return FR_OK;
}

static fr_status read_list(const struct fr_json *root, const char *key, int n, double *out,
                           struct fr_error *err) {
    struct fr_json list = fr_json_member(root, key);
    FR_TRY(fr_json_array(&list, n, n, err));
    for (int i = 0; i < n; i++) {
        struct fr_json one = fr_json_element(&list, i);
        out[i] = NAN;
        if (!fr_json_is_null(&one)) FR_TRY(fr_json_number(&one, -1e300, 1e300, &out[i], err));
    }
    return FR_OK;
}

static fr_status read_raw(const struct fr_json *root, const char *key, char **out,
                          struct fr_error *err) {
    struct fr_json node = fr_json_member(root, key);
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    FR_TRY(fr_json_array(&node, 0, 1 << 20, err));
    fr_json_put_copy(&w, &node);
    free(*out);
    *out = text.data;
    return text.failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "a line") : FR_OK;
}

static fr_status read_columns(const struct fr_json *root, const struct fr_cells_column *c,
                              int points, struct fr_cell *cell, struct fr_error *err) {
    for (; c->key; c++) {
        void *at = value_of(c, NULL, cell);
        if (c->asked || c->max == 0) continue; /* the same of all, or follows from the others */
        if (c->type == FR_CELLS_INTEGER)
            FR_TRY(fr_json_get_integer(root, c->key, true, (int64_t)c->min, (int64_t)c->max, at,
                                       err));
        if (c->type == FR_CELLS_NUMBER)
            FR_TRY(fr_json_get_number(root, c->key, true, c->min, c->max, at, err));
        if (c->type == FR_CELLS_TEXT) FR_TRY(read_text(root, c->key, at, err));
        if (c->type == FR_CELLS_LIST)
            FR_TRY(read_list(root, c->key, points, *(double **)at, err));
        if (c->type == FR_CELLS_RAW) FR_TRY(read_raw(root, c->key, at, err));
    }
    return FR_OK;
}

/* Cells up to @p id, of which nothing is known yet. */
static fr_status grow(struct fr_cells *cells, const struct fr_cells_of *of, int64_t id,
                      struct fr_error *err) {
    static char none[] = "";
    while (cells->n <= id)
        FR_TRY(
            fr_cells_append(cells, of, (struct fr_cell){.lost = true, .plan_text = none}, err));
    return FR_OK;
}

static void leave_out_lost(struct fr_cells *cells) {
    int kept = 0;
    for (int i = 0; i < cells->n; i++)
        if (cells->items[i].lost)
            free_cell(&cells->items[i]);
        else
            cells->items[kept++] = cells->items[i];
    cells->n = kept;
}

struct reading {
    struct fr_cells *cells;
    const struct fr_cells_of *of;
    struct fr_journal journal;
};

enum { HEAD, CELL, RESULT };

/* Where lines have digests some may have been dropped before this one. */
static fr_status read_line(const struct fr_journal_line *line, void *context,
                           struct fr_error *err) {
    const struct reading *r = context;
    const struct fr_cells_table *table = r->of->table;
    const struct fr_json *root = line->root;
    const char *const kinds[] = {"provenance", table->cell, table->result, NULL};
    int kind = 0;
    int64_t id = 0;
    FR_TRY(fr_json_get_choice(root, "kind", true, kinds, &kind, err));
    if ((line->number == 1) != (kind == HEAD))
        return fr_json_fail(root, err, "is no file of trainings: provenance comes first, once");
    if (kind == HEAD) return read_head(root, r->of, err);
    int64_t most = r->journal.sealed ? TRAININGS_MOST : r->cells->n - (kind == RESULT);
    FR_TRY(fr_json_get_integer(root, "id", true, 0, most, &id, err));
    FR_TRY(grow(r->cells, r->of, id, err));
    struct fr_cell *cell = &r->cells->items[id];
    bool twice = kind == CELL && !cell->lost;
    FR_TRY(read_columns(root, kind == CELL ? table->line : table->results, r->of->points, cell,
                        err));
    if (twice) return fr_json_fail(root, err, "is there twice");
    if (kind == RESULT)
        cell->done = true;
    else
        cell->lost = false;
    complete(r->of, cell);
    return FR_OK;
}

fr_status fr_cells_read(struct fr_cells *cells, struct fr_cells_of of, struct fr_error *err) {
    struct reading reading = {.cells = cells, .of = &of};
    fr_cells_free(cells);
    fr_status status = fr_journal_read_each(of.samples, FR_FILE_MAX_B, &reading.journal,
                                            read_line, &reading, err);
    leave_out_lost(cells);
    fr_journal_free(&reading.journal);
    return status;
}

/* ---- training -------------------------------------------------------------------------------- */

/* One job over all cells that are not done; what it wrote is read also when it ended early. */
static fr_status train(const struct fr_cells_job *job, struct fr_cells *cells,
                       struct fr_keep *keep, struct fr_error *err) {
    const char *samples = job->of.samples;
    char patience[40];
    const char *words[12] = {job->verb, "--cases",    samples, "--out",
                             samples,   "--patience", patience};
    int n = 7;
    if (fr_cells_done(cells) == cells->n) return FR_OK;
    if (job->corpus) words[n++] = "--corpus", words[n++] = job->corpus;
    if (job->progress) words[n++] = "--progress";
    FR_TRY(fr_cells_write(cells, job->of, err));
    FR_TRY(fr_keep_hold_again(keep, err));
    snprintf(patience, sizeof patience, "%.17g",
             job->launch->patience_s > 0 ? job->launch->patience_s : FR_PATIENCE_S);
    fr_status ran = fr_launch_mpi(job->launch, words, err);
    if (ran != FR_OK && ran != FR_ERR_PARTIAL && ran != FR_ERR_EXTERNAL) return ran;
    fr_status status = fr_cells_read(cells, job->of, ran == FR_OK ? err : NULL);
    int done = fr_cells_done(cells);
    if (ran == FR_OK && status == FR_OK && done < cells->n)
        return fr_fail(err, FR_ERR_EXTERNAL, samples, "lacks results of the job");
    if (ran == FR_OK) return status;
    /* One that lost a rank has said which. */
    if (status != FR_OK || ran == FR_ERR_PARTIAL || done == 0) return ran;
    return fr_fail(err, FR_ERR_PARTIAL, samples,
                   "the job ended early; what had been trained is kept here, and --resume goes "
                   "on with it");
}

fr_status fr_cells_run(const struct fr_cells_job *job, struct fr_cells *cells,
                       struct fr_error *err) {
    struct fr_keep keep;
    bool more = true;
    fr_status status = fr_keep_hold(job->of.samples, job->resume, job->force, &keep, err);
    if (status == FR_OK && job->resume && fr_file_holds(job->of.samples))
        status = fr_cells_read(cells, job->of, err);
    while (status == FR_OK) {
        status = job->next(job->context, cells, &more, err);
        if (status == FR_OK && !more && fr_cells_done(cells) == cells->n) break;
        if (status == FR_OK) status = train(job, cells, &keep, err);
    }
    fr_keep_release(&keep);
    return status;
}
