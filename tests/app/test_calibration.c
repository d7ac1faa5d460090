/* The page about a calibration: verdicts at their thresholds, and a page that is whole, holds no
 * reference to anything outside and no raw text of its input. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/page/assets.h"
#include "calibrate/judge/calibration_page.h"
#include "plots/gnuplot.h"
#include "real/validate/validation_text.h"
#include "tests/app/command.h"
#include "trust/interval.h"

static struct fr_json_document *fit(const char *host, double sizes, double ranks) {
    char text[4096];
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    snprintf(
        text, sizeof text,
        "{\"schema\": \"forerun/fit/1\", \"provenance\": {\"cluster\": \"a<b>&\\\"c\", "
        "\"host\": \"%s\", \"pinning\": \"core, verified\", \"oversubscribed\": false}, "
        "\"operations\": [{\"op\": \"all_reduce\", \"chosen\": \"similarity\", "
        "\"similarity\": {\"held_sizes\": {\"median\": %g, \"p90\": 0.5}, \"held_ranks\": "
        "{\"median\": %g, \"p90\": 0.7}}}], \"series\": [{\"op\": \"all_reduce\", \"ranks\": "
        "4, \"nodes\": 2, \"level\": \"system\", \"chosen\": \"similarity\", \"points\": "
        "[{\"size_B\": 8, \"n\": 30, \"launches\": 3, \"slow\": 1, \"median_s\": 1e-5, "
        "\"low_s\": 9.9e-6, \"high_s\": 1.01e-5, \"similarity_s\": 1e-5}, {\"size_B\": "
        "1024, \"n\": 30, \"launches\": 3, \"slow\": 0, \"median_s\": 2e-5, \"low_s\": null, "
        "\"high_s\": 2.01e-5, \"similarity_held_s\": 2.2e-5}]}]}",
        host, sizes, ranks);
    if (fr_json_parse(text, strlen(text), "fit", &document, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    return document;
}

static fr_verdict verdict_of(const char *host, double sizes, double ranks,
                             const char *subject) {
    struct fr_json_document *document = fit(host, sizes, ranks);
    struct fr_json root = fr_json_root(document);
    struct fr_checks checks;
    struct fr_error err = {0};
    fr_verdict found = FR_VERDICT_FAIL;
    bool seen = false;
    assert_int_equal(fr_calibration_check(&root, &checks, &err), FR_OK);
    for (int i = 0; i < checks.count; i++) {
        assert_true(checks.item[i].reason[0] != '\0');
        if (strcmp(checks.item[i].subject, subject) != 0) continue;
        found = checks.item[i].verdict;
        seen = true;
    }
    assert_true(seen);
    fr_json_free(document);
    return found;
}

static void verdicts_follow_what_was_held_out(void **state) {
    const char *sizes = "all_reduce, unseen sizes", *ranks = "all_reduce, unseen ranks";
    (void)state;
    assert_int_equal(verdict_of("n1", 0.05, 0.1, sizes), FR_VERDICT_PASS);
    assert_int_equal(verdict_of("n1", 0.20, 0.1, sizes), FR_VERDICT_WARN);
    assert_int_equal(verdict_of("n1", 0.90, 0.1, sizes), FR_VERDICT_WARN);
    assert_int_equal(verdict_of("n1", 0.05, 0.05, ranks), FR_VERDICT_PASS);
    assert_int_equal(verdict_of("n1", 0.05, 0.9, ranks), FR_VERDICT_WARN);
    assert_int_equal(verdict_of("n1", 0.05, 0.1, "pinning"), FR_VERDICT_PASS);
    assert_int_equal(verdict_of("imported", 0.05, 0.1, "pinning"), FR_VERDICT_WARN);
}

/* Growth with ranks that was not confirmed is worth a warning where it could have been, and is needed:
 * not where two ranks are all that there are. */
