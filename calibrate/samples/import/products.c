/* Tables of matrix products, one a row: m, n, k, a time, and where they say so batch, dtype and whose they are.
 *
 *  m x n is the result, k the inner dimension.  Products of several processors are never one fit, so that the
 *  line says which: `--only gpu=NAME`, as of other columns of which not all rows are wanted. */
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "calibrate/samples/import_text.h"

enum { NAMES_SHOWN = 6 };

/* Of each the first that the table has. */
static const char *const m_names[] = {"m", "M", NULL}, *const n_names[] = {"n", "N", NULL},
                         *const k_names[] = {"k", "K", NULL},
                         *const batch_names[] = {"batch", "b", NULL},
                         *const owners[] = {"gpu",         "processor", "device",
                                            "accelerator", "system",    NULL};
static const struct {
    const char *name;
    double unit_s;
} times[] = {{"time_s", 1},
             {"time_ms", 1e-3},
             {"time_us", 1e-6},
             {"measured_time_us", 1e-6},
             {"derived_time_us", 1e-6}};
enum { TIMES = sizeof times / sizeof *times };

struct table {
    struct fr_csv csv;
    const char *m, *n, *k, *batch, *owner, *time; /* columns; NULL: none */
    double unit_s;
};

static const char *first_of(const struct fr_csv *csv, const char *const *names) {
    for (; *names; names++)
        if (fr_csv_find(csv, *names) >= 0) return *names;
    return NULL;
}

static fr_status find_columns(struct fr_import *in, struct table *t, struct fr_error *err) {
    t->m = first_of(&t->csv, m_names);
    t->n = first_of(&t->csv, n_names);
    t->k = first_of(&t->csv, k_names);
    t->batch = first_of(&t->csv, batch_names);
    t->owner = first_of(&t->csv, owners);
    for (int i = TIMES - 1; i >= 0; i--) {
        if (fr_csv_find(&t->csv, times[i].name) < 0) continue;
        t->time = times[i].name;
        t->unit_s = times[i].unit_s;
    }
    if (t->m && t->n && t->k && t->time) return FR_OK;
    return fr_import_refuse(in, 0, err,
                            "is no table of matrix products: expected the columns m, n, k and "
                            "time_s, time_ms or time_us");
}

/* Is the row among those that the line asks for? */
static bool wanted(const struct fr_import *in, const struct table *t, int row) {
    for (int i = 0; i < in->given.n_only; i++) {
        const char *only = in->given.only[i], *equals = strchr(only, '=');
        char column[64];
        snprintf(column, sizeof column, "%.*s", (int)(equals - only), only);
        const char *cell = fr_csv_get(&t->csv, row, column);
        if (!cell || strcmp(cell, equals + 1) != 0) return false;
    }
    return true;
}

static fr_status check_only(const struct fr_import *in, const struct table *t,
                            struct fr_error *err) {
    for (int i = 0; i < in->given.n_only; i++) {
        const char *only = in->given.only[i], *equals = strchr(only, '=');
        char column[64];
        if (!equals || equals == only || equals - only >= (long)sizeof column)
            return fr_fail(err, FR_ERR_USAGE, "--only", "\"%.60s\" is not COLUMN=VALUE", only);
        snprintf(column, sizeof column, "%.*s", (int)(equals - only), only);
        if (fr_csv_find(&t->csv, column) < 0)
            return fr_fail(err, FR_ERR_USAGE, "--only", "%s has no column \"%.60s\"", in->name,
                           column);
    }
    return FR_OK;
}

