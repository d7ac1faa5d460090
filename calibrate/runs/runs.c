#include "calibrate/runs/runs.h"
#include "models/plan/iterations.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "models/job/preset.h"

const struct fr_run_reader *const fr_run_readers[] = {
#define FR_RUN_READER(name) &fr_run_reader_##name,
#include "calibrate/runs/reader_list.h"
#undef FR_RUN_READER
    NULL};

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

/* ---- from keys to a run ------------------------------------------------------------------ */

static const double MOST = 1e18; /* seconds, joules, weights: sums of them stay numbers */

static fr_status number_key(const struct fr_run_row *row, const char *key, const char *where,
                            double min, double max, double *out, struct fr_error *err) {
    const char *value = fr_run_row_get(row, key);
    char *end = NULL;
    if (!value || !*value) return FR_OK;
    double number = strtod(value, &end);
    if (*end || !(number >= min && number <= max))
        return fr_fail(err, FR_ERR_INPUT, where, "%s: \"%.40s\" is not a number of %g to %g",
                       key, value, min, max);
    *out = number;
    return FR_OK;
}

/* The document of `model` with the keys that start with @p prefix set in it. */
static fr_status set_keys(const struct fr_run_row *row, const char *prefix, const char *where,
                          struct fr_json_document *document, struct fr_error *err) {
    size_t length = strlen(prefix);
    for (int i = 0; i < row->n; i++) {
        if (strncmp(row->item[i].key, prefix, length) != 0 || !row->item[i].value[0]) continue;
        FR_TRY(
            fr_json_set(document, row->item[i].key + length, row->item[i].value, where, err));
    }
    return FR_OK;
}

static fr_status make_model(const struct fr_run_row *row, const char *where, struct fr_run *run,
                            struct fr_error *err) {
    static const char empty[] = "{\"kind\": \"transformer\"}";
    const char *base = fr_run_row_get(row, "model");
    struct fr_json_document *document = NULL;
    fr_status status = base && *base
                           ? fr_preset_or_file_read("model", base, &document, err)
                           : fr_json_parse(empty, sizeof empty - 1, where, &document, err);
    if (status == FR_OK) status = set_keys(row, "model.", where, document, err);
    if (status == FR_OK) status = fr_model_read(document, &run->workload, err);
    fr_json_free(document);
    return status;
}

static fr_status make_plan(const struct fr_run_row *row, const char *where, struct fr_run *run,
                           struct fr_error *err) {
    struct fr_json_document *document = NULL;
    fr_status status = fr_json_parse("{}", 2, where, &document, err);
    if (status == FR_OK) status = set_keys(row, "plan.", where, document, err);
    if (status == FR_OK) status = fr_plan_read(document, &run->plan, run->lists, err);
    fr_json_free(document);
    return status;
}

static fr_status check_ranks(const struct fr_run_row *row, const char *where,
                             struct fr_run *run, struct fr_error *err) {
    double ranks = 0;
    const char *dp = fr_run_row_get(row, "plan.dp");
    FR_TRY(number_key(row, "ranks", where, 1, (double)FR_RANKS_MAX, &ranks, err));
    if (ranks == 0) return FR_OK;
    if (ranks != floor(ranks))
        return fr_fail(err, FR_ERR_INPUT, where, "ranks: %g is no whole number", ranks);
    int64_t others = fr_plan_ranks(&run->plan) / run->plan.dp, all = (int64_t)ranks;
    if (all % others != 0)
        return fr_fail(err, FR_ERR_INPUT, where,
                       "%" PRId64 " ranks cannot be divided by the other degrees, %" PRId64,
                       all, others);
    if (!dp || !*dp) run->plan.dp = all / others;
    if (fr_plan_ranks(&run->plan) != all)
        return fr_fail(err, FR_ERR_INPUT, where,
                       "the degrees make %" PRId64 " ranks, but the run had %" PRId64,
                       fr_plan_ranks(&run->plan), all);
    return FR_OK;
}

static fr_status check_batch(const char *where, const struct fr_run *run,
                             struct fr_error *err) {
    int64_t batch =
        run->plan.global_batch ? run->plan.global_batch : run->workload.global_batch;
    int64_t micro = run->plan.micro_batch ? run->plan.micro_batch : 1;
    if (batch % run->plan.dp != 0 || batch / run->plan.dp % micro != 0)
        return fr_fail(err, FR_ERR_INPUT, where,
                       "a global batch of %" PRId64 " does not divide by dp %" PRId64
                       " times a micro-batch of %" PRId64,
                       batch, run->plan.dp, micro);
    return FR_OK;
}

