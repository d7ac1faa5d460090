#include "answer/page/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/page/choice.h"
#include "answer/page/page.h"
#include "answer/page/table.h"
#include "models/outcome/fits/fits.h"
#include "plots/html.h"
#include "plots/paper/sheet.h"

enum { DEPTH_MAX = 4 };

/* Which pictures are of which result. */
static const struct {
    const char *kind;
    const struct fr_figure *figure[4];
} pictures[] = {
    {"search",
     {&fr_figure_pareto, &fr_figure_breakdown, &fr_figure_energy_time, &fr_figure_frontier}},
    {"outcome", {&fr_figure_breakdown}},
    {"clusters", {&fr_figure_clusters}},
    {"quality", {&fr_figure_quality}},
    {"validate", {&fr_figure_validate}},
    {"score", {&fr_figure_score}},
    {"iterations", {&fr_figure_ghost}},
    {"fit", {&fr_figure_fit, &fr_figure_gemm}}};

static void put_pictures(const char *kind, const struct fr_json *root, struct fr_text *html,
                         struct fr_page_gaps *gaps) {
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        for (int k = 0; strcmp(pictures[i].kind, kind) == 0 && k < 4; k++)
            if (pictures[i].figure[k]) fr_page_figure(pictures[i].figure[k], root, html, gaps);
}

/* The papers' figures, of rows that are of a paper. */
static void put_sheets(const struct fr_json *root, struct fr_text *html,
                       struct fr_page_gaps *gaps) {
    struct fr_paper_rows rows;
    struct fr_error err = {0};
    fr_status status = fr_paper_rows_read(root, &rows, &err);
    if (status != FR_OK) fr_page_gap("the figures of the paper", &err, html, gaps);
    for (const struct fr_sheet *s = fr_sheets; status == FR_OK && s->name; s++) {
        struct fr_text svg = {0};
        const struct fr_figure_options o = {.output = "page.svg", .into = &svg};
        struct fr_picture p;
        if (strcmp(s->paper, rows.paper) != 0 || !fr_sheet_told(s, &rows)) continue;
        fr_picture_begin(&p, 1, 1);
        p.o = &o;
        fr_sheet_draw(s, &rows, &p);
        fr_status drawn = fr_picture_end(&p, FR_OK, &o, &err);
        if (drawn == FR_OK && svg.failed)
            drawn = fr_fail(&err, FR_ERR_NOMEM, NULL, "out of memory");
        if (drawn == FR_OK)
            fr_page_svg(svg.data, svg.length, s->title, html);
        else
            fr_page_gap(s->title, &err, html, gaps);
        fr_text_free(&svg);
    }
    fr_paper_rows_free(&rows);
}

/* ---- numbers ---------------------------------------------------------------------------------- */

static void put_heading(const char *key, int depth, struct fr_text *html) {
    struct fr_text words = {0};
    fr_page_words(key, &words);
    fr_html_addf(html, depth < 1 ? "<h2>%s</h2>\n" : "<h3>%s</h3>\n", fr_text_get(&words));
    fr_text_free(&words);
}

/* A list of plain words or numbers, joined. */
static bool put_list(const struct fr_json *list, struct fr_text *text) {
    for (int64_t i = 0; i < fr_json_array_length(list); i++) {
        struct fr_json one = fr_json_element(list, i);
        const char *word = NULL;
        double number = 0;
        if (i) fr_text_addf(text, ", ");
        if (fr_json_is_string(&one) && fr_json_text(&one, &word, NULL) == FR_OK)
            fr_text_addf(text, "%s", word);
        else if (fr_json_is_number(&one) &&
                 fr_json_number(&one, -HUGE_VAL, HUGE_VAL, &number, NULL) == FR_OK)
            fr_text_addf(text, "%.6g", number);
        else
            return false;
    }
    return true;
}

