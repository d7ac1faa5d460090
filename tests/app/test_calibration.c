/* The page about a calibration: verdicts at their thresholds, and a page that is whole, holds no
 * reference to anything outside and no raw text of its input. */
#include <stdio.h>
#include <string.h>

#include "app/page/calibration.h"
#include "tests/cmocka.h"

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
    assert_int_equal(verdict_of("n1", 0.40, 0.1, sizes), FR_VERDICT_FAIL);
    assert_int_equal(verdict_of("n1", 0.05, 0.3, ranks), FR_VERDICT_WARN);
    assert_int_equal(verdict_of("n1", 0.05, 0.9, ranks), FR_VERDICT_FAIL);
    assert_int_equal(verdict_of("n1", 0.05, 0.1, "pinning"), FR_VERDICT_PASS);
    assert_int_equal(verdict_of("imported", 0.05, 0.1, "pinning"), FR_VERDICT_WARN);
}

static void the_page_is_whole(void **state) {
    struct fr_json_document *document = fit("n1", 0.05, 0.1);
    struct fr_json root = fr_json_root(document);
    struct fr_checks checks;
    struct fr_text html = {0};
    struct fr_error err = {0};
    (void)state;
    assert_int_equal(fr_calibration_check(&root, &checks, &err), FR_OK);
    fr_calibration_html(&root, &checks, &html);
    const char *page = fr_text_get(&html);
    assert_non_null(strstr(page, "</html>"));
    assert_non_null(strstr(page, "a&lt;b&gt;&amp;&quot;c"));
    assert_null(strstr(page, "a<b>"));
    assert_null(strstr(page, "http:"));
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, ">nan"));
    assert_null(strstr(page, "-nan"));
    assert_null(strstr(page, "nan\""));
    assert_null(strstr(page, "inf"));
    assert_non_null(strstr(page, "+10.0")); /* held out: 22 us for 20 */
    int open = 0, closed = 0;
    for (const char *at = page; (at = strstr(at, "<svg")); at++) open++;
    for (const char *at = page; (at = strstr(at, "</svg>")); at++) closed++;
    assert_int_equal(open, 1);
    assert_int_equal(closed, 1);
    fr_text_free(&html);
    fr_json_free(document);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_follow_what_was_held_out),
        cmocka_unit_test(the_page_is_whole),
        cmocka_unit_test(other_documents_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