/* Leaves @p which as it is where the row does not say. */
static fr_status word_key(const struct fr_run_row *row, const char *key, const char *where,
                          const char *const *names, const char *what, int *which,
                          struct fr_error *err) {
    const char *text = fr_run_row_get(row, key);
    struct fr_text all = {0};
    if (!text || !*text) return FR_OK;
    for (int i = 0; names[i]; i++) {
        fr_text_addf(&all, "%s%s", i ? names[i + 1] ? ", " : " or " : "", names[i]);
        if (strcmp(text, names[i]) != 0) continue;
        *which = i;
        fr_text_free(&all);
        return FR_OK;
    }
    fr_fail(err, FR_ERR_INPUT, where, "%s: \"%.40s\" is %s; expected %s", key, text, what,
            fr_text_get(&all));
    fr_text_free(&all);
    return FR_ERR_INPUT;
}

static fr_status read_measured(const struct fr_run_row *row, const char *where,
                               struct fr_run *run, struct fr_error *err) {
    int meter = FR_METER_UNSAID, counted = FR_COUNTED_ALLOCATED;
    run->measured_J = run->measured_memory_B = NAN;
    FR_TRY(number_key(row, "measured_J", where, 0, MOST, &run->measured_J, err));
    FR_TRY(word_key(row, "measured_at", where, fr_run_meter_names, "no place of a meter",
                    &meter, err));
    FR_TRY(number_key(row, "measured_memory_B", where, 1, MOST, &run->measured_memory_B, err));
    FR_TRY(word_key(row, "measured_memory_at", where, fr_run_counted_names,
                    "no count of memory", &counted, err));
    run->meter = (fr_run_meter)meter;
    run->counted = (fr_run_counted)counted;
    return FR_OK;
}

static fr_status make(const struct fr_run_row *row, const char *where, struct fr_run *run,
                      fr_run_skip *skip, struct fr_error *err) {
    static const char *const own[] = {
        "id",    "group",      "model",       "measured_s",        "weight",
        "ranks", "measured_J", "measured_at", "measured_memory_B", "measured_memory_at",
        NULL};
    const char *text;
    for (int i = 0; i < row->n; i++) {
        const char *key = row->item[i].key, *hint;
        bool known = strncmp(key, "model.", 6) == 0 || strncmp(key, "plan.", 5) == 0 ||
                     strncmp(key, "note.", 5) == 0;
        for (int k = 0; own[k] && !known; k++) known = strcmp(own[k], key) == 0;
        if (known) continue;
        hint = fr_suggest(key, own);
        return fr_fail(
            err, FR_ERR_INPUT, where,
            "unknown column \"%.40s\"%s%s%s; expected model.*, plan.*, note.*, "
            "measured_s, measured_J, measured_at, measured_memory_B, measured_memory_at, "
            "ranks, weight, group or id",
            key, hint ? ": did you mean \"" : "", hint ? hint : "", hint ? "\"?" : "");
    }
    run->weight = 1;
    run->measured_s = NAN;
    if ((text = fr_run_row_get(row, "id"))) snprintf(run->id, sizeof run->id, "%s", text);
    if ((text = fr_run_row_get(row, "group")))
        snprintf(run->group, sizeof run->group, "%s", text);
    *skip = FR_RUN_NO_TIME;
    FR_TRY(number_key(row, "measured_s", where, 1e-9, MOST, &run->measured_s, err));
    if (isnan(run->measured_s)) return fr_fail(err, FR_ERR_INPUT, where, "has no measured_s");
    FR_TRY(read_measured(row, where, run, err));
    FR_TRY(number_key(row, "weight", where, 0, MOST, &run->weight, err));
    *skip = FR_RUN_INVALID;
    FR_TRY(make_model(row, where, run, err));
    FR_TRY(make_plan(row, where, run, err));
    *skip = FR_RUN_DEGREES;
    FR_TRY(check_ranks(row, where, run, err));
    return check_batch(where, run, err);
}

fr_status fr_run_make(const struct fr_run_row *row, const char *where, struct fr_run *run,
                      fr_run_skip *skip, struct fr_error *err) {
    *run = (struct fr_run){.row = fr_malloc(1, sizeof *row),
                           .lists = fr_calloc(1, sizeof *run->lists),
                           .plan = fr_plan_default()};
    if (!run->row || !run->lists)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the runs do not fit in memory");
    *run->row = *row;
    fr_status status = make(row, where, run, skip, err);
    if (status == FR_OK) *skip = FR_RUN_USABLE;
    return status;
}

