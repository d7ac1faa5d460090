#include "answer/page/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/outcome/outcome_fact.h"
#include "answer/page/words.h"
#include "base/alloc.h"
#include "base/json/interval.h"
#include "base/sort.h"
#include "base/text/readable.h"
#include "plots/html.h"

enum { DAY_S = 86400, LONG_DAYS = 2, COLUMNS_MAX = 200, DEPTH_MAX = 4, SHOWN_MAX = 14 };

/* ---- values ----------------------------------------------------------------------------------- */

static bool ends_in(const char *key, const char *ending) {
    size_t n = strlen(key), m = strlen(ending);
    return n >= m && strcmp(key + n - m, ending) == 0;
}

/* Is it a share of a whole? */
static bool is_share(const char *key) {
    static const char *const endings[] = {"share",  "behind", "mfu",  "hfu",
                                          "margin", "error",  "fits", NULL};
    for (int i = 0; endings[i]; i++)
        if (ends_in(key, endings[i])) return true;
    return false;
}

/* Chances and what choices gain. */
static bool is_chance(const char *key) {
    static const char *const endings[] = {"probability_best",
                                          "probability_as_good",
                                          "probability_faster",
                                          "regret",
                                          "gain",
                                          "gain_low",
                                          "gain_high",
                                          NULL};
    for (int i = 0; endings[i]; i++)
        if (ends_in(key, endings[i])) return true;
    return false;
}

const char *fr_page_number(double value, int decimals, char out[FR_PAGE_NUMBER]) {
    char plain[40];
    bool short_form = decimals < 0 && (fabs(value) < 1000 || fabs(value) >= 1e15);
    if (short_form || fabs(value) >= 1e15)
        snprintf(plain, sizeof plain, "%.4g", value);
    else
        snprintf(plain, sizeof plain, "%.*f", decimals < 0 ? 0 : decimals, value);
    return fr_group_thousands(plain, out, FR_PAGE_NUMBER);
}

/* The unit is said by the last part of "breakdown_s.compute" that has one. */
static void put_number(const char *path, double value, struct fr_text *text) {
    fr_quantity quantity;
    char copy[FR_PAGE_PATH], out[FR_PAGE_NUMBER];
    snprintf(copy, sizeof copy, "%s", path);
    for (;;) {
        char *dot = strrchr(copy, '.');
        if (fr_unit_of(dot ? dot + 1 : copy, strlen(dot ? dot + 1 : copy), &quantity)) {
            if (quantity == FR_QUANTITY_TIME && value >= LONG_DAYS * DAY_S)
                fr_text_addf(text, "%s days", fr_page_number(value / DAY_S, 1, out));
            else
                fr_text_addf(text, "%s", fr_quantity_format(value, quantity, out, sizeof out));
            return;
        }
        if (!dot) break;
        *dot = '\0';
    }
    if (strncmp(path, "bytes_per_rank", 14) == 0)
        fr_text_addf(text, "%s", fr_quantity_format(value, FR_QUANTITY_SIZE, out, sizeof out));
    else if (is_share(path) || is_chance(path))
        fr_text_addf(text, "%.4g %%", 100 * value);
    else
        fr_text_addf(text, "%s", fr_page_number(value, -1, out));
}

static bool put_scalar(const struct fr_json *object, const char *key, const char *path,
                       struct fr_text *text, double *number) {
    struct fr_json value = fr_json_member(object, key);
    bool yes = false;
    *number = NAN;
    if (fr_json_is_object(&value) || fr_json_is_array(&value) || !fr_json_present(&value))
        return false;
    if (fr_json_is_number(&value)) {
        *number = fr_json_number_at(object, key);
        put_number(path, *number, text);
    } else if (fr_json_is_string(&value))
        fr_text_addf(text, "%s", fr_json_text_at(object, key));
    else if (!fr_json_is_null(&value) &&
             fr_json_get_bool(object, key, true, &yes, NULL) == FR_OK)
        fr_text_addf(text, "%s", yes ? "yes" : "no");
    else
        fr_text_addf(text, "-");
    return true;
}

static bool put_value(const struct fr_json *object, const char *name, const char *key,
                      struct fr_text *text, double *number) {
    char path[FR_PAGE_PATH];
    snprintf(path, sizeof path, "%s.%s", name, key);
    return put_scalar(object, key, path, text, number);
}

/* ---- facts ------------------------------------------------------------------------------------ */

/* A list of plain words or numbers, joined. */
static bool put_list(const struct fr_json *list, struct fr_text *text) {
    for (int64_t i = 0; i < fr_json_array_length(list); i++) {
        struct fr_json one = fr_json_element(list, i);
        const char *word = NULL;
        double number = 0;
        char shown[FR_PAGE_NUMBER];
        if (i) fr_text_addf(text, ", ");
        if (fr_json_is_string(&one) && fr_json_text(&one, &word, NULL) == FR_OK)
            fr_text_addf(text, "%s", word);
        else if (fr_json_is_number(&one) &&
                 fr_json_number(&one, -HUGE_VAL, HUGE_VAL, &number, NULL) == FR_OK)
            fr_text_addf(text, "%s", fr_page_number(number, -1, shown));
        else
            return false;
    }
    return true;
}