/* A bar for each part of a whole whose parts are seconds: where the iteration goes. */
static void put_bar(double value, double whole, struct fr_text *html) {
    if (whole > 0 && value >= 0)
        fr_html_addf(html,
                     "<td class=l><span class=b style=\"width:%.1fem\"></span> %.1f %%</td>",
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
    struct fr_text text = {0}, words = {0};
    double number = NAN;
    bool told = fr_json_is_array(&value) ? put_list(&value, &text) && text.length
                                         : fr_page_value(object, name, key, &text, &number);
    if (told) {
        fr_page_words(key, &words);
        fr_html_addf(html, "<tr><th class=l>%s</th><td class=l>%s</td>", fr_text_get(&words),
                     fr_text_get(&text));
        put_bar(number, whole, html);
        fr_text_addf(html, "</tr>\n");
    }
    fr_text_free(&text), fr_text_free(&words);
}

static void put_facts(const struct fr_json *object, const char *name, struct fr_text *html) {
    double whole = strcmp(name, "breakdown_s") == 0 ? sum_of(object) : 0;
    struct fr_text rows = {0};
    for (const char *key = fr_json_key_after(object, NULL); key;
         key = fr_json_key_after(object, key))
        if (strcmp(key, "schema") != 0) put_fact(object, name, key, whole, &rows);
    if (rows.length) {
        fr_text_addf(html, "<table>\n");
        fr_text_add(html, rows.data, rows.length);
        fr_text_addf(html, "</table>\n");
    }
    html->failed = html->failed || rows.failed;
    fr_text_free(&rows);
}

/* ---- sections --------------------------------------------------------------------------------- */

static bool is_table(const struct fr_json *list) {
    struct fr_json first = fr_json_element(list, 0);
    return fr_json_array_length(list) > 0 && fr_json_is_object(&first);
}

/* What is there for the record stays folded. */
static bool is_folded(const char *key) {
    static const char *const folded[] = {"plan", "provenance", "model", "varied",
                                         "held", "space",      "lossy", NULL};
    for (int i = 0; folded[i]; i++)
        if (strcmp(key, folded[i]) == 0) return true;
    return false;
}

static void put_object(const struct fr_json *object, const char *name, int depth,
                       struct fr_text *html);

static void put_member(const struct fr_json *value, const char *key, int depth,
                       struct fr_text *html) {
    bool object = fr_json_is_object(value);
    if (!object && !(fr_json_is_array(value) && is_table(value))) return;
    if (is_folded(key)) {
        fr_html_addf(html, "<details><summary>%s</summary>\n", key);
        put_object(value, key, depth + 1, html);
        fr_text_addf(html, "</details>\n");
        return;
    }
    put_heading(key, depth, html);
    if (object)
        put_object(value, key, depth + 1, html);
    else
        fr_page_table(value, html);
}

static void put_object(const struct fr_json *object, const char *name, int depth,
                       struct fr_text *html) {
    put_facts(object, name, html);
    if (depth > DEPTH_MAX) return;
    for (const char *key = fr_json_key_after(object, NULL); key;
         key = fr_json_key_after(object, key)) {
        struct fr_json value = fr_json_member(object, key);
        put_member(&value, key, depth, html);
    }
}

/* The plan that a page is about: a search's best, a simulation's, or the document itself. */
static struct fr_json plan_of(const struct fr_json *root) {
    struct fr_json best = fr_json_member(root, "best"), own = fr_json_member(root, "outcome");
    return fr_json_present(&own) ? own : fr_json_present(&best) ? best : *root;
}

/* How surely it fits, in a sentence. */
static void put_fits(const struct fr_json *root, struct fr_text *html) {
    struct fr_json outcome = plan_of(root), memory = fr_json_member(&outcome, "memory_B");
    if (!fr_json_is_object(&outcome) || !fr_json_is_object(&memory)) return;
    const struct fr_fits f = {
        .memory_B = fr_json_number_at(&outcome, "device_memory_B"),
        .needed_B = fr_json_number_at(&memory, "needed"),
        .needed_low_B = fr_json_number_at(&outcome, "memory_needed_low_B"),
        .needed_high_B = fr_json_number_at(&outcome, "memory_needed_high_B"),
        .probability = fr_json_number_at(&outcome, "fits")};
    char line[FR_FITS_LINE];
    if (isfinite(f.needed_B) && isfinite(f.probability))
        fr_html_addf(html, "<p>It <b>%s</b>.</p>\n", fr_fits_line(&f, line));
}

/* What the best plan hangs on, in a sentence, where the document says it. */
static void put_binding(const struct fr_json *root, struct fr_text *html) {
    struct fr_json best = fr_json_member(root, "best"),
                   explain = fr_json_member(root, "explain");
    struct fr_json outcome = plan_of(root);
    struct fr_json parts = fr_json_member(&outcome, "breakdown_s");
    const char *largest = "";
    double most = 0, whole = fr_json_is_object(&parts) ? sum_of(&parts) : 0;
    for (const char *key = whole > 0 ? fr_json_key_after(&parts, NULL) : NULL; key;
         key = fr_json_key_after(&parts, key))
        if (fr_json_number_at(&parts, key) > most)
            most = fr_json_number_at(&parts, key), largest = key;
    if (!(most > 0)) return;
    struct fr_text words = {0};
    fr_page_words(largest, &words);
    fr_html_addf(
        html, "<p>What binds%s: <b>%s</b>, %.1f %% of the iteration%s.</p>\n",
        fr_json_present(&best) ? " the best plan" : "", fr_text_get(&words), 100 * most / whole,
        fr_json_present(&explain) ? "; what would change it stands under \"explain\"" : "");
    fr_text_free(&words);
}

void fr_result_html(const struct fr_json *root, struct fr_text *html,
                    struct fr_page_gaps *gaps) {
    const char *schema = fr_json_text_at(root, "schema");
    char kind[32] = "";
    if (strncmp(schema, "forerun/", 8) == 0)
        snprintf(kind, sizeof kind, "%.*s", (int)strcspn(schema + 8, "/") & 31, schema + 8);
    put_binding(root, html);
    put_fits(root, html);
    if (strcmp(kind, "search") == 0) fr_page_choice(root, html);
    put_pictures(kind, root, html, gaps);
    if (strcmp(kind, "simulation") == 0) {
        struct fr_json outcome = fr_json_member(root, "outcome");
        put_pictures("outcome", &outcome, html, gaps);
    }
    if (strcmp(kind, "reproduce") == 0) put_sheets(root, html, gaps);
    put_object(root, "", 0, html);
}
