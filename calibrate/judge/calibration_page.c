#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/page/page.h"
#include "base/units.h"
#include "calibrate/judge/calibration_page.h"
#include "plots/html.h"

static const char *const forms[] = {"log", "segments", "algorithm", "similarity", NULL};

static void put_checks(const struct fr_checks *checks, struct fr_text *html) {
    fr_verdict worst = fr_calibration_verdict(checks);
    fr_html_addf(html,
                 "<h2>Verdict: <span class=\"%s\">%s</span></h2>\n<table><tr><th "
                 "class=l>check</th><th class=l>verdict</th><th class=l>why</th></tr>\n",
                 fr_verdict_names[worst], fr_verdict_names[worst]);
    for (int i = 0; i < checks->count; i++) {
        const char *verdict = fr_verdict_names[checks->item[i].verdict];
        fr_html_addf(html, "<tr><td class=l>");
        fr_html_addf(html, "%s", checks->item[i].subject);
        fr_html_addf(html, "</td><td class=\"l %s\">%s</td><td class=l>", verdict, verdict);
        fr_html_addf(html, "%s", checks->item[i].reason);
        fr_html_addf(html, "</td></tr>\n");
    }
    fr_html_addf(html, "</table>\n");
}

static void put_provenance(const struct fr_json *root, struct fr_text *html) {
    static const char *const texts[] = {"cluster", "date",    "host", "hosts",
                                        "cpu",     "kernel",  "mpi",  "blas",
                                        "pinning", "version", NULL};
    static const char *const numbers[] = {
        "ranks", "nodes", "ranks_per_node", "seed", "clock_resolution_s", NULL};
    struct fr_json p = fr_json_member(root, "provenance");
    fr_html_addf(html, "<h2>Provenance</h2>\n<table>\n");
    for (int i = 0; texts[i]; i++) {
        const char *text = fr_json_text_at(&p, texts[i]);
        if (!*text) continue;
        fr_html_addf(html, "<tr><th class=l>%s</th><td class=l>", texts[i]);
        fr_html_addf(html, "%s", text);
        fr_html_addf(html, "</td></tr>\n");
    }
    for (int i = 0; numbers[i]; i++) {
        double value = fr_json_number_at(&p, numbers[i]);
        if (isfinite(value))
            fr_html_addf(html, "<tr><th class=l>%s</th><td class=l>%.10g</td></tr>\n",
                         numbers[i], value);
    }
    struct fr_json ops = fr_json_member(root, "operations");
    for (int64_t i = 0; i < fr_json_array_length(&ops); i++) {
        struct fr_json op = fr_json_element(&ops, i);
        if (!*fr_json_text_at(&op, "series")) continue;
        fr_html_addf(html, "<tr><th class=l>%s</th><td class=l>", fr_json_text_at(&op, "op"));
        fr_html_addf(html, "%s", fr_json_text_at(&op, "series"));
        fr_html_addf(html, "</td></tr>\n");
    }
    fr_html_addf(html, "</table>\n");
}

static void put_percent(struct fr_text *html, double median, double p90, bool chosen) {
    if (isnan(median))
        fr_html_addf(html, "<td>-</td>");
    else
        fr_html_addf(html, chosen ? "<td><b>%.1f / %.1f</b></td>" : "<td>%.1f / %.1f</td>",
                     100 * median, 100 * p90);
}

static void put_sources(const struct fr_json *root, struct fr_text *html) {
    static const char *const texts[] = {"file", "tool", "tool_version", "setup", "dtype", NULL};
    static const char *const numbers[] = {"ranks", "nodes", NULL};
    struct fr_json list = fr_json_member(root, "sources");
    if (fr_json_array_length(&list) == 0) return;
    fr_html_addf(html, "<h2>Imported files</h2>\n<table><tr>");
    for (int i = 0; texts[i]; i++) fr_html_addf(html, "<th class=l>%s</th>", texts[i]);
    for (int i = 0; numbers[i]; i++) fr_html_addf(html, "<th>%s</th>", numbers[i]);
    fr_html_addf(html, "</tr>\n");
    for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
        struct fr_json source = fr_json_element(&list, i);
        fr_html_addf(html, "<tr>");
        for (int k = 0; texts[k]; k++) {
            fr_html_addf(html, "<td class=l>");
            fr_html_addf(html, "%s", fr_json_text_at(&source, texts[k]));
            fr_html_addf(html, "</td>");
        }
        for (int k = 0; numbers[k]; k++)
            fr_html_addf(html, "<td>%.0f</td>", fr_json_number_at(&source, numbers[k]));
        fr_html_addf(html, "</tr>\n");
    }
    fr_html_addf(html, "</table>\n");
}