/* Products of several machines are refused, with their names. */
static fr_status one_owner(const struct fr_import *in, const struct table *t,
                           struct fr_error *err) {
    const char *name[NAMES_SHOWN];
    char list[400] = "";
    size_t used = 0;
    int n = 0;
    for (int row = 0; t->owner && row < t->csv.n_rows; row++) {
        const char *cell = fr_csv_get(&t->csv, row, t->owner);
        int k = 0;
        if (!wanted(in, t, row)) continue;
        while (k < n && strcmp(name[k], cell) != 0) k++;
        if (k < n || n == NAMES_SHOWN) continue;
        name[n++] = cell;
        fr_line_addf(list, sizeof list, &used, "%s\"%.50s\"", n > 1 ? ", " : "", cell);
    }
    if (n < 2) return FR_OK;
    return fr_import_refuse(
        in, 0, err,
        "holds products of several machines, which are never one fit (%s%s); "
        "choose with --only %s=NAME",
        list, n == NAMES_SHOWN ? ", ..." : "", t->owner);
}

/* @return -1 where neither the row nor the line says it, or says one that is not known */
static int dtype_of(const struct fr_import *in, const struct table *t, int row) {
    const char *said = fr_csv_get(&t->csv, row, "dtype");
    if (!said) said = in->given.dtype;
    for (int d = 0; said && d < FR_DTYPE_COUNT; d++)
        if (strcmp(said, fr_dtype_names[d]) == 0) return d;
    return -1;
}

static bool is_count(const char *cell, int64_t *out) {
    return fr_word_integer(cell, out) && *out >= 1 && *out <= (int64_t)1 << 31;
}

static fr_status take_row(struct fr_import *in, const struct table *t, int row,
                          struct fr_error *err) {
    const int line = t->csv.line[row], dtype = dtype_of(in, t, row);
    struct fr_sample_gemm s = {.batch = 1};
    double value = 0;
    if (dtype < 0) {
        fr_import_note(in, line, "left out: of a dtype that is not known");
        return FR_OK;
    }
    bool shaped = is_count(fr_csv_get(&t->csv, row, t->m), &s.m) &&
                  is_count(fr_csv_get(&t->csv, row, t->n), &s.n) &&
                  is_count(fr_csv_get(&t->csv, row, t->k), &s.k) &&
                  (!t->batch || is_count(fr_csv_get(&t->csv, row, t->batch), &s.batch));
    bool timed = fr_word_number(fr_csv_get(&t->csv, row, t->time), &value) &&
                 value * t->unit_s >= FR_SAMPLE_TIME_MIN_S &&
                 value * t->unit_s <= FR_SAMPLE_TIME_MAX_S;
    if (!shaped || !timed) {
        fr_import_note(in, line, "left out: expected %s",
                       shaped ? "a time above 0" : "a shape");
        return FR_OK;
    }
    s.dtype = (fr_dtype)dtype;
    s.time_s = value * t->unit_s;
    in->n_rows++;
    fr_status status = s.batch > 1 ? fr_samples_add_batched(in->samples, &s)
                                   : fr_samples_add_gemm(in->samples, &s);
    return status == FR_OK ? FR_OK : fr_fail(err, status, in->name, "does not fit in memory");
}

static fr_status read(struct fr_import *in, struct fr_error *err) {
    struct table t = {.m = NULL};
    in->has_sources = true; /* products have none */
    fr_status status = fr_csv_parse(in->text, in->length, in->name, &t.csv, err);
    if (status == FR_OK) status = find_columns(in, &t, err);
    if (status == FR_OK) status = check_only(in, &t, err);
    if (status == FR_OK) status = one_owner(in, &t, err);
    if (status == FR_OK && !in->given.dtype && fr_csv_find(&t.csv, "dtype") < 0)
        status = fr_import_refuse(in, 0, err,
                                  "does not say the dtype of its products: --dtype bf16, say");
    for (int row = 0; row < t.csv.n_rows && status == FR_OK; row++)
        if (wanted(in, &t, row)) status = take_row(in, &t, row, err);
    fr_csv_free(&t.csv);
    return status;
}

const struct fr_importer fr_importer_products = {
    .name = "products",
    .spelling = "products",
    .reads = "CSV tables of matrix products: m, n, k, time_s (_ms, _us), batch, dtype",
    .read = read,
};
