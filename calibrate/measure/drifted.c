#include "calibrate/measure/drifted.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "calibrate/fit/speed.h"
#include "calibrate/samples/compare.h"
#include "trust/numbers/statistics.h"

static const double A_TENTH = 0.1, TWICE = 2;
enum { FEW = 3, POINT_B = 256 };

/* The value of @p word ("op=") in a key, cut at the next blank. */
static bool value_of(const char *key, const char *word, char out[32]) {
    char wanted[24];
    snprintf(wanted, sizeof wanted, " %s", word);
    const char *at = strstr(key, wanted);
    if (!at) return false;
    at += strlen(wanted);
    snprintf(out, 32, "%.*s", (int)strcspn(at, " }"), at);
    return true;
}

void fr_drifted_row_of(const char *key, char name[32]) {
    static const char *const apart[] = {"provenance", "source", "probe", "end", "point", NULL};
    char value[32] = "";
    snprintf(name, 32, "%.*s", (int)strcspn(key, " }"), key);
    for (int i = 0; apart[i]; i++)
        if (strcmp(name, apart[i]) == 0) {
            *name = '\0';
            return;
        }
    if (strcmp(name, "collective") == 0) {
        if (value_of(key, "groups=", value))
            snprintf(name, 32, "segmented");
        else if (value_of(key, "op=", value))
            snprintf(name, 32, "%s", value);
    } else if (strcmp(name, "gemm") == 0) {
        if (value_of(key, "batch=", value))
            snprintf(name, 32, "gemm_batched");
        else if (value_of(key, "dtype=", value) && strcmp(value, "fp64") == 0)
            snprintf(name, 32, "gemm_fp64");
    } else if (strcmp(name, "memory") == 0 && value_of(key, "kernel=", value) &&
               strcmp(value, "operands") == 0)
        snprintf(name, 32, "operands");
}

/* ---- which rows ------------------------------------------------------------------------------ */

static struct fr_drifted_row *row_called(struct fr_drifted *d, const char *name) {
    for (int i = 0; i < d->n; i++)
        if (strcmp(d->row[i].name, name) == 0) return &d->row[i];
    if (d->n == FR_DRIFTED_ROWS) return NULL;
    struct fr_drifted_row *row = &d->row[d->n++];
    *row = (struct fr_drifted_row){.ratio = 1};
    snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

static double half_width(const struct fr_known_point *p) {
    return p->own_half_width < 1e9 ? p->own_half_width : A_TENTH;
}

static double expected(const struct fr_known_point *then, const struct fr_known_point *now) {
    static const double NORMAL = 1.96;
    double t = then->n_launches > 1 ? gsl_cdf_tdist_Pinv(0.975, then->n_launches - 1) : NORMAL;
    double between =
        t * then->own_between * sqrt(1.0 / then->n_launches + 1.0 / now->n_launches);
    return hypot(hypot(half_width(then), half_width(now)), between);
}

/* Ratios of one row's points that both have; counts those outside what was expected. */
static int gather(const struct fr_known_points *earlier, const struct fr_known_points *later,
                  struct fr_drifted_row *row, double *ratio) {
    char name[32];
    for (size_t i = 0; i < later->n; i++) {
        const struct fr_known_point *now = &later->item[i], *then;
        fr_drifted_row_of(now->key, name);
        if (strcmp(name, row->name) != 0) continue;
        then = fr_known_points_get(earlier, now->key);
        if (!then) continue;
        ratio[row->points] = now->own_s / then->own_s;
        row->outside += fabs(log(ratio[row->points])) > expected(then, now);
        row->points++;
    }
    return row->points;
}

static void judge(struct fr_drifted_row *row, double *ratio) {
    if (row->points == 0) return;
    fr_sort(ratio, (size_t)row->points);
    row->ratio = fr_sorted_median(ratio, (size_t)row->points);
    double most = row->points < FEW ? TWICE : 1 + A_TENTH;
    row->drifted = fabs(log(row->ratio)) > log(most) && 2 * row->outside > row->points;
}

static fr_status find_interruptions(const struct fr_samples *samples,
                                    struct fr_interruptions *interruptions, double *lost) {
    struct fr_fit_speed speed = {0};
    fr_status status = fr_fit_speed_make(samples, &speed);
    if (status == FR_OK) status = fr_fit_interruptions(samples, &speed);
    *interruptions = speed.interruptions;
    *lost = speed.lost;
    fr_fit_speed_free(&speed);
    return status;
}

static fr_status find_load(const struct fr_samples *earlier, const struct fr_samples *later,
                           struct fr_drifted *d) {
    struct fr_interruptions then;
    FR_TRY(find_interruptions(earlier, &then, &d->lost_then));
    FR_TRY(find_interruptions(later, &d->now, &d->lost_now));
    d->busier = log1p(d->lost_now) > 2 * log1p(d->lost_then) + log1p(A_TENTH);
    return FR_OK;
}

fr_status fr_drifted_find(const struct fr_samples *earlier, const struct fr_samples *later,
                          struct fr_drifted *d) {
    struct fr_known_points then = {0}, now = {0};
    char name[32];
    *d = (struct fr_drifted){0};
    fr_status status = find_load(earlier, later, d);
    if (status == FR_OK) status = fr_known_points_find(earlier, &then);
    if (status == FR_OK) status = fr_known_points_find(later, &now);
    double *ratio = status == FR_OK ? fr_malloc(now.n + 1, sizeof *ratio) : NULL;
    if (status == FR_OK && !ratio) status = FR_ERR_NOMEM;
    for (size_t i = 0; status == FR_OK && i < now.n; i++) {
        fr_drifted_row_of(now.item[i].key, name);
        if (*name) row_called(d, name);
    }
    for (int i = 0; status == FR_OK && i < d->n; i++)
        if (gather(&then, &now, &d->row[i], ratio) > 0) judge(&d->row[i], ratio);
    free(ratio);
    fr_known_points_free(&then);
    fr_known_points_free(&now);
    return status;
}

bool fr_drifted_is_as_before(const struct fr_drifted *d) {
    bool drifted = false;
    for (int i = 0; i < d->n; i++) drifted = drifted || d->row[i].drifted;
    return !drifted && !d->busier;
}

void fr_drifted_names(const struct fr_drifted *d, char *names, size_t capacity) {
    size_t used = 0;
    *names = '\0';
    for (int i = 0; i < d->n; i++)
        if (d->row[i].drifted)
            fr_line_addf(names, capacity, &used, "%s%s", used ? "," : "", d->row[i].name);
}

/* ---- one file of two ------------------------------------------------------------------------- */

static bool listed(const char *names, const char *name) {
    size_t length = strlen(name);
    for (const char *at = names; *name && at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length])) return true;
    }
    return false;
}