/* A bar for each part of a whole whose parts are seconds: where the iteration goes. */
static void put_bar(double value, double whole, struct fr_text *html) {
    if (whole > 0 && value >= 0)
        fr_html_addf(html, "{td.l {span.b[style=\"width:%.1fem\"] } %.1f %%}",
                     12 * value / whole, 100 * value / whole);
}

static double sum_of(const struct fr_json *object) {
    double sum = 0;
    for (const char *key = fr_json_key_after(object, NULL); key;
         key = fr_json_key_after(object, key)) {
        double value = fr_json_number_at(object, key);
        if (isfinite(value)) sum += value;
    }
    return sum;
}

/* A row of an object's own numbers and words; @p whole: what the numbers are parts of, or 0. */
static void put_fact(const struct fr_json *object, const char *name, const char *key,
                     double whole, struct fr_text *html) {
    struct fr_json value = fr_json_member(object, key);
    struct fr_text text = {0};
    char path[FR_PAGE_PATH];
    double number = NAN;
    bool stated = fr_json_is_array(&value) ? put_list(&value, &text) && text.length
                                           : put_value(object, name, key, &text, &number);
    if (stated && !fr_json_is_null(&value)) {
        snprintf(path, sizeof path, "%s.%s", name, key);
        fr_html_addf(html, "{tr {th.l");
        fr_page_put_words_of(key, path, html);
        fr_html_addf(html, "{/th}{td.l %s}", fr_text_get(&text));
        put_bar(number, whole, html);
        fr_html_addf(html, "{/tr}\n");
    }
    fr_text_free(&text);
}

void fr_page_facts(const struct fr_json *object, const char *name, struct fr_text *html) {
    double whole = strcmp(name, "breakdown_s") == 0 ? sum_of(object) : 0;
    struct fr_text rows = {0};
    for (const char *key = fr_json_key_after(object, NULL); key;
         key = fr_json_key_after(object, key))
        if (strcmp(key, "schema") != 0 && strcmp(key, "elapsed_s") != 0)
            put_fact(object, name, key, whole, &rows);
    if (rows.length) {
        fr_html_addf(html, "{div.t {table\n");
        fr_text_add(html, rows.data, rows.length);
        fr_html_addf(html, "{/table}{/div}\n");
    }
    html->failed = html->failed || rows.failed;
    fr_text_free(&rows);
}

/* ---- columns ---------------------------------------------------------------------------------- */

struct column {
    char path[FR_PAGE_PATH];
    char *first;   /* text in the first row */
    bool text;     /* no number, so it begins at the left */
    bool differs;  /* not all rows say the same */
    int64_t count; /* rows that tell it */
};

struct columns {
    struct column item[COLUMNS_MAX];
    int n;
};

static struct column *find(struct columns *c, const char *path) {
    for (int i = 0; i < c->n; i++)
        if (strcmp(c->item[i].path, path) == 0) return &c->item[i];
    if (c->n == COLUMNS_MAX) return NULL;
    snprintf(c->item[c->n].path, FR_PAGE_PATH, "%s", path);
    return &c->item[c->n++];
}

static void note_value(struct columns *c, const char *path, double number,
                       struct fr_text *text) {
    struct column *column = find(c, path);
    if (column) {
        column->text =
            column->text || (!isfinite(number) && strcmp(fr_text_get(text), "-") != 0);
        if (column->count++ == 0) {
            column->first = text->data;
            *text = (struct fr_text){0};
        } else
            column->differs = column->differs || !column->first ||
                              strcmp(column->first, fr_text_get(text)) != 0;
    }
    fr_text_free(text);
}

static void traversal(struct columns *c, const struct fr_json *object, const char *prefix,
                      int depth) {
    for (const char *key = fr_json_key_after(object, NULL); key;
         key = fr_json_key_after(object, key)) {
        struct fr_json value = fr_json_member(object, key);
        char path[FR_PAGE_PATH];
        struct fr_text text = {0};
        double number;
        size_t used = 0;
        fr_line_addf(path, sizeof path, &used, "%s%s%s", prefix, *prefix ? "." : "", key);
        if (fr_json_is_object(&value) && depth < DEPTH_MAX)
            traversal(c, &value, path, depth + 1);
        else if (put_scalar(object, key, path, &text, &number))
            note_value(c, path, number, &text);
    }
}

/* The object that holds the last key of @p path, and that key. */
static const char *follow(struct fr_json *object, const char *path) {
    const char *dot;
    while ((dot = strchr(path, '.')) != NULL) {
        char key[FR_PAGE_PATH];
        snprintf(key, sizeof key, "%.*s", (int)(dot - path), path);
        struct fr_json inner = fr_json_member(object, key);
        if (!fr_json_present(&inner)) break; /* a key with a dot in it */
        inner.parent = NULL;                 /* which is *object, that it takes the place of */
        *object = inner;
        path = dot + 1;
    }
    return path;
}

/* ---- the table -------------------------------------------------------------------------------- */