static void two_ranks_have_no_second_count(void **state) {
    (void)state;
    for (int ranks = 2; ranks <= 4; ranks++) {
        char text[1024];
        struct fr_json_document *document = NULL;
        struct fr_checks checks;
        struct fr_error err = {0};
        snprintf(
            text, sizeof text,
            "{\"schema\": \"forerun/fit/1\", \"provenance\": {\"cluster\": \"c\", \"host\": "
            "\"h\", \"pinning\": \"core\", \"oversubscribed\": false, \"ranks\": %d}, "
            "\"machine\": {\"variation\": 0.01}, \"held_out\": 0.01, \"operations\": "
            "[{\"op\": \"reduce\", \"chosen\": \"similarity\", \"similarity\": "
            "{\"held_sizes\": {\"median\": 0.01, \"p90\": 0.1}, \"held_ranks\": null}}], "
            "\"series\": []}",
            ranks);
        assert_int_equal(fr_json_parse(text, strlen(text), "fit", &document, &err), FR_OK);
        struct fr_json root = fr_json_root(document);
        if (fr_calibration_check(&root, &checks, &err) != FR_OK) fail_msg("%s", err.detail);
        bool printed = false;
        for (int i = 0; i < checks.count; i++) {
            if (strcmp(checks.item[i].subject, "reduce, unseen ranks") != 0) continue;
            printed = strstr(checks.item[i].reason, "unconfirmed") != NULL;
            assert_int_equal(checks.item[i].verdict,
                             ranks == 2 ? FR_VERDICT_PASS : FR_VERDICT_WARN);
        }
        assert_true(printed);
        fr_json_free(document);
    }
}

/* A fit whose points are known to +- @p half, with held-out error @p held (NaN: nothing was) and variation
 * @p varied. */
