/* A page says what it lacks, and its command too: with gnuplots that fail each in its way, every figure that a whole
 * one has is reported as left out.  And no number that cannot be shown is shown. */
#include <math.h>

#include "answer/page/page.h"
#include "answer/page/result.h"
#include "base/file.h"
#include "calibrate/judge/check.h"
#include "tests/app/command.h"
#include "tests/cmocka.h"
#include "tests/scratch.h"

/* These programs stand in for gnuplot; the first draws. */
static const char *const gnuplots[] = {
    "echo '<svg></svg>' >figure.out",
    "exit 1",
    "kill -9 $$",
    ":",
    ": >figure.out",
    "echo '<svg></svg>' >figure.out; echo '\"figure.gp\" line 1: warning: no' >&2",
    "mkdir figure.out",
    NULL};

static const char *const documents[] = {
    "fit", "front", "score", "validate", "quality", "iterations", "clusters", "phantom", NULL};

static void set_gnuplot(const char *does) {
    struct fr_text script = {0};
    char path[64], found[128];
    snprintf(path, sizeof path, "%s/gnuplot", fr_scratch);
    snprintf(found, sizeof found, "%s:/usr/bin:/bin", fr_scratch);
    unlink(path);
    if (does) {
        fr_text_addf(&script, "#!/bin/sh\n%s\n", does);
        assert_int_equal(fr_file_write(path, script.data, script.length, NULL), FR_OK);
        assert_int_equal(chmod(path, 0700), 0);
    }
    fr_text_free(&script);
    assert_int_equal(setenv("PATH", does ? found : fr_scratch, 1), 0);
}

static struct fr_json_document *document_of(const char *name) {
    struct fr_json_document *document = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s/tests/golden/in/plots/%s.json", FR_SOURCE_DIR, name);
    assert_int_equal(fr_json_read(path, &document, NULL), FR_OK);
    return document;
}

static int count(const char *html, const char *what) {
    int n = 0;
    for (const char *at = html; (at = strstr(at, what)) != NULL; at++) n++;
    return n;
}

/* @return pictures; @p alone how many of them no live figure stands in for; @p gaps how many parts are reported as
 * left out, on the page and beside it */
static int page_of(const struct fr_json *root, int *alone, int *gaps) {
    struct fr_page page = {.gaps = 0};
    fr_result_sections(&page, root);
    int pictures = count(fr_text_get(&page.html), "<img alt=");
    *alone = count(fr_text_get(&page.html), "<figure><img alt=");
    *gaps = count(fr_text_get(&page.html), "<p class=FAIL>Left out: ");
    assert_int_equal(page.gaps, *gaps);
    assert_int_equal(page.lost.length > 0, *gaps > 0);
    fr_page_free(&page);
    return pictures;
}

static void every_figure_is_there_or_told(void **state) {
    int drawn = 0;
    (void)state;
    for (int d = 0; documents[d]; d++) {
        struct fr_json_document *document = document_of(documents[d]);
        struct fr_json root = fr_json_root(document);
        int gaps = 0, alone = 0, none = 0;
        set_gnuplot(gnuplots[0]);
        int whole = page_of(&root, &alone, &gaps);
        assert_int_equal(gaps, 0);
        drawn += whole;
        for (int g = 1; whole > 0; g++) {
            set_gnuplot(gnuplots[g]); /* the last: none is installed */
            int figures = page_of(&root, &none, &gaps);
            FR_TRUE(figures == 0 && gaps == alone, "%s with \"%s\": %d figures, %d of %d told",
                    documents[d], gnuplots[g] ? gnuplots[g] : "none", figures, gaps, alone);
            if (!gnuplots[g]) break;
        }
        fr_json_free(document);
    }
    FR_TRUE(drawn > 8, "%d figures", drawn);
}