/* Residuals, and errors on what was held out, of every form. */
static void put_forms(const struct fr_json *root, struct fr_text *html) {
    static const char *const keys[] = {"residuals", "held_sizes", "held_ranks", NULL};
    static const char *const titles[] = {"fitted points", "unseen sizes", "largest ranks"};
    struct fr_json ops = fr_json_member(root, "operations");
    fr_html_addf(html,
                 "<h2>Forms</h2>\n<p>Median / 90th percentile of |predicted / measured - 1| in "
                 "percent. Unseen sizes: every second one, fitted without; largest ranks: the "
                 "largest rank count, fitted without. The form in bold is "
                 "written to the cluster file: the similarity table, unless another predicts "
                 "these clearly better.</p>\n<table><tr><th class=l>operation</th><th "
                 "class=l>on</th>");
    for (int f = 0; forms[f]; f++) fr_html_addf(html, "<th>%s</th>", forms[f]);
    fr_html_addf(html, "</tr>\n");
    for (int64_t i = 0; i < fr_json_array_length(&ops); i++) {
        struct fr_json op = fr_json_element(&ops, i);
        const char *chosen = fr_json_text_at(&op, "chosen");
        for (int k = 0; keys[k]; k++) {
            fr_html_addf(html, "<tr><td class=l>%s</td><td class=l>%s</td>",
                         k ? "" : fr_json_text_at(&op, "op"), titles[k]);
            for (int f = 0; forms[f]; f++) {
                struct fr_json form = fr_json_member(&op, forms[f]),
                               q = fr_json_member(&form, keys[k]);
                put_percent(html, fr_json_number_at(&q, "median"), fr_json_number_at(&q, "p90"),
                            strcmp(chosen, forms[f]) == 0);
            }
            fr_html_addf(html, "</tr>\n");
        }
    }
    fr_html_addf(html, "</table>\n");
}

/* Where the segments of every rank count begin and end. */
static void put_segments(const struct fr_json *root, struct fr_text *html) {
    struct fr_json ops = fr_json_member(root, "operations");
    fr_html_addf(html,
                 "<h2>Segments</h2>\n<table><tr><th class=l>operation</th><th>ranks</th><th "
                 "class=l>level</th><th>from</th><th>up to</th><th>latency</th><th>per "
                 "byte</th></tr>\n");
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
                fr_html_addf(
                    html,
                    "<tr><td class=l>%s</td><td>%.0f</td><td class=l>%s</td><td>%s</td>"
                    "<td>%s</td><td>%s</td><td>%s</td></tr>\n",
                    fr_json_text_at(&op, "op"), fr_json_number_at(&fit, "ranks"),
                    fr_json_text_at(&fit, "level"), from, fr_json_text_at(&one, "up_to"),
                    fr_json_text_at(&one, "latency"), fr_json_text_at(&one, "per_byte"));
                from = fr_json_text_at(&one, "up_to");
            }
        }
    }
    fr_html_addf(html, "</table>\n");
}

/* "-" for a number that is none. */
static const char *shown(double value, fr_quantity quantity, bool exact, char text[32]) {
    if (!isfinite(value)) return "-";
    return (exact ? fr_quantity_write : fr_quantity_format)(value, quantity, text, 32);
}

static void put_point(const struct fr_json *p, const char *chosen, struct fr_text *html) {
    char key[32], median[32], low[32], high[32], size[32];
    double median_s = fr_json_number_at(p, "median_s");
    double low_s = fr_json_number_at(p, "low_s"), high_s = fr_json_number_at(p, "high_s");
    snprintf(key, sizeof key, "%.20s_held_s", chosen);
    double held_s = fr_json_number_at(p, key);
    snprintf(key, sizeof key, "%.20s_s", chosen);
    double off = fr_json_number_at(p, key) / median_s - 1;
    fr_html_addf(html,
                 "<tr><td data-v=\"%g\">%s</td><td data-v=\"%.0f\">%.0f</td><td>%.0f</td><td "
                 "data-v=\"%g\">%s</td><td>%s</td><td>%s</td>",
                 fr_json_number_at(p, "size_B"),
                 shown(fr_json_number_at(p, "size_B"), FR_QUANTITY_SIZE, true, size),
                 fr_json_number_at(p, "n"), fr_json_number_at(p, "n"),
                 fr_json_number_at(p, "slow"), median_s,
                 shown(median_s, FR_QUANTITY_TIME, false, median),
                 shown(low_s, FR_QUANTITY_TIME, false, low),
                 shown(high_s, FR_QUANTITY_TIME, false, high));
    fr_html_addf(html, isfinite(off) ? "<td>%+.1f</td>" : "<td>-</td>", 100 * off);
    fr_html_addf(html, isfinite(held_s) ? "<td>%+.1f</td></tr>\n" : "<td>-</td></tr>\n",
                 100 * (held_s / median_s - 1));
}

