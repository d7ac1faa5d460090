#include "trust/runs/runs.h"
#include "trust/runs/reader.h"
#include "trust/runs/row/machine.h"
#include "trust/runs/row/software.h"
#include "trust/runs/row/where.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/meant.h"

const char *const fr_run_skip_names[] = {
#define FR_RUN_SKIP_NAME(code, text) text,
    FR_RUN_SKIP_LIST(FR_RUN_SKIP_NAME)
#undef FR_RUN_SKIP_NAME
        NULL};

const char *const fr_run_meter_names[] = {
#define FR_METER_NAME(code, name, words) #name,
    FR_RUN_METER_LIST(FR_METER_NAME)
#undef FR_METER_NAME
        NULL};

const char *const fr_run_counted_names[] = {
#define FR_COUNTED_NAME(code, name, words) #name,
    FR_RUN_COUNTED_LIST(FR_COUNTED_NAME)
#undef FR_COUNTED_NAME
        NULL};

const char *const fr_run_counted_words[] = {
#define FR_COUNTED_WORDS(code, name, words) words,
    FR_RUN_COUNTED_LIST(FR_COUNTED_WORDS)
#undef FR_COUNTED_WORDS
        NULL};

/* ---- files ------------------------------------------------------------------------------- */

/* The reason why a table is no runs.csv: another separator, or another name of the measured column. */
static fr_status unknown_columns(const struct fr_csv *csv, struct fr_error *err) {
    static const char *const wanted[] = {"measured_s", NULL};
    static const char unknown[] = "no reader knows these columns; a runs.csv needs measured_s";
    for (int i = 0; i < csv->n_columns; i++) {
        const char *name = csv->column[i];
        if (csv->n_columns == 1 && strpbrk(name, ";\t"))
            return fr_fail(err, FR_ERR_INPUT, csv->name,
                           "%s, and commas between columns in place "
                           "of \"%s\"",
                           unknown, strchr(name, ';') ? ";" : "tabs");
        if (fr_meant(name, wanted).count > 0)
            return fr_fail(err, FR_ERR_INPUT, csv->name,
                           "%s: is it column \"%.40s\", in seconds?", unknown, name);
    }
    return fr_fail(err, FR_ERR_INPUT, csv->name, "%s", unknown);
}

/* The first reader that knows the table's columns. */
static fr_status choose(const struct fr_csv *csv, struct fr_run_reader *reader, int *which,
                        struct fr_error *err) {
    for (*which = 0; fr_run_readers[*which].name; ++*which) {
        FR_TRY(fr_run_reader_open(&fr_run_readers[*which], reader, err));
        if (fr_run_reader_knows(reader, csv)) return FR_OK;
        fr_run_reader_close(reader);
    }
    return unknown_columns(csv, err);
}

/* An error may be in a file that the row names, or its preset does not exist: then the row is named too. */
static fr_status say_where(fr_status status, const char *where, const struct fr_error *why,
                           struct fr_error *err) {
    enum { TAIL = 60 }; /* what a place of base/json.h shows of where its value came from */
    size_t length = strlen(where);
    bool named = strstr(why->where, where + (length > TAIL ? length - TAIL : 0)) != NULL;
    if (status != FR_ERR_NOMEM && !named)
        return fr_fail(err, status, where, "%.100s: %.400s", why->where, why->detail);
    if (err) *err = *why;
    return status;
}

static fr_status grow(struct fr_runs *runs, struct fr_error *err) {
    if (runs->count < runs->capacity) return FR_OK;
    int more = runs->capacity ? 2 * runs->capacity : 64;
    struct fr_run *items = fr_realloc(runs->items, (size_t)more, sizeof *items);
    if (!items) return fr_fail(err, FR_ERR_NOMEM, NULL, "the runs do not fit in memory");
    runs->items = items;
    runs->capacity = more;
    return FR_OK;
}

/* A published row states what its software did; what it leaves open was not done. */
static void state_defaults(const struct fr_run_reader *reader, struct fr_run_row *row) {
    if (!reader->strict && !fr_run_row_get(row, "model.defaults"))
        fr_run_row_set(row, "model.defaults", "2019");
}

static bool names_software(const struct fr_run_row *row) {
    for (int i = 0; i < row->n; i++)
        if (fr_software_key(row->item[i].key) && row->item[i].value[0]) return true;
    return false;
}

/* The cluster of the row: that of all, with the row's own software, or its own. */
static fr_status place_row(struct fr_runs *runs, const struct fr_run_row *row,
                           struct fr_run_place *place, struct fr_error *err) {
    const char *own = fr_run_row_get(row, "cluster");
    const struct fr_machine *machine = NULL;
    place->cluster = runs->ask.on;
    runs->replaced += runs->ask.on && own && *own;
    if (runs->ask.on && (!runs->ask.document || !names_software(row))) return FR_OK;
    if (!runs->ask.on && !runs->ask.placed) return FR_OK;
    FR_TRY(fr_machine_find(runs, row, place->folder, &machine, err));
    if (machine) place->cluster = &machine->cluster;
    return FR_OK;
}