static fr_verdict whole(double held, double varied, double half, char reason[320]) {
    char text[4096], error[40] = "null";
    if (!isnan(held)) snprintf(error, sizeof error, "%.17g", held);
    struct fr_json_document *document = NULL;
    struct fr_checks checks;
    struct fr_error err = {0};
    snprintf(text, sizeof text,
             "{\"schema\": \"forerun/fit/1\", \"provenance\": {\"cluster\": \"c\", \"host\": "
             "\"h\", \"pinning\": \"core\", \"oversubscribed\": false}, \"machine\": "
             "{\"variation\": %.17g}, \"held_out\": %s, \"operations\": [], \"series\": "
             "[{\"op\": \"all_reduce\", \"ranks\": 4, \"nodes\": 2, \"level\": \"system\", "
             "\"points\": [{\"size_B\": 8, \"n\": 30, \"launches\": 3, \"slow\": 0, "
             "\"median_s\": 1, \"low_s\": 0.5, \"high_s\": %.17g}]}]}",
             varied, error, 1 + half);
    if (fr_json_parse(text, strlen(text), "fit", &document, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    struct fr_json root = fr_json_root(document);
    if (fr_calibration_check(&root, &checks, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    struct fr_fit_verdict judged;
    fr_calibration_judge(&checks, &judged);
    snprintf(reason, 320, "%.319s", judged.n_reasons ? judged.reason[0] : "");
    fr_verdict found = fr_calibration_verdict(&checks);
    assert_string_equal(judged.verdict, fr_verdict_names[found]);
    fr_json_free(document);
    return found;
}

/* The verdict is that of the interval which fr_interval_plan gives to every prediction: it fails where
 * that reaches beyond a factor of two, at exp(1.645 s) = 2, warns where the calibration has more part
 * in it than the model's 0.1; however badly the medians of single points are known, they alone do
 * not fail what predicts well. */
static void the_verdict_is_of_the_interval(void **state) {
    static const struct {
        double held, varied, half;
        fr_verdict verdict;
        const char *reason;
    } cases[] = {
        {0.06, 0.01, 0.01, FR_VERDICT_PASS, ""},
        {0.06, 0.01, 0.18, FR_VERDICT_PASS, ""},
        {0.06, 0.01, 0.25, FR_VERDICT_WARN, "medians: 1 of 1 points"},
        {0.06, 0.01, 9.00, FR_VERDICT_WARN, "medians: 1 of 1 points"},
        {0.0697, 0, 0.01, FR_VERDICT_PASS, ""}, /* ln 1.0697 = 0.0674, over 0.6745 = 0.0999 */
        {0.0700, 0, 0.01, FR_VERDICT_WARN, "interval: "},
        {0.06, 0.10, 0.01, FR_VERDICT_WARN, "interval: "},
        {0.3285, 0, 0.01, FR_VERDICT_WARN,
         "interval: "}, /* ln 2 / 1.645 = 0.4214, times 0.6745 */
        {0.3290, 0, 0.01, FR_VERDICT_FAIL,
         "interval: 90 % intervals of predictions reach from "
         "0.50 to 2.00 times"},
        {0, 0.01, 0.01, FR_VERDICT_PASS, ""},
        {NAN, 0.01, 0.01, FR_VERDICT_WARN, /* exp(1.645 x 0.1005) = 1.18 */
         "interval: 90 % intervals of predictions reach from 0.85 to 1.18 times the time "
         "predicted: of so few points none was held out, 10 % are assumed, and"},
        {NAN, 0.4095, 0.01, FR_VERDICT_FAIL, "interval: "},
        {0, 0.4092, 0.01, FR_VERDICT_WARN, "interval: "}, /* with 0.1 of the model */
        {0, 0.4095, 0.01, FR_VERDICT_FAIL, "interval: "},
        {0.2658, 0.3539, 0.01, FR_VERDICT_FAIL, "interval: "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char reason[320];
        fr_verdict got = whole(cases[i].held, cases[i].varied, cases[i].half, reason);
        if (got != cases[i].verdict ||
            strncmp(reason, cases[i].reason, strlen(cases[i].reason)) != 0)
            fail_msg("held out %g, varied %g, points %g: %s, %s", cases[i].held,
                     cases[i].varied, cases[i].half, fr_verdict_names[got], reason);
        double spread = fr_spread_calibrated(cases[i].held, cases[i].varied);
        assert_int_equal(fr_spread_reach(spread) > 2, got == FR_VERDICT_FAIL);
    }
}

static void the_page_is_whole(void **state) {
    struct fr_json_document *document = fit("n1", 0.05, 0.1);
    struct fr_json root = fr_json_root(document);
    struct fr_checks checks;
    struct fr_page made = {.gaps = 0};
    struct fr_error err = {0};
    (void)state;
    assert_int_equal(fr_calibration_check(&root, &checks, &err), FR_OK);
    fr_calibration_page(&made, &root, &checks);
    const bool live = fr_page_chart.length > 0;
    assert_int_equal(made.gaps, !live && !fr_gnuplot_installed());
    assert_int_equal(made.live, live);
    char *page = made.html.data, *from, *to;
    assert_non_null(strstr(page, "</html>"));
    int pictures = 0, scripts = 0; /* in a picture's letters anything may stand */
    for (const char *at = page; (at = strstr(at, "<script")); at++) scripts++;
    assert_int_equal(scripts, live ? 2 : 1);
    /* Chart.js and its licence follow. */
    *strstr(page, live ? "<details><summary>Licence" : "<script") = '\0';
    while ((from = strstr(page, "<figure")) && (to = strstr(from, "</figure>"))) {
        memmove(from, to + strlen("</figure>"), strlen(to + strlen("</figure>")) + 1);
        pictures++;
    }
    assert_int_equal(pictures, live || fr_gnuplot_installed());
    assert_non_null(strstr(page, "a&lt;b&gt;&amp;&quot;c"));
    assert_null(strstr(page, "a<b>"));
    assert_null(strstr(page, "http:"));
    assert_null(strstr(page, ">nan"));
    assert_null(strstr(page, "-nan"));
    assert_null(strstr(page, "nan\""));
    assert_null(strstr(page, "inf"));
    assert_non_null(strstr(page, ">10 %<")); /* held out: 22 us for 20 */
    int open = 0, closed = 0;
    for (const char *at = page; (at = strstr(at, "<table")); at++) open++;
    for (const char *at = page; (at = strstr(at, "</table>")); at++) closed++;
    assert_true(open > 3 && open == closed);
    fr_page_free(&made);
    fr_json_free(document);
}

/* Processes draw their memory's rate by a factor of two: that alone is no changed machine; products a
 * fifth slower are. */
static void a_draw_of_pages_is_no_change(void **state) {
    static const struct {
        double products, memory;
        bool changed;
    } cases[] = {{1, 1, false}, {1, 0.5, false}, {1.1, 2, false},
                 {1, 3, true},  {1.2, 1, true},  {0.8, 1, true}};
    const struct fr_cluster cluster = {.name = "c"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct fr_validation v = {.n_scored = 1,
                                        .floor = NAN,
                                        .rank_correlation = NAN,
                                        .products = {.n = 7, .median = cases[i].products},
                                        .memory = {.n = 7, .median = cases[i].memory}};
        struct fr_text text = {0};
        fr_validation_print(&text, &cluster, &v);
        bool printed = strstr(fr_text_get(&text), "not as it was calibrated") != NULL;
        if (printed != cases[i].changed)
            fail_msg("products %g, memory %g: %s", cases[i].products, cases[i].memory,
                     fr_text_get(&text));
        fr_text_free(&text);
    }
}

static void other_documents_are_refused(void **state) {
    struct fr_json_document *document = NULL;
    struct fr_checks checks;
    struct fr_error err = {0};
    (void)state;
    assert_int_equal(fr_json_parse("{\"schema\": \"x\"}", 15, "x.json", &document, &err),
                     FR_OK);
    struct fr_json root = fr_json_root(document);
    assert_int_equal(fr_calibration_check(&root, &checks, &err), FR_ERR_INPUT);
    assert_non_null(strstr(err.where, "x.json"));
    fr_json_free(document);
}

/* An answer about one collective or one product has the calibration's verdict, as a prediction has. */
static void pieces_repeat_the_verdict(void **state) {
    (void)state;
    static const char *const pieces[] = {"collective --op all_reduce --ranks 2 --size 1MiB",
                                         "gemm --m 64 --n 64 --k 64",
                                         "predict --model ffn-4096 --set tp=2"};
    static const char *const verdicts[][2] = {
        {"FAIL", "from a calibration that failed: why"},
        {"WARN", "from a calibration that passed with a warning"},
        {"PASS", "from a calibration that passed"}};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        char line[400], says[80];
        for (int v = 0; v < 3; v++) {
            snprintf(line, sizeof line,
                     "forerun %s --cluster frontier --set cluster.calibration.verdict=%s --set "
                     "cluster.calibration.reasons=[\"why\"]",
                     pieces[i], verdicts[v][0]);
            fr_test_expect(line, 0, verdicts[v][1], NULL);
            snprintf(line + strlen(line), sizeof line - strlen(line), " --json");
            snprintf(says, sizeof says, "\"verdict\": \"%s\"", verdicts[v][0]);
            fr_test_expect(line, 0, says, NULL);
        }
        snprintf(line, sizeof line, "forerun %s --cluster frontier --json", pieces[i]);
        struct output o = fr_test_run(line);
        FR_TRUE(!strstr(o.out, "\"verdict\""), "%s: a verdict that nobody gave", line);
        fr_test_output_free(&o);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_follow_what_was_held_out),
        cmocka_unit_test(two_ranks_have_no_second_count),
        cmocka_unit_test(the_verdict_is_of_the_interval),
        cmocka_unit_test(the_page_is_whole),
        cmocka_unit_test(a_draw_of_pages_is_no_change),
        cmocka_unit_test(other_documents_are_refused),
        cmocka_unit_test(pieces_repeat_the_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
