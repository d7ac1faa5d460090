/* The file of a validation: cases, then what forerun-mpi run measured of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/journal/journal.h"
#include "calibrate/samples/samples.h"
#include "real/validate/validate.h"
#include "trust/numbers/statistics.h"

fr_status fr_validation_add(struct fr_validation *v, const struct fr_validate_case *run,
                            struct fr_error *err) {
    if ((v->n_rows & (v->n_rows - 1)) == 0) { /* capacity for twice as many */
        struct fr_validate_row *rows =
            fr_realloc(v->rows, v->n_rows ? 2 * (size_t)v->n_rows : 1, sizeof *v->rows);
        if (!rows) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d cases", v->n_rows);
        v->rows = rows;
    }
    v->rows[v->n_rows++] = (struct fr_validate_row){.run = *run, .off = -1};
    return FR_OK;
}

void fr_validation_free(struct fr_validation *v) {
    for (int i = 0; i < v->n_rows; i++) {
        free(v->rows[i].time_s);
        free(v->rows[i].visit);
    }
    free(v->rows);
    free(v->references);
    *v = (struct fr_validation){0};
}

/* ---- reading --------------------------------------------------------------------------------- */

static fr_status get_text(const struct fr_json *root, const char *key, char *out,
                          size_t capacity, struct fr_error *err) {
    return fr_json_get_string(root, key, true, out, capacity, err);
}

static fr_status read_case(const struct fr_json *root, struct fr_validation *v,
                           struct fr_error *err) {
    struct fr_validate_case run = {0};
    FR_TRY(fr_json_get_integer(root, "id", true, 0, INT64_MAX / 2, &run.id, err));
    FR_TRY(fr_json_get_integer(root, "ranks", true, 1, 1 << 24, &run.ranks, err));
    FR_TRY(get_text(root, "app", run.app, sizeof run.app, err));
    FR_TRY(get_text(root, "group", run.group, sizeof run.group, err));
    FR_TRY(get_text(root, "label", run.label, sizeof run.label, err));
    FR_TRY(get_text(root, "model", run.model, sizeof run.model, err));
    FR_TRY(get_text(root, "plan", run.plan, sizeof run.plan, err));
    return fr_validation_add(v, &run, err);
}

/* @param[out] row  NULL: its case was dropped, as lines of this file were */
static fr_status find_row(const struct fr_json *root, struct fr_validation *v, bool dropped,
                          struct fr_validate_row **row, struct fr_error *err) {
    int64_t id = 0;
    FR_TRY(fr_json_get_integer(root, "id", true, 0, INT64_MAX / 2, &id, err));
    for (int i = 0; i < v->n_rows; i++) {
        *row = &v->rows[i];
        if ((*row)->run.id == id) return FR_OK;
    }
    *row = NULL;
    return dropped ? FR_OK : fr_json_fail(root, err, "is of no case in this file");
}

/* The last @p n samples of the row are a visit's.  Their mean, not their median: what is predicted is
 * what many steps take divided by their number, and what interrupts one step in twenty is in no median. */
static fr_status add_visit(const struct fr_json *root, struct fr_validate_row *row, int n,
                           struct fr_error *err) {
    int64_t pass = row->n_visits;
    FR_TRY(fr_json_get_integer(root, "pass", false, 0, 1 << 30, &pass, err));
    double(*grown)[2] = fr_realloc(row->visit, (size_t)row->n_visits + 1, sizeof *grown);
    if (!grown) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d visits", row->n_visits);
    row->visit = grown;
    double sum_s = 0;
    for (int i = row->n_samples - n; i < row->n_samples; i++) sum_s += row->time_s[i];
    grown[row->n_visits][0] = (double)pass;
    grown[row->n_visits++][1] = sum_s / n;
    return FR_OK;
}

static fr_status read_times(const struct fr_json *root, struct fr_validate_row *row,
                            struct fr_error *err) {
    struct fr_json list = fr_json_member(root, "time_s");
    FR_TRY(fr_json_array(&list, 0, 1000000, err));
    int n = (int)fr_json_array_length(&list);
    double *times = fr_realloc(row->time_s, (size_t)(row->n_samples + n + 1), sizeof *times);
    if (!times) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d samples", n);
    row->time_s = times;
    for (int i = 0; i < n; i++) {
        struct fr_json node = fr_json_element(&list, i);
        FR_TRY(fr_json_number(&node, 1e-12, 1e9, &times[row->n_samples], err)); /* divided by */
        row->n_samples++;
    }
    return n > 0 ? add_visit(root, row, n, err) : FR_OK;
}

/* The shortest step of several profiles of a case: disturbances only lengthen it. */
static fr_status read_phases(const struct fr_json *root, struct fr_validate_row *row,
                             struct fr_error *err) {
    static const char *const keys[] = {"compute_s", "launch_s", "collective_s", "wait_s"};
    double term_s[FR_TERM_COUNT], sum_s = 0, before_s = 0;
    for (int t = 0; t < FR_TERM_COUNT; t++) {
        FR_TRY(fr_json_get_number(root, keys[t], true, 0, 1e9, &term_s[t], err));
        sum_s += term_s[t];
        before_s += row->measured_term_s[t];
    }
    if (!row->profiled || sum_s < before_s) memcpy(row->measured_term_s, term_s, sizeof term_s);
    row->profiled = true;
    return FR_OK;
}