/* The point of a line, "" of a line of none: samples name it in their head, a point's end as a text. */
static fr_status point_of_line(const char *line, size_t length, char key[POINT_B],
                               struct fr_error *err) {
    struct fr_json_document *document = NULL;
    struct fr_error ignored = {.status = FR_OK};
    char head[512];
    snprintf(head, sizeof head, "%.*s", (int)(length < 511 ? length : 511), line);
    char *tail = strstr(head, ", \"launch\"");
    if (tail) *tail = '\0';
    fr_sample_key(head, key, POINT_B);
    if (strncmp(key, "point ", 6) != 0) return FR_OK;
    *key = '\0';
    FR_TRY(fr_json_parse(line, length, "a point's line", &document, err));
    struct fr_json root = fr_json_root(document);
    fr_json_get_string(&root, "point", true, key, POINT_B, &ignored);
    fr_json_free(document);
    return FR_OK;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Points of a file, sorted. */
struct points {
    struct fr_text text; /* a line each */
    const char **key;
    size_t n;
};

static fr_status list_points(const char *samples, struct points *points, struct fr_error *err) {
    char key[POINT_B];
    for (const char *at = samples; *at;) {
        size_t length = strcspn(at, "\n");
        if (!at[length]) break; /* cut */
        FR_TRY(point_of_line(at, length, key, err));
        if (*key) fr_text_add(&points->text, key, strlen(key) + 1), points->n++;
        at += length + 1;
    }
    points->key = fr_calloc(points->n + 1, sizeof *points->key);
    if (points->text.failed || !points->key)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    const char *at = points->text.data;
    for (size_t i = 0; i < points->n; i++, at += strlen(at) + 1) points->key[i] = at;
    fr_sort_items(points->key, points->n, sizeof *points->key, by_text);
    return FR_OK;
}

static bool has_point(const struct points *points, const char *key) {
    return points->n &&
           bsearch(&key, points->key, points->n, sizeof *points->key, by_text) != NULL;
}

/* Is a row among @p names divided by the speed that probes say? */
static bool probed(const char *names) {
    static const char *const rows[] = {"gemm", "gemm_fp64", NULL};
    for (int i = 0; rows[i]; i++)
        if (listed(names, rows[i])) return true;
    return false;
}

/* From an earlier file, add all but the points that @p again has measured; points that it had
 * no time for stay.  From the later one (@p again NULL), add only those of the rows, and the
 * probes that they need. */
static fr_status add_lines(const char *text, const char *names, const struct points *again,
                           struct fr_text *merged, struct fr_error *err) {
    bool with_probes = !again && probed(names);
    char key[POINT_B], name[32];
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        if (!at[length]) break; /* cut */
        FR_TRY(point_of_line(at, length, key, err));
        fr_drifted_row_of(key, name);
        bool probe = with_probes && strncmp(at, "{\"kind\": \"probe\"", 16) == 0;
        bool of_them = listed(names, name);
        if (again ? !of_them || !has_point(again, key) : of_them || probe)
            fr_text_add(merged, at, length + 1);
        at += length + 1;
    }
    return merged->failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory") : FR_OK;
}

fr_status fr_drifted_replace(const char *earlier, const char *later, const char *names,
                             struct fr_text *merged, struct fr_error *err) {
    struct points points = {.n = 0};
    fr_status status = list_points(later, &points, err);
    if (status == FR_OK) status = add_lines(earlier, names, &points, merged, err);
    if (status == FR_OK) status = add_lines(later, names, NULL, merged, err);
    fr_text_free(&points.text);
    free(points.key);
    return status;
}
