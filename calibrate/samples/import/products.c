/* Tables of matrix products, one a row: m, n, k, a time, and where they say so batch, dtype and whose they are.
 *
 *  m x n is the result, k the inner dimension.  Products of several processors are never one fit, so that the
 *  line says which: `--only gpu=NAME`, as of other columns of which not all rows are wanted. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "calibrate/samples/import_text.h"

enum { NAMES_SHOWN = 6 };

/* The first name of each that the table has counts. */
static const char *const m_names[] = {"m", "M", NULL}, *const n_names[] = {"n", "N", NULL},
                         *const k_names[] = {"k", "K", NULL},
                         *const batch_names[] = {"batch", "b", "batch_count", NULL},
                         *const dtype_names[] = {"dtype", "type", "precision", "data_type",
                                                 NULL},
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
static const struct {
    const char *name;
    double unit_flop_per_s;
} rates[] = {{"tflops", 1e12}, {"TFLOPS", 1e12},       {"TFLOP/s", 1e12},
             {"TFLOPs", 1e12}, {"tflops_per_s", 1e12}, {"tflop_per_s", 1e12},
             {"TFlops", 1e12}, {"tflops_mean", 1e12},  {"GFLOPS", 1e9},
             {"gflops", 1e9},  {"GFLOP/s", 1e9}};
enum { RATES = sizeof rates / sizeof *rates };

struct table {
    struct fr_csv csv;
    const char *m, *n, *k, *batch, *owner, *time, *rate; /* columns; NULL: none */
    const char *time_other, *rate_other, *dtype;
    double unit_s, unit_flop_per_s;
};

static const char *first_of(const struct fr_csv *csv, const char *const *names) {
    for (; *names; names++)
        if (fr_csv_find(csv, *names) >= 0) return *names;
    return NULL;
}

/* "Time (ms)" as "timems" */
static void plain(const char *name, char *out, size_t capacity) {
    size_t n = 0;
    for (; *name && n + 1 < capacity; name++)
        if (isalnum((unsigned char)*name)) out[n++] = (char)tolower((unsigned char)*name);
    out[n] = '\0';
}

/* Seconds of the unit of a column of times of any name ("latency_ms", "Runtime (us)", "us"); 0: it is none. */
static double time_unit_s(const char *name) {
    static const char *const begins[] = {"time",     "latency", "runtime",  "elapsed",
                                         "duration", "avgtime", "meantime", NULL};
    static const struct {
        const char *name;
        double unit_s;
    } units[] = {{"us", 1e-6}, {"usec", 1e-6}, {"ms", 1e-3}, {"msec", 1e-3},
                 {"ns", 1e-9}, {"s", 1},       {"sec", 1}};
    if (strcmp(name, "us") == 0 || strcmp(name, "ms") == 0) return *name == 'u' ? 1e-6 : 1e-3;
    for (int i = 0; begins[i]; i++) {
        size_t n = strlen(begins[i]);
        for (size_t k = 0; strncmp(name, begins[i], n) == 0 && k < sizeof units / sizeof *units;
             k++)
            if (strcmp(name + n, units[k].name) == 0) return units[k].unit_s;
    }
    return 0;
}

/* Columns of other names, where the table has one of a kind. */
static void find_others(struct table *t) {
    int times_n = 0, rates_n = 0;
    for (int i = 0; i < t->csv.n_columns; i++) {
        char name[64];
        plain(t->csv.column[i], name, sizeof name);
        double unit_s = time_unit_s(name);
        const char *flops = strstr(name, "flop");
        bool rate = flops && flops > name && (flops[-1] == 't' || flops[-1] == 'g') &&
                    !strstr(name, "byte");
        if (!t->time && unit_s > 0 && times_n++ == 0)
            t->time_other = t->csv.column[i], t->unit_s = unit_s;
        if (!t->rate && rate && rates_n++ == 0) {
            t->rate_other = t->csv.column[i];
            t->unit_flop_per_s = flops[-1] == 't' ? 1e12 : 1e9;
        }
    }
    if (times_n == 1) t->time = t->time_other;
    if (rates_n == 1) t->rate = t->rate_other;
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
    for (int i = RATES - 1; i >= 0; i--) {
        if (fr_csv_find(&t->csv, rates[i].name) < 0) continue;
        t->rate = rates[i].name;
        t->unit_flop_per_s = rates[i].unit_flop_per_s;
    }
    find_others(t);
    t->dtype = first_of(&t->csv, dtype_names);
    if (t->m && t->n && t->k && (t->time || t->rate)) return FR_OK;
    return fr_import_refuse(in, 0, err,
                            "is no table of matrix products: expected the columns m, n, k and "
                            "time_s, time_ms, time_us or tflops");
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

static bool is_count(const char *cell, int64_t *out) {
    return fr_word_integer(cell, out) && *out >= 1 && *out <= (int64_t)1 << 31;
}

static fr_status take_row(struct fr_import *in, const struct table *t, int row,
                          struct fr_error *err) {
    const int line = t->csv.line[row];
    struct fr_import_product p = {
        .batch = 1, .dtype = t->dtype ? fr_csv_get(&t->csv, row, t->dtype) : NULL};
    double value = 0;
    bool shaped = is_count(fr_csv_get(&t->csv, row, t->m), &p.m) &&
                  is_count(fr_csv_get(&t->csv, row, t->n), &p.n) &&
                  is_count(fr_csv_get(&t->csv, row, t->k), &p.k) &&
                  (!t->batch || is_count(fr_csv_get(&t->csv, row, t->batch), &p.batch));
    if (!shaped) {
        fr_import_note(in, line, "left out: expected a shape");
        return FR_OK;
    }
    if (t->time && fr_word_number(fr_csv_get(&t->csv, row, t->time), &value) && value > 0)
        p.time_s = value * t->unit_s;
    if (t->rate && fr_word_number(fr_csv_get(&t->csv, row, t->rate), &value) && value > 0)
        p.rate_flop_per_s = value * t->unit_flop_per_s;
    return fr_import_product(in, line, &p, err);
}

static fr_status read(struct fr_import *in, struct fr_error *err) {
    struct table t = {.m = NULL};
    in->has_sources = true; /* products have none */
    struct fr_text csv = {0};
    fr_import_as_csv(in, &csv);
    fr_status status = csv.failed
                           ? FR_ERR_NOMEM
                           : fr_csv_parse(fr_text_get(&csv), csv.length, in->name, &t.csv, err);
    fr_text_free(&csv);
    if (status == FR_OK) status = find_columns(in, &t, err);
    if (status == FR_OK) status = check_only(in, &t, err);
    if (status == FR_OK) status = one_owner(in, &t, err);
    if (status == FR_OK && !in->given.dtype && !t.dtype)
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
    .reads =
        "CSV tables of matrix products: m, n, k, time_s (_ms, _us) or tflops, batch, dtype",
    .read = read,
};