/* Keys that people look for first stand first. */
static int rank_of(const char *path) {
    static const char *const first[] = {"id",
                                        "name",
                                        "label",
                                        "configuration.label",
                                        "cluster",
                                        "model",
                                        "training.days",
                                        "training.energy_kWh",
                                        "training.price",
                                        "training.carbon_kg",
                                        "outcome.mfu",
                                        "outcome.tokens_per_s",
                                        "plan.method",
                                        "plan",
                                        "ranks",
                                        "published",
                                        "ours",
                                        "measured_s",
                                        "predicted_s",
                                        "error",
                                        "unit",
                                        "role",
                                        "holds"};
    enum { FIRST = sizeof first / sizeof *first };
    int facts[FR_OUTCOME_FACTS];
    int n = fr_outcome_placed(offsetof(struct fr_outcome_fact, page), facts);
    for (int i = 0; i < FIRST; i++)
        if (strcmp(path, first[i]) == 0) return i;
    for (int i = 0; i < n; i++)
        if (strcmp(path, fr_outcome_facts[facts[i]].name) == 0) return FIRST + i;
    return strncmp(path, "plan.", 5) == 0 ? 14 : 99;
}

static int by_rank(const void *a, const void *b) {
    const struct column *const *x = a, *const *y = b;
    int p = rank_of((*x)->path), q = rank_of((*y)->path);
    return p != q ? (p > q) - (p < q) : (*x > *y) - (*x < *y);
}

static void put_cell(const struct fr_json *row, const struct column *column, bool more,
                     struct fr_text *html) {
    struct fr_json object = *row;
    struct fr_text text = {0};
    double number;
    const char *key = follow(&object, column->path);
    if (!put_scalar(&object, key, column->path, &text, &number)) fr_text_addf(&text, "-");
    const char *hidden = more ? "m" : "";
    if (isfinite(number))
        fr_html_addf(html, "{td.%s[data-v=\"%.17g\"] %s}", hidden, number, fr_text_get(&text));
    else
        fr_html_addf(html, "{td.%s.%s %s}", column->text ? "l" : "", hidden,
                     fr_text_get(&text));
    fr_text_free(&text);
}

static void put_alike(const struct columns *c, struct fr_text *html) {
    int n = 0;
    for (int i = 0; i < c->n; i++) {
        const struct column *column = &c->item[i];
        struct fr_text words = {0};
        if (column->differs) continue;
        fr_page_words(column->path, &words);
        fr_html_addf(html, n++ ? "; %s %s" : "{details {summary The same in all rows}%s %s",
                     fr_text_get(&words), column->first ? column->first : "-");
        fr_text_free(&words);
    }
    if (n) fr_html_addf(html, "{/details}\n");
}

void fr_page_rows_begin(const char *const heads[], int n_left, struct fr_text *html) {
    fr_html_addf(html, "{div.t {table.s {thead {tr");
    for (int i = 0; heads[i]; i++)
        fr_html_addf(html, "{th.%s %s}", i < n_left ? "l" : "", heads[i]);
    fr_html_addf(html, "{/tr}{/thead}{tbody\n");
}

void fr_page_rows_end(struct fr_text *html) { fr_html_addf(html, "{/tbody}{/table}{/div}\n"); }

static void put_table(const struct fr_json *list, struct column *const *shown, int n,
                      struct fr_text *html) {
    fr_html_addf(html, "{div.t {table.s {thead {tr");
    for (int i = 0; i < n; i++) {
        fr_html_addf(html, "{th.%s.%s", shown[i]->text ? "l" : "", i < SHOWN_MAX ? "" : "m");
        fr_page_put_words(shown[i]->path, html);
        fr_html_addf(html, "{/th}");
    }
    fr_html_addf(html, "{/tr}{/thead}{tbody\n");
    for (int64_t r = 0; r < fr_json_array_length(list); r++) {
        struct fr_json row = fr_json_element(list, r);
        fr_html_addf(html, "{tr");
        for (int i = 0; i < n; i++) put_cell(&row, shown[i], i >= SHOWN_MAX, html);
        fr_html_addf(html, "{/tr}\n");
    }
    fr_page_rows_end(html);
}

void fr_page_table(const struct fr_json *list, struct fr_text *html) {
    int64_t rows = fr_json_array_length(list);
    struct column *shown[COLUMNS_MAX];
    struct columns *c = fr_calloc(1, sizeof *c);
    int n = 0;
    if (!c) html->failed = true;
    for (int64_t r = 0; c && r < rows; r++) {
        struct fr_json row = fr_json_element(list, r);
        traversal(c, &row, "", 0);
    }
    for (int i = 0; c && i < c->n; i++) {
        c->item[i].differs = c->item[i].differs || rows == 1 || c->item[i].count < rows;
        if (c->item[i].differs) shown[n++] = &c->item[i];
    }
    fr_sort_items(shown, (size_t)n, sizeof *shown, by_rank);
    if (c) put_alike(c, html);
    if (n) put_table(list, shown, n, html);
    for (int i = 0; c && i < c->n; i++) free(c->item[i].first);
    free(c);
}
