/* Results of a fit are put into tables of JSON, and a page shows them as it shows any
 * result's. */
#include "calibrate/judge/calibration_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/page/chart.h"
#include "answer/page/table.h"
#include "answer/page/words.h"
#include "calibrate/samples/samples.h"

static const char *const forms[] = {"log", "segments", "algorithm", "similarity", NULL};

/* ---- rows -------------------------------------------------------------------------------------- */

typedef void put_rows_fn(struct fr_json_writer *w, const struct fr_json *root);

static void add_copy(struct fr_json_writer *w, const struct fr_json *object, const char *key) {
    struct fr_json value = fr_json_member(object, key);
    if (fr_json_present(&value)) {
        fr_json_key(w, key);
        fr_json_put_copy(w, &value);
    }
}

/* Residuals, and errors on what was held out, of every form. */
static void put_forms(struct fr_json_writer *w, const struct fr_json *root) {
    static const char *const sets[] = {"residuals", "held_sizes", "held_ranks", NULL};
    static const char *const titles[] = {"fitted points", "unseen sizes", "largest ranks"};
    struct fr_json ops = fr_json_member(root, "operations");
    for (int64_t i = 0; i < fr_json_array_length(&ops); i++)
        for (int k = 0; sets[k]; k++) {
            struct fr_json op = fr_json_element(&ops, i);
            fr_json_begin_object(w);
            add_copy(w, &op, "op");
            fr_json_add_string(w, "points", titles[k]);
            add_copy(w, &op, "chosen");
            for (int f = 0; forms[f]; f++) {
                struct fr_json form = fr_json_member(&op, forms[f]),
                               set = fr_json_member(&form, sets[k]);
                char key[40];
                snprintf(key, sizeof key, "%s_median_error", forms[f]);
                fr_json_add_number(w, key, fr_json_number_at(&set, "median"));
                snprintf(key, sizeof key, "%s_p90_error", forms[f]);
                fr_json_add_number(w, key, fr_json_number_at(&set, "p90"));
            }
            fr_json_end_object(w);
        }
}

/* Where the segments of every rank count begin and end. */
static void put_segments(struct fr_json_writer *w, const struct fr_json *root) {
    struct fr_json ops = fr_json_member(root, "operations");
    for (int64_t i = 0; i < fr_json_array_length(&ops); i++) {
        struct fr_json op = fr_json_element(&ops, i), form = fr_json_member(&op, "segments"),
                       parameters = fr_json_member(&form, "parameters"),
                       fits = fr_json_member(&parameters, "fits");
        for (int64_t k = 0; k < fr_json_array_length(&fits); k++) {
            struct fr_json fit = fr_json_element(&fits, k),
                           list = fr_json_member(&fit, "segments");
            const char *from = fr_json_text_at(&fit, "min");
            for (int64_t s = 0; s < fr_json_array_length(&list); s++) {
                struct fr_json one = fr_json_element(&list, s);
                fr_json_begin_object(w);
                add_copy(w, &op, "op");
                add_copy(w, &fit, "ranks");
                add_copy(w, &fit, "level");
                fr_json_add_string(w, "from", from);
                add_copy(w, &one, "up_to");
                add_copy(w, &one, "latency");
                add_copy(w, &one, "per_byte");
                fr_json_end_object(w);
                from = fr_json_text_at(&one, "up_to");
            }
        }
    }
}

/* Up to which sizes and ranks every series reaches. */
static void put_validity(struct fr_json_writer *w, const struct fr_json *root) {
    struct fr_json list = fr_json_member(root, "series");
    for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
        struct fr_json s = fr_json_element(&list, i), points = fr_json_member(&s, "points");
        int64_t n = fr_json_array_length(&points);
        if (n == 0) continue;
        struct fr_json first = fr_json_element(&points, 0),
                       last = fr_json_element(&points, n - 1);
        fr_json_begin_object(w);
        add_copy(w, &s, "op");
        add_copy(w, &s, "level");
        add_copy(w, &s, "ranks");
        add_copy(w, &s, "nodes");
        fr_json_add_number(w, "from_B", fr_json_number_at(&first, "size_B"));
        fr_json_add_number(w, "to_B", fr_json_number_at(&last, "size_B"));
        fr_json_end_object(w);
    }
}

static void put_point(struct fr_json_writer *w, const struct fr_json *series,
                      const struct fr_json *p) {
    static const char *const of_point[] = {"size_B",   "n",     "slow",
                                           "median_s", "low_s", "high_s"};
    const char *chosen = fr_json_text_at(series, "chosen");
    char fitted[40], held_out[40];
    double median_s = fr_json_number_at(p, "median_s");
    snprintf(fitted, sizeof fitted, "%.20s_s", chosen);
    snprintf(held_out, sizeof held_out, "%.20s_held_s", chosen);
    fr_json_begin_object(w);
    add_copy(w, series, "op");
    add_copy(w, series, "ranks");
    add_copy(w, series, "level");
    for (size_t i = 0; i < sizeof of_point / sizeof *of_point; i++) add_copy(w, p, of_point[i]);
    fr_json_add_number(w, "fit_error", fr_json_number_at(p, fitted) / median_s - 1);
    fr_json_add_number(w, "held_out_error", fr_json_number_at(p, held_out) / median_s - 1);
    fr_json_end_object(w);
}