void fr_run_free(struct fr_run *run) {
    fr_workload_free(&run->workload);
    if (run->lists) fr_plan_lists_free(run->lists);
    free(run->lists);
    free(run->row);
    *run = (struct fr_run){0};
}

/* ---- files ------------------------------------------------------------------------------- */

static bool has_columns(const struct fr_csv *csv, const char *const *columns) {
    for (int i = 0; columns[i]; i++)
        if (fr_csv_find(csv, columns[i]) < 0) return false;
    return true;
}

static fr_status choose(const struct fr_csv *csv, int *which, struct fr_error *err) {
    struct fr_text names = {0};
    for (int i = 0; fr_run_readers[i]; i++) {
        if (has_columns(csv, fr_run_readers[i]->columns)) {
            *which = i;
            fr_text_free(&names);
            return FR_OK;
        }
        fr_text_addf(&names, "%s%s", i ? ", " : "", fr_run_readers[i]->name);
    }
    fr_fail(err, FR_ERR_INPUT, csv->name,
            "no reader knows these columns; a runs.csv needs measured_s (readers: %s)",
            fr_text_get(&names));
    fr_text_free(&names);
    return FR_ERR_INPUT;
}

/* What is wrong may be said of what the row names, a preset that is none: then the row is named too. */
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

static fr_status append(const struct fr_run_source *in, int reader, struct fr_runs *runs,
                        struct fr_error *err) {
    const struct fr_run_reader *r = fr_run_readers[reader];
    struct fr_run_row row = {0};
    struct fr_error why = {0};
    char where[400];
    if (runs->count == runs->capacity) {
        int more = runs->capacity ? 2 * runs->capacity : 64;
        struct fr_run *items = fr_realloc(runs->items, (size_t)more, sizeof *items);
        if (!items) return fr_fail(err, FR_ERR_NOMEM, NULL, "the runs do not fit in memory");
        runs->items = items;
        runs->capacity = more;
    }
    struct fr_run *run = &runs->items[runs->count];
    snprintf(where, sizeof where, "%s:%d", in->csv->name, in->csv->line[in->row]);
    fr_run_skip skip = r->read(in, &row);
    if (skip != FR_RUN_USABLE) {
        if (r->strict) return fr_fail(err, FR_ERR_INPUT, where, "%s", fr_run_skip_names[skip]);
        runs->skipped[skip]++;
        return FR_OK;
    }
    fr_status status = fr_run_make(&row, where, run, &skip, &why);
    if (status == FR_OK) {
        run->reader = reader;
        run->line = in->csv->line[in->row];
        runs->count++;
        return FR_OK;
    }
    fr_run_free(run);
    if (r->strict || status == FR_ERR_NOMEM) return say_where(status, where, &why, err);
    runs->skipped[skip]++;
    return FR_OK;
}

fr_status fr_runs_read(const char *path, const struct fr_run_reader *reader,
                       struct fr_runs *runs, struct fr_error *err) {
    struct fr_csv csv;
    int which = 0, before = runs->count;
    fr_status status = fr_csv_read(path, &csv, err);
    if (status == FR_OK && reader) {
        while (fr_run_readers[which] != reader) which++;
        for (int i = 0; reader->columns[i] && status == FR_OK; i++)
            if (fr_csv_find(&csv, reader->columns[i]) < 0)
                status =
                    fr_fail(err, FR_ERR_INPUT, path, "has no column \"%s\", which %s needs",
                            reader->columns[i], reader->name);
    } else if (status == FR_OK)
        status = choose(&csv, &which, err);
    for (int row = 0; status == FR_OK && row < csv.n_rows; row++) {
        struct fr_run_source in = {&csv, row};
        status = append(&in, which, runs, err);
        if (status != FR_OK || runs->count == before) continue;
        struct fr_run *last = &runs->items[runs->count - 1];
        if (!last->id[0]) snprintf(last->id, sizeof last->id, "line %d", last->line);
    }
    fr_csv_free(&csv);
    return status;
}

void fr_runs_free(struct fr_runs *runs) {
    for (int i = 0; i < runs->count; i++) fr_run_free(&runs->items[i]);
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

void fr_runs_print_skipped(const struct fr_runs *runs, struct fr_text *text) {
    for (int i = 1; i < FR_RUN_SKIP_COUNT; i++)
        if (runs->skipped[i])
            fr_text_addf(text, "%d row%s left out: %s\n", runs->skipped[i],
                         runs->skipped[i] == 1 ? "" : "s", fr_run_skip_names[i]);
}