/* Every point of a series, and up to which sizes and ranks it reaches. */
static void put_series(const struct fr_json *series, struct fr_text *html) {
    struct fr_json points = fr_json_member(series, "points");
    fr_html_addf(
        html,
        "<details><summary>%s, %.0f ranks, %s: %" PRId64 " points, form %s</summary>"
        "<div class=t><table "
        "class=s><thead><tr><th>size</th><th>n</th><th>outliers</th><th>median</th><th>low</th>"
        "<th>high</th><th>fit %%</th><th>held out %%</th></tr></thead><tbody>\n",
        fr_json_text_at(series, "op"), fr_json_number_at(series, "ranks"),
        fr_json_text_at(series, "level"), fr_json_array_length(&points),
        fr_json_text_at(series, "chosen"));
    for (int64_t i = 0; i < fr_json_array_length(&points); i++) {
        struct fr_json p = fr_json_element(&points, i);
        put_point(&p, fr_json_text_at(series, "chosen"), html);
    }
    fr_html_addf(html, "</tbody></table></div></details>\n");
}

static void put_domain(const struct fr_json *list, struct fr_text *html) {
    fr_html_addf(
        html, "<h2>Validity</h2>\n<p>Inside these a prediction interpolates; outside it is "
              "marked extrapolated.</p>\n<table><tr><th class=l>operation</th><th "
              "class=l>level</th><th>ranks</th><th>nodes</th><th>from</th><th>to</th></tr>\n");
    for (int64_t i = 0; i < fr_json_array_length(list); i++) {
        struct fr_json s = fr_json_element(list, i), points = fr_json_member(&s, "points");
        int64_t n = fr_json_array_length(&points);
        char low[32], high[32];
        if (n == 0) continue;
        struct fr_json first = fr_json_element(&points, 0),
                       last = fr_json_element(&points, n - 1);
        fr_html_addf(
            html,
            "<tr><td class=l>%s</td><td class=l>%s</td><td>%.0f</td><td>%.0f</td><td>%s</td>"
            "<td>%s</td></tr>\n",
            fr_json_text_at(&s, "op"), fr_json_text_at(&s, "level"),
            fr_json_number_at(&s, "ranks"), fr_json_number_at(&s, "nodes"),
            shown(fr_json_number_at(&first, "size_B"), FR_QUANTITY_SIZE, true, low),
            shown(fr_json_number_at(&last, "size_B"), FR_QUANTITY_SIZE, true, high));
    }
    fr_html_addf(html, "</table>\n");
}

void fr_calibration_html(const struct fr_json *root, const struct fr_checks *checks,
                         struct fr_text *html, struct fr_page_gaps *gaps) {
    struct fr_json list = fr_json_member(root, "series"),
                   p = fr_json_member(root, "provenance");
    int64_t n = fr_json_array_length(&list);
    struct fr_text title = {0};
    fr_text_addf(&title, "Calibration of %s", fr_json_text_at(&p, "cluster"));
    fr_page_begin(fr_text_get(&title), html);
    fr_text_free(&title);
    put_checks(checks, html);
    put_provenance(root, html);
    put_sources(root, html);
    put_forms(root, html);
    fr_html_addf(html, "<h2>Figures</h2>\n");
    fr_page_figure(&fr_figure_fit, root, html, gaps);
    fr_page_figure(&fr_figure_gemm, root, html, gaps);
    put_segments(root, html);
    put_domain(&list, html);
    fr_html_addf(html, "<h2>Every point</h2>\n");
    for (int64_t i = 0; i < n; i++) {
        struct fr_json series = fr_json_element(&list, i);
        put_series(&series, html);
    }
    fr_page_end(html);
}