static fr_status read_reference(const struct fr_json *root, struct fr_validation *v,
                                struct fr_error *err) {
    struct fr_validate_reference r = {0};
    FR_TRY(fr_json_get_integer(root, "ranks", true, 1, 1 << 24, &r.ranks, err));
    FR_TRY(fr_json_get_number(root, "set_B", true, 1, 1e18, &r.set_B, err));
    FR_TRY(
        fr_json_get_number(root, "stream_s_per_B", true, 1e-18, 1e6, &r.stream_s_per_B, err));
    FR_TRY(fr_json_get_number(root, "edge", true, 1, 1e9, &r.edge, err));
    FR_TRY(fr_json_get_number(root, "product_s", true, 1e-12, 1e6, &r.product_s, err));
    struct fr_validate_reference *grown =
        fr_realloc(v->references, (size_t)(v->n_references + 1), sizeof *grown);
    if (!grown) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d references", v->n_references);
    v->references = grown;
    grown[v->n_references++] = r;
    return FR_OK;
}

struct reading {
    struct fr_validation *v;
    struct fr_journal journal;
};

static fr_status read_line(const struct fr_journal_line *line, void *context,
                           struct fr_error *err) {
    const struct reading *reading = context;
    struct fr_validation *v = reading->v;
    const struct fr_json *root = line->root;
    static const char *const kinds[] = {"case",       "run", "phases",  "reference",
                                        "provenance", "job", "refused", NULL};
    struct fr_validate_row *row = NULL;
    int kind = 0;
    FR_TRY(fr_json_get_choice(root, "kind", true, kinds, &kind, err));
    if (kind == 4) return fr_journal_schema(root, FR_RUNS_SCHEMA, err);
    if (kind == 5) return FR_OK;
    if (kind == 0) return read_case(root, v, err);
    if (kind == 3) return read_reference(root, v, err);
    FR_TRY(find_row(root, v, reading->journal.n_dropped > 0, &row, err));
    if (!row) return FR_OK;
    if (kind == 6) return get_text(root, "why", row->refused, sizeof row->refused, err);
    return kind == 1 ? read_times(root, row, err) : read_phases(root, row, err);
}

/* Median of the visits whose pass is below @p middle, or of the others. */
static double half_s(const struct fr_validate_row *row, double middle, bool early,
                     double *scratch) {
    size_t n = 0;
    for (int i = 0; i < row->n_visits; i++)
        if ((row->visit[i][0] < middle) == early) scratch[n++] = row->visit[i][1];
    if (n == 0) return 0;
    fr_sort(scratch, n);
    return fr_sorted_median(scratch, n);
}

static fr_status halve(struct fr_validate_row *row, struct fr_error *err) {
    double last = 0, *scratch = fr_malloc((size_t)row->n_visits + 1, sizeof *scratch);
    if (!scratch) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d visits", row->n_visits);
    for (int i = 0; i < row->n_visits; i++) last = fmax(last, row->visit[i][0]);
    row->early_s = half_s(row, 0.5 * (last + 1), true, scratch);
    row->late_s = half_s(row, 0.5 * (last + 1), false, scratch);
    if (!(row->early_s > 0 && row->late_s > 0)) row->early_s = row->late_s = 0;
    free(scratch);
    return FR_OK;
}

/* The median over visits of their means: a visit that the machine was away for is one of them. */
static fr_status summarise(struct fr_validate_row *row, struct fr_error *err) {
    size_t n = (size_t)row->n_visits;
    if (n == 0) return FR_OK;
    double *means_s = fr_malloc(n, sizeof *means_s);
    if (!means_s) return fr_fail(err, FR_ERR_NOMEM, NULL, "%zu visits", n);
    for (size_t i = 0; i < n; i++) means_s[i] = row->visit[i][1];
    fr_sort(means_s, n);
    row->measured_s = fr_sorted_median(means_s, n);
    row->sure = fr_sorted_median_interval(means_s, n, 0.95, &row->measured_low_s,
                                          &row->measured_high_s);
    fr_sort(row->time_s, (size_t)row->n_samples);
    free(means_s);
    return FR_OK;
}

fr_status fr_validate_read(const char *path, struct fr_validation *v, struct fr_error *err) {
    struct reading r = {.v = v};
    snprintf(v->path, sizeof v->path, "%s", path);
    fr_status status =
        fr_journal_read_each(path, FR_FILE_MAX_B, &r.journal, read_line, &r, err);
    fr_journal_free(&r.journal);
    FR_TRY(status);
    if (v->n_rows == 0) return fr_fail(err, FR_ERR_INPUT, path, "holds no case");
    for (int i = 0; i < v->n_rows; i++) {
        FR_TRY(summarise(&v->rows[i], err));
        FR_TRY(halve(&v->rows[i], err));
    }
    return FR_OK;
}