static void put_points(struct fr_json_writer *w, const struct fr_json *root) {
    struct fr_json list = fr_json_member(root, "series");
    for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
        struct fr_json series = fr_json_element(&list, i),
                       points = fr_json_member(&series, "points");
        for (int64_t k = 0; k < fr_json_array_length(&points); k++) {
            struct fr_json p = fr_json_element(&points, k);
            put_point(w, &series, &p);
        }
    }
}

static void put_list(struct fr_json_writer *w, const struct fr_json *of, const char *key) {
    struct fr_json list = fr_json_member(of, key);
    for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
        struct fr_json one = fr_json_element(&list, i);
        fr_json_put_copy(w, &one);
    }
}

static void put_sources(struct fr_json_writer *w, const struct fr_json *root) {
    put_list(w, root, "sources");
}

/* Points of an accelerator, a kind of them a table. */
static void put_rates(struct fr_json_writer *w, const struct fr_json *root, const char *kind) {
    struct fr_json rates = fr_json_member(root, "rates");
    put_list(w, &rates, kind);
}
static void put_products(struct fr_json_writer *w, const struct fr_json *root) {
    put_rates(w, root, "products");
}
static void put_attention(struct fr_json_writer *w, const struct fr_json *root) {
    put_rates(w, root, "attention");
}
static void put_memory(struct fr_json_writer *w, const struct fr_json *root) {
    put_rates(w, root, "memory");
}
static void put_link(struct fr_json_writer *w, const struct fr_json *root) {
    put_rates(w, root, "link");
}

static void put_at_once(struct fr_json_writer *w, const struct fr_json *root) {
    put_rates(w, root, "at_once");
}

/* ---- the page ---------------------------------------------------------------------------------- */

static const struct {
    const char *title, *about;
    put_rows_fn *put;
} tables[] = {
    {"Imported files", "", put_sources},
    {"Products by shape",
     "Rows by columns by inner dimension; several at once are one call, as experts of a "
     "mixture are. The fit's error is "
     "that of the cluster file made from these points. Products with scales of blocks are "
     "measured and not priced.",
     put_products},
    {"Attention by shape", "", put_attention},
    {"Passes over memory",
     "A set smaller than the cache is read from there. Rates count each value once for each "
     "time "
     "it is read or written.",
     put_memory},
    {"Host link", "", put_link},
    {"Pairs and groups at once",
     "How many times as long as one alone; 1 where no link is shared.", put_at_once},
    {"Forms",
     "Median and 90th percentile of the error, |predicted / measured - 1|. Unseen sizes: every "
     "second one, fitted without. Largest ranks: the largest rank count, fitted without. The "
     "chosen form is written to the cluster file.",
     put_forms},
    {"Segments", "", put_segments},
    {"Validity", "Inside these a prediction interpolates. Outside it is marked extrapolated.",
     put_validity},
    {"Every point", "", put_points},
};

/* The rows as a document of their own, and then as a table. */
static void put_table(struct fr_page *page, int which, const struct fr_json *root) {
    struct fr_json_document *document = NULL;
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    fr_json_begin_array(&w);
    tables[which].put(&w, root);
    fr_json_end_array(&w);
    page->html.failed = page->html.failed || text.failed;
    if (fr_json_parse(fr_text_get(&text), text.length, "table", &document, NULL) == FR_OK) {
        struct fr_json list = fr_json_root(document);
        if (fr_json_array_length(&list) > 0) {
            fr_html_addf(&page->html, "{h2 %s}\n", tables[which].title);
            if (*tables[which].about)
                fr_html_addf(&page->html, "{p.note %s}\n", tables[which].about);
            fr_page_table(&list, &page->html);
        }
    }
    fr_json_free(document);
    fr_text_free(&text);
}

static void put_checks(struct fr_page *page, const struct fr_checks *checks) {
    struct fr_text *html = &page->html;
    const char *worst = fr_verdict_names[fr_calibration_verdict(checks)];
    fr_html_addf(html, "{div.answer {p Verdict: {span.%s %s}}}\n", worst, worst);
    fr_page_rows_begin((const char *const[]){"check", "verdict", "why", NULL}, 3, html);
    for (int i = 0; i < checks->count; i++) {
        const char *verdict = fr_verdict_names[checks->item[i].verdict];
        fr_html_addf(html, "{tr {td.l %s}{td.l.%s %s}{td.l %s}}\n", checks->item[i].subject,
                     verdict, verdict, checks->item[i].reason);
    }
    fr_page_rows_end(html);
}

static void put_provenance(struct fr_page *page, const struct fr_json *root) {
    struct fr_json from = fr_json_member(root, "provenance");
    fr_page_fold(page, "Provenance");
    fr_page_facts(&from, "provenance", &page->html);
    fr_page_unfold(page);
}

void fr_calibration_page(struct fr_page *page, const struct fr_json *root,
                         const struct fr_checks *checks) {
    struct fr_json from = fr_json_member(root, "provenance");
    struct fr_text title = {0};
    const char *cluster = fr_json_text_at(&from, "cluster");
    if (cluster && strcmp(cluster, FR_HOST_IMPORTED) == 0)
        fr_text_addf(&title, "Can predictions from imported measurements be trusted?");
    else
        fr_text_addf(&title, "Can predictions from the calibration of %s be trusted?",
                     cluster ? cluster : "?");
    fr_page_begin(page, fr_text_get(&title));
    fr_text_free(&title);
    put_checks(page, checks);
    put_provenance(page, root);
    fr_page_charts(page, root, "fit");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) put_table(page, (int)i, root);
    fr_page_appendix(page, root);
    fr_page_end(page);
}
