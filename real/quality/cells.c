#include "real/quality/cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "real/trainings.h"

static void free_cell(struct fr_quality_cell *cell) {
    free(cell->plan_text);
    free(cell->loss);
    free(cell->observed);
}

void fr_quality_cells_free(struct fr_quality_cells *cells) {
    for (int i = 0; i < cells->n; i++) free_cell(&cells->items[i]);
    free(cells->items);
    *cells = (struct fr_quality_cells){0};
}

static int plan_of(const struct fr_quality_options *o, const char *plan) {
    for (int i = 0; i < o->n_plans; i++)
        if (strcmp(o->plans[i], plan) == 0) return i;
    return -1;
}

static fr_status append(struct fr_quality_cells *cells, const struct fr_quality_options *o,
                        const char *plan, double rate, int64_t seed, struct fr_error *err) {
    size_t points = (size_t)fr_quality_points(o);
    struct fr_quality_cell *grown =
        fr_realloc(cells->items, (size_t)(cells->n + 1), sizeof *grown);
    if (!grown) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d trainings", cells->n);
    cells->items = grown;
    struct fr_quality_cell *c = &grown[cells->n++];
    *c = (struct fr_quality_cell){.plan_text = fr_strdup(plan),
                                  .plan = plan_of(o, plan),
                                  .rate = rate,
                                  .seed = seed,
                                  .loss = fr_calloc(2 * points, sizeof *c->loss)};
    if (!c->plan_text || !c->loss)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "%d trainings", cells->n);
    c->train_loss = c->loss + points;
    return FR_OK;
}

fr_status fr_quality_want(struct fr_quality_cells *cells, const struct fr_quality_options *o,
                          int plan, double rate, int64_t seed, struct fr_error *err) {
    for (int i = 0; i < cells->n; i++) {
        const struct fr_quality_cell *c = &cells->items[i];
        if (c->plan == plan && c->rate == rate && c->seed == seed) return FR_OK;
    }
    return append(cells, o, o->plans[plan], rate, seed, err);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_head(struct fr_text *text, const struct fr_quality_options *o) {
    struct fr_json_writer w = {.text = text};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "provenance");
    fr_json_add_string(&w, "schema", FR_TRAININGS_OF_PLANS_SCHEMA);
    fr_json_add_string(&w, "version", FR_VERSION);
    fr_json_add_string(&w, "corpus", o->corpus);
    fr_json_add_integer(&w, "corpus_digest", (int64_t)o->digest);
    fr_json_add_string(&w, "model", o->model);
    fr_json_add_integer(&w, "ranks", o->launch.n_ranks);
    fr_json_add_integer(&w, "steps", o->steps);
    fr_json_add_integer(&w, "every", o->every);
    fr_json_add_integer(&w, "held_out", o->held_out);
    fr_json_end_object(&w);
    fr_text_add(text, "\n", 1);
}

static void put_cell(struct fr_text *text, const struct fr_quality_options *o,
                     const struct fr_quality_cell *c, int id) {
    struct fr_json_writer w = {.text = text};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "learn");
    fr_json_add_integer(&w, "id", id);
    fr_json_add_string(&w, "model", o->model);
    fr_json_add_string(&w, "plan", c->plan_text);
    fr_json_add_integer(&w, "seed", c->seed);
    fr_json_add_number(&w, "rate", c->rate);
    fr_json_add_integer(&w, "steps", o->steps);
    fr_json_add_integer(&w, "every", o->every);
    fr_json_add_integer(&w, "held_out", o->held_out);
    /* A rate is not chosen on the samples that it is judged by. */
    fr_json_add_integer(&w, "held_out_from", fr_quality_is_tuning(c->seed) ? o->held_out : 0);
    fr_json_end_object(&w);
    fr_text_add(text, "\n", 1);
}

static void put_list(struct fr_json_writer *w, const char *key, const double *values, int n) {
    fr_json_add_array(w, key);
    for (int i = 0; i < n; i++) fr_json_put_number(w, values[i]);
    fr_json_end_array(w);
}

static void put_result(struct fr_text *text, const struct fr_quality_options *o,
                       const struct fr_quality_cell *c, int id) {
    struct fr_json_writer w = {.text = text};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "learnt");
    fr_json_add_integer(&w, "id", id);
    fr_json_add_number(&w, "train_s", c->train_s);
    fr_json_add_number(&w, "sent_B", c->sent_B);
    put_list(&w, "loss", c->loss, fr_quality_points(o));
    put_list(&w, "train_loss", c->train_loss, fr_quality_points(o));
    fr_text_addf(text, ",\"observed\":%s}\n", c->observed);
}