/* Append the run of a row that is wanted.  @p strict: what cannot be used is an error, else it is counted. */
static fr_status append_row(const struct fr_run_row *row, const char *where, const char *folder,
                            bool strict, struct fr_runs *runs, struct fr_error *err) {
    struct fr_error why = {0};
    fr_run_skip skip = FR_RUN_USABLE;
    struct fr_run_place place = {
        .where = where, .folder = folder, .defaults = runs->ask.defaults, .runs = runs};
    FR_TRY(grow(runs, err));
    struct fr_run *run = &runs->items[runs->count];
    fr_status status = place_row(runs, row, &place, &why);
    if (status != FR_OK) return say_where(status, where, &why, err);
    if (runs->ask.needed && !place.cluster) {
        runs->skipped[FR_RUN_NO_CLUSTER]++;
        return FR_OK;
    }
    status = fr_run_make(row, &place, run, &skip, &why);
    if (status == FR_OK) {
        runs->count++;
        return FR_OK;
    }
    fr_run_free(run);
    if (strict || status == FR_ERR_NOMEM) return say_where(status, where, &why, err);
    runs->skipped[skip]++;
    return FR_OK;
}

static fr_status append(const struct fr_run_source *in, const struct fr_run_reader *r,
                        int reader, const char *folder, struct fr_runs *runs,
                        struct fr_error *err) {
    struct fr_run_row row = {0};
    char where[400];
    int before = runs->count;
    snprintf(where, sizeof where, "%s:%d", in->csv->name, in->csv->line[in->row]);
    fr_run_skip skip;
    FR_TRY(fr_run_reader_row(r, in, &row, &skip, err));
    if (!fr_where_holds(runs->ask.where, runs->ask.n_where, in, &row, &runs->where_known))
        return FR_OK;
    if (skip != FR_RUN_USABLE) {
        if (r->strict) return fr_fail(err, FR_ERR_INPUT, where, "%s", fr_run_skip_names[skip]);
        runs->skipped[skip]++;
        return FR_OK;
    }
    state_defaults(r, &row);
    FR_TRY(append_row(&row, where, folder, r->strict, runs, err));
    if (runs->count == before) return FR_OK;
    runs->items[before].reader = reader;
    runs->items[before].line = in->csv->line[in->row];
    return FR_OK;
}

/* The folder of a file: "" of one in the working directory. */
static void folder_of(const char *path, char *folder, size_t capacity) {
    const char *slash = strrchr(path, '/');
    snprintf(folder, capacity, "%.*s", slash ? (int)(slash - path) : 0, path);
}

/* A condition on a column that no row has is a slip. */
static fr_status check_where(const char *path, const struct fr_runs *runs,
                             struct fr_error *err) {
    for (int i = 0; i < runs->ask.n_where; i++)
        if (!(runs->where_known >> i & 1))
            return fr_fail(err, FR_ERR_USAGE, "--where",
                           "no row of %.200s has a column \"%.*s\"", path,
                           (int)strcspn(runs->ask.where[i], "=<>"), runs->ask.where[i]);
    return FR_OK;
}

fr_status fr_runs_read(const char *path, struct fr_runs *runs, struct fr_error *err) {
    struct fr_csv csv;
    struct fr_run_reader reader = {0};
    int which = 0, before = runs->count;
    char folder[512];
    FR_TRY(fr_where_check(runs->ask.where, runs->ask.n_where, err));
    folder_of(path, folder, sizeof folder);
    fr_status status = fr_csv_read(path, &csv, err);
    if (status == FR_OK) status = choose(&csv, &reader, &which, err);
    for (int row = 0; status == FR_OK && row < csv.n_rows; row++) {
        struct fr_run_source in = {&csv, row};
        status = append(&in, &reader, which, folder, runs, err);
        if (status != FR_OK || runs->count == before) continue;
        struct fr_run *last = &runs->items[runs->count - 1];
        if (!last->id[0]) snprintf(last->id, sizeof last->id, "line %d", last->line);
    }
    fr_run_reader_close(&reader);
    fr_csv_free(&csv);
    return status == FR_OK ? check_where(path, runs, err) : status;
}

fr_status fr_runs_add(const char *where, const struct fr_run_row *row, struct fr_runs *runs,
                      struct fr_error *err) {
    static const struct fr_csv no_columns;
    const struct fr_run_source in = {&no_columns, 0};
    char folder[512];
    FR_TRY(fr_where_check(runs->ask.where, runs->ask.n_where, err));
    if (!fr_where_holds(runs->ask.where, runs->ask.n_where, &in, row, &runs->where_known))
        return FR_OK;
    folder_of(where, folder, sizeof folder);
    return append_row(row, where, folder, true, runs, err);
}

void fr_runs_free(struct fr_runs *runs) {
    for (int i = 0; i < runs->count; i++) fr_run_free(&runs->items[i]);
    fr_machines_free(runs);
    fr_software_free(runs);
    free(runs->items);
    *runs = (struct fr_runs){0};
}

void fr_runs_write(const struct fr_runs *runs, struct fr_text *text) {
    enum { MAX = 256 };
    const char *keys[MAX];
    int n = 0;
    for (int r = 0; r < runs->count; r++)
        for (int i = 0; i < runs->items[r].row->n; i++) {
            const char *key = runs->items[r].row->item[i].key;
            int k = 0;
            while (k < n && strcmp(keys[k], key) != 0) k++;
            if (k == n && n < MAX) keys[n++] = key;
        }
    for (int k = 0; k < n; k++) {
        fr_text_addf(text, "%s", k ? "," : "");
        fr_csv_put(text, keys[k]);
    }
    fr_text_addf(text, "\n");
    for (int r = 0; r < runs->count; r++) {
        for (int k = 0; k < n; k++) {
            const char *value = fr_run_row_get(runs->items[r].row, keys[k]);
            fr_text_addf(text, "%s", k ? "," : "");
            fr_csv_put(text, value ? value : "");
        }
        fr_text_addf(text, "\n");
    }
}