/* The page is written all the same, and the command says so. */
static void the_command_fails_for_a_gap(void **state) {
    static const char line[] =
        "for of in " FR_SOURCE_DIR "/tests/golden/in/plots/clusters.json " FR_SOURCE_DIR
        "/tests/golden/in/plots/phantom.json; do "
        "  rm -f r.html; " FR_BIN_DIR "/forerun report $of -o r.html >out 2>err; code=$?; "
        "  [ $code = 1 ] && grep -q 'Left out' r.html && grep -q '</html>' r.html && "
        "    grep -q 'r.html: lacks .* part.*exit code 1' err || { echo $code; cat err; exit "
        "1; }; "
        "done";
    (void)state;
    set_gnuplot(gnuplots[1]);
    assert_int_equal(system(line), 0);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void numbers_are_shown_or_refused(void **state) {
    static const struct {
        const char *json;
        bool shown;
    } cases[] = {{"1e300", true},
                 {"-1e300", true},
                 {"1.1e300", false},
                 {"-1e308", false},
                 {"[1, {\"a\": [2, 1e301]}]", false},
                 {"{\"a\": null, \"b\": \"1e308\", \"c\": 1e-320}", true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_json_document *document = NULL;
        struct fr_error err = {0};
        struct fr_text text = {0};
        fr_text_addf(&text, "{\"x\": %s}", cases[i].json);
        assert_int_equal(fr_json_parse(text.data, text.length, "d", &document, &err), FR_OK);
        struct fr_json root = fr_json_root(document);
        FR_TRUE((fr_check_shown(&root, &err) == FR_OK) == cases[i].shown, "%s", cases[i].json);
        if (!cases[i].shown) FR_TRUE(strncmp(err.where, "d#/x", 4) == 0, "%s", err.where);
        fr_json_free(document);
        fr_text_free(&text);
    }
}

/* Each number of a fit that is judged, at values that no measurement has. */
static void what_is_judged_is_a_number_or_refused(void **state) {
    static const char *const keys[] = {"held_out",
                                       "machine.variation",
                                       "machine.speed_variation",
                                       "machine.lost",
                                       "machine.usual_products",
                                       "machine.interrupted_every_s",
                                       "operations.0.similarity.held_sizes.median",
                                       "operations.0.similarity.held_sizes.p90",
                                       "operations.0.similarity.held_ranks.median",
                                       "series.0.points.0.median_s",
                                       "series.0.points.0.high_s",
                                       NULL};
    static const char *const values[] = {"-1",    "-2",    "-1e-300", "1e12",  "1e13",
                                         "1e200", "1e308", "null",    "\"x\"", NULL};
    int refused = 0;
    (void)state;
    for (int k = 0; keys[k]; k++)
        for (int v = 0; values[v]; v++) {
            struct fr_json_document *document = document_of("fit");
            struct fr_checks checks = {0};
            struct fr_error err = {0};
            if (fr_json_set(document, keys[k], values[v], "test", &err) != FR_OK)
                fail_msg("%s: %s", keys[k], err.detail);
            struct fr_json root = fr_json_root(document);
            fr_status status = fr_calibration_check(&root, &checks, &err);
            FR_TRUE(status == FR_OK || (status == FR_ERR_INPUT && err.where[0]), "%s = %s: %s",
                    keys[k], values[v], err.detail);
            refused += status != FR_OK;
            for (int i = 0; status == FR_OK && i < checks.count; i++)
                FR_TRUE(!strstr(checks.item[i].reason, "nan ") &&
                            !strstr(checks.item[i].reason, "inf "),
                        "%s = %s: %s", keys[k], values[v], checks.item[i].reason);
            fr_json_free(document);
        }
    FR_TRUE(refused > 30, "%d refused", refused);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_figure_is_there_or_told),
                                       cmocka_unit_test(the_command_fails_for_a_gap),
                                       cmocka_unit_test(numbers_are_shown_or_refused),
                                       cmocka_unit_test(what_is_judged_is_a_number_or_refused)};
    return cmocka_run_group_tests_name("app.gaps", tests, fr_scratch_enter, fr_scratch_leave);
}