fr_status fr_quality_cells_write(const struct fr_quality_cells *cells,
                                 const struct fr_quality_options *o, struct fr_error *err) {
    struct fr_text text = {0};
    put_head(&text, o); /* what all trainings of the file answer */
    uint64_t question = fr_digest_bytes(FR_DIGEST_START, fr_text_get(&text), text.length);
    for (int i = 0; i < cells->n; i++) put_cell(&text, o, &cells->items[i], i);
    for (int i = 0; i < cells->n; i++)
        if (cells->items[i].done) put_result(&text, o, &cells->items[i], i);
    fr_status status =
        text.failed ? fr_fail(err, FR_ERR_NOMEM, o->samples, "trainings do not fit in memory")
                    : fr_journal_write(o->samples, text.data, text.length, question, err);
    fr_text_free(&text);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

static fr_status differs(const struct fr_quality_options *o, const char *what,
                         struct fr_error *err) {
    return fr_fail(err, FR_ERR_INPUT, o->samples,
                   "cannot be resumed: it is of another %s; name another --samples file", what);
}

static fr_status read_head(const struct fr_json *root, const struct fr_quality_options *o,
                           struct fr_error *err) {
    const struct {
        const char *key, *what, *want;
    } texts[] = {{"version", "version", FR_VERSION},
                 {"corpus", "corpus", o->corpus},
                 {"model", "model", o->model}};
    const struct {
        const char *key, *what;
        int64_t want;
    } numbers[] = {{"corpus_digest", "corpus, though of the same name", (int64_t)o->digest},
                   {"ranks", "number of ranks", o->launch.n_ranks},
                   {"steps", "number of --steps", o->steps},
                   {"every", "--every", o->every},
                   {"held_out", "--held-out", o->held_out}};
    FR_TRY(fr_journal_schema(root, FR_TRAININGS_OF_PLANS_SCHEMA, err));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fr_json node = fr_json_member(root, texts[i].key);
        const char *was = NULL;
        FR_TRY(fr_json_text(&node, &was, err));
        if (strcmp(was, texts[i].want) != 0) return differs(o, texts[i].what, err);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int64_t was = 0;
        FR_TRY(fr_json_get_integer(root, numbers[i].key, true, 0, INT64_MAX / 2, &was, err));
        if (was != numbers[i].want) return differs(o, numbers[i].what, err);
    }
    return FR_OK;
}

/* Cells up to @p id, of which nothing is known yet. */
static fr_status make_room(struct fr_quality_cells *cells, const struct fr_quality_options *o,
                           int64_t id, struct fr_error *err) {
    while (cells->n <= id) {
        FR_TRY(append(cells, o, "", 0, 0, err));
        cells->items[cells->n - 1].lost = true;
    }
    return FR_OK;
}

static void leave_out_lost(struct fr_quality_cells *cells) {
    int kept = 0;
    for (int i = 0; i < cells->n; i++) {
        struct fr_quality_cell *cell = &cells->items[i];
        if (!cell->lost) {
            cells->items[kept++] = *cell;
            continue;
        }
        cells->n_done -= cell->done;
        free_cell(cell);
    }
    cells->n = kept;
}

static fr_status read_cell(const struct fr_json *root, const struct fr_quality_options *o,
                           int64_t id, struct fr_quality_cells *cells, struct fr_error *err) {
    struct fr_json plan = fr_json_member(root, "plan");
    const char *text = NULL;
    double rate = 0;
    int64_t seed = 0;
    FR_TRY(fr_json_text(&plan, &text, err));
    FR_TRY(fr_json_get_number(root, "rate", true, 0, 1e6, &rate, err));
    FR_TRY(fr_json_get_integer(root, "seed", true, 0, INT64_MAX / 2, &seed, err));
    struct fr_quality_cell *cell = &cells->items[id];
    if (!cell->lost) return fr_json_fail(root, err, "is there twice");
    char *copy = fr_strdup(text);
    if (!copy) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d trainings", cells->n);
    free(cell->plan_text);
    cell->plan_text = copy;
    cell->plan = plan_of(o, text);
    cell->rate = rate;
    cell->seed = seed;
    cell->lost = false;
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

static fr_status read_observed(const struct fr_json *root, struct fr_quality_cell *c,
                               struct fr_error *err) {
    struct fr_json node = fr_json_member(root, "observed");
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    FR_TRY(fr_json_array(&node, 0, 1 << 20, err));
    fr_json_put_copy(&w, &node);
    free(c->observed);
    c->observed = text.data;
    return text.failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "a line") : FR_OK;
}

static fr_status read_result(const struct fr_json *root, const struct fr_quality_options *o,
                             struct fr_quality_cell *c, struct fr_error *err) {
    int n = fr_quality_points(o);
    FR_TRY(fr_json_get_number(root, "train_s", true, 0, 1e12, &c->train_s, err));
    FR_TRY(fr_json_get_number(root, "sent_B", true, 0, 1e18, &c->sent_B, err));
    FR_TRY(read_observed(root, c, err));
    FR_TRY(read_list(root, "loss", n, c->loss, err));
    FR_TRY(read_list(root, "train_loss", n, c->train_loss, err));
    c->done = true;
    return FR_OK;
}

struct reading {
    struct fr_quality_cells *cells;
    const struct fr_quality_options *o;
    struct fr_journal journal;
};

static fr_status read_line(const struct fr_journal_line *line, void *context,
                           struct fr_error *err) {
    const struct reading *reading = context;
    const struct fr_json *root = line->root;
    struct fr_quality_cells *cells = reading->cells;
    const struct fr_quality_options *o = reading->o;
    static const char *const kinds[] = {"provenance", "learn", "learnt", NULL};
    int kind = 0;
    int64_t id = 0;
    FR_TRY(fr_trainings_line(line, &reading->journal, kinds, cells->n, &kind, &id, err));
    if (kind == FR_TRAININGS_HEAD) return read_head(root, o, err);
    FR_TRY(make_room(cells, o, id, err));
    if (kind == FR_TRAININGS_CELL) return read_cell(root, o, id, cells, err);
    cells->n_done += !cells->items[id].done;
    return read_result(root, o, &cells->items[id], err);
}

fr_status fr_quality_cells_read(struct fr_quality_cells *cells,
                                const struct fr_quality_options *o, struct fr_error *err) {
    struct reading reading = {.cells = cells, .o = o};
    fr_quality_cells_free(cells);
    fr_status status = fr_journal_read_each(o->samples, FR_FILE_MAX_B, &reading.journal,
                                            read_line, &reading, err);
    leave_out_lost(cells);
    fr_journal_free(&reading.journal);
    return status;
}
