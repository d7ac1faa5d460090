#include "answer/page/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/page/chart.h"
#include "answer/page/opening.h"
#include "answer/page/plans.h"
#include "answer/page/table.h"
#include "answer/page/words.h"
#include "base/text/version.h"
#include "plots/paper/sheet.h"

enum { DEPTH_MAX = 4 };

/* The papers' figures, of rows that are of a paper. */
static void put_sheets(struct fr_page *page, const struct fr_json *root) {
    struct fr_paper_rows rows;
    struct fr_error err = {0};
    fr_status status = fr_paper_rows_read(root, &rows, &err);
    if (status != FR_OK) fr_page_gap(page, "the figures of the paper", &err);
    fr_html_addf(&page->html, "{div.sheets \n");
    for (const struct fr_sheet *s = fr_sheets; status == FR_OK && s->name; s++) {
        struct fr_text svg = {0};
        const struct fr_figure_options o = {.output = "page.svg", .into = &svg};
        struct fr_picture p;
        if (strcmp(s->paper, rows.paper) != 0 || !fr_sheet_stated(s, &rows)) continue;
        fr_picture_begin(&p, 1, 1);
        p.o = &o;
        fr_sheet_draw(s, &rows, &p);
        fr_status drawn = fr_picture_end(&p, FR_OK, &o, &err);
        if (drawn == FR_OK && svg.failed)
            drawn = fr_fail(&err, FR_ERR_NOMEM, NULL, "out of memory");
        if (drawn == FR_OK)
            fr_page_svg(page, svg.data, svg.length, s->title);
        else
            fr_page_gap(page, s->title, &err);
        fr_text_free(&svg);
    }
    fr_html_addf(&page->html, "{/div}\n");
    fr_paper_rows_free(&rows);
}

/* ---- sections --------------------------------------------------------------------------------- */

static bool is_table(const struct fr_json *list) {
    struct fr_json first = fr_json_element(list, 0);
    return fr_json_array_length(list) > 0 && fr_json_is_object(&first);
}

/* The answer is open; details for the record are folded. */
static bool is_folded(const char *key, int depth) {
    static const char *const open[] = {"answers",  "rows",     "plans",       "comparisons",
                                       "outcome",  "training", "explain",     "energy_J",
                                       "memory_B", "stages",   "breakdown_s", "checks",
                                       "forms",    "validity", "pairs",       NULL},
                             *const record[] = {"plan",   "provenance",     "lossy",
                                                "memory", "memory_moments", "bytes_per_rank",
                                                NULL};
    return depth == 0 ? fr_place_in(open, key) < 0 : fr_place_in(record, key) >= 0;
}

static void put_object(struct fr_page *page, const struct fr_json *object, const char *name,
                       int depth);

/* A table; of comparisons, which hold tables, each as sections of its own. */
static void put_rows(struct fr_page *page, const struct fr_json *list, const char *key,
                     int depth) {
    if (strcmp(key, "comparisons") != 0) {
        fr_page_table(list, &page->html);
        return;
    }
    for (int64_t i = 0; i < fr_json_array_length(list); i++) {
        struct fr_json one = fr_json_element(list, i);
        put_object(page, &one, key, depth + 1);
    }
}

static void put_member(struct fr_page *page, const struct fr_json *value, const char *key,
                       int depth) {
    bool object = fr_json_is_object(value), folded = is_folded(key, depth);
    struct fr_text words = {0};
    if (!object && !(fr_json_is_array(value) && is_table(value))) return;
    fr_page_words(key, &words);
    if (folded)
        fr_page_fold(page, fr_text_get(&words));
    else {
        fr_html_addf(&page->html, depth < 1 ? "{h2" : "{h3");
        fr_page_put_words(key, &page->html);
        fr_html_addf(&page->html, depth < 1 ? "{/h2}\n" : "{/h3}\n");
    }
    if (object)
        put_object(page, value, key, depth + 1);
    else
        put_rows(page, value, key, depth);
    if (folded) fr_page_unfold(page);
    fr_text_free(&words);
}

static void put_object(struct fr_page *page, const struct fr_json *object, const char *name,
                       int depth) {
    fr_page_facts(object, name, &page->html);
    if (depth > DEPTH_MAX) return;
    for (const char *key = fr_json_key_after(object, NULL); key;
         key = fr_json_key_after(object, key)) {
        struct fr_json value = fr_json_member(object, key);
        put_member(page, &value, key, depth);
    }
}

/* ---- a result ---------------------------------------------------------------------------------- */

const char *fr_result_kind(const struct fr_json *root, char kind[FR_RESULT_KIND]) {
    const char *schema = fr_json_text_at(root, "schema");
    bool ours = strncmp(schema, "forerun/", 8) == 0;
    snprintf(kind, FR_RESULT_KIND, "%.*s",
             ours ? (int)strcspn(schema + 8, "/") & (FR_RESULT_KIND - 1) : 0,
             ours ? schema + 8 : "");
    return kind;
}

/* Open sections, then what is folded. */
static void put_members(struct fr_page *page, const struct fr_json *root, bool folded) {
    for (const char *key = fr_json_key_after(root, NULL); key;
         key = fr_json_key_after(root, key)) {
        struct fr_json value = fr_json_member(root, key);
        if (is_folded(key, 0) == folded) put_member(page, &value, key, 0);
    }
}

void fr_result_sections(struct fr_page *page, const struct fr_json *root) {
    char kind[FR_RESULT_KIND];
    fr_result_kind(root, kind);
    fr_page_answer(page, root, kind);
    const size_t before = page->html.length;
    fr_page_charts(page, root, kind);
    if (strcmp(kind, "reproduce") == 0) put_sheets(page, root);
    fr_page_costs(page, root, kind);
    put_members(page, root, false);
    const bool is_bare = page->html.length == before; /* its numbers are all that it has */
    fr_html_addf(&page->html, is_bare ? "{h2 Numbers}\n" : "{h2 More}\n");
    if (!is_bare) fr_page_fold(page, "numbers of the whole");
    fr_page_facts(root, "", &page->html);
    if (!is_bare) fr_page_unfold(page);
    put_members(page, root, true);
    fr_page_appendix(page, root);
}

void fr_result_page(struct fr_page *page, const struct fr_json *root) {
    char kind[FR_RESULT_KIND];
    struct fr_text question = {0};
    fr_page_question(root, fr_result_kind(root, kind), &question);
    fr_page_begin(page, fr_text_get(&question));
    fr_text_free(&question);
    fr_result_sections(page, root);
    fr_html_addf(&page->html, "{p.note forerun %s, %s}\n", fr_version,
                 fr_json_text_at(root, "schema"));
    fr_page_end(page);
}
