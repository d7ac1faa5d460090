/* Tables with a header: quoting, line ends, and what is refused. */
#include "base/csv.h"

#include <string.h>

#include "tests/cmocka.h"

static void parse(const char *text, struct fr_csv *csv) {
    struct fr_error err = {0};
    if (fr_csv_parse(text, strlen(text), "t.csv", csv, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
}

static void cells_are_read(void **state) {
    struct fr_csv csv;
    (void)state;
    parse("\xEF\xBB\xBF"
          "a,b,c\r\n1,\"x, \"\"y\"\"\nz\",3\r\n\r\n,,\n",
          &csv);
    assert_int_equal(csv.n_columns, 3);
    assert_int_equal(csv.n_rows, 2);
    assert_string_equal(csv.column[0], "a");
    assert_string_equal(fr_csv_get(&csv, 0, "b"), "x, \"y\"\nz");
    assert_string_equal(fr_csv_get(&csv, 0, "c"), "3");
    assert_string_equal(fr_csv_get(&csv, 1, "a"), "");
    assert_null(fr_csv_get(&csv, 0, "d"));
    assert_int_equal(csv.line[1], 5); /* the quoted cell spans two lines, one is empty */
    fr_csv_free(&csv);
}

static void refused(const char *text, const char *where, const char *what) {
    struct fr_csv csv;
    struct fr_error err = {0};
    if (fr_csv_parse(text, strlen(text), "t.csv", &csv, &err) == FR_OK)
        fail_msg("accepted: %s", text);
    assert_string_equal(err.where, where);
    if (!strstr(err.detail, what)) fail_msg("got \"%s\", wanted \"%s\"", err.detail, what);
    fr_csv_free(&csv);
}

static void faults_are_named(void **state) {
    (void)state;
    refused("a,b\n1\n", "t.csv:2", "has 1 cells, but the header has 2 columns");
    refused("a,b\n1,2\n1,2,3\n", "t.csv:3", "has 3 cells");
    refused("a,b\n1,\"2\n", "t.csv:2", "a quote is not closed");
    refused("a,b,a\n", "t.csv", "stands twice");
    refused("", "t.csv", "has no header");
}

/* Whatever is written reads back. */
static void writing_reads_back(void **state) {
    static const char *const cells[] = {"plain", "a,b", "say \"no\"", "two\nlines", ""};
    struct fr_text text = {0};
    struct fr_csv csv;
    (void)state;
    fr_text_addf(&text, "x,y\n");
    for (int i = 0; i < 5; i++) {
        fr_csv_put(&text, cells[i]);
        fr_text_addf(&text, ",1\n");
    }
    parse(fr_text_get(&text), &csv);
    assert_int_equal(csv.n_rows, 5);
    for (int i = 0; i < 5; i++) assert_string_equal(fr_csv_get(&csv, i, "x"), cells[i]);
    fr_csv_free(&csv);
    fr_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_read),
        cmocka_unit_test(faults_are_named),
        cmocka_unit_test(writing_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
