/* Readers of published runs are descriptions: each statement of each can be read, whatever its row, and a wrong one
 * is reported with its line. */
#include "trust/runs/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka.h"

static fr_status any_name(void *context, const char *name, struct fr_term *out,
                          struct fr_error *err) {
    (void)context;
    (void)name;
    (void)err;
    *out = fr_term_text("1");
    return FR_OK;
}

static fr_status any_call(void *context, const char *name, const struct fr_term_argument *a,
                          int n, struct fr_term *out, struct fr_error *err) {
    static const struct fr_csv none = {.n_rows = 0};
    struct fr_run_row row = {0};
    (void)context;
    return fr_run_reader_call(&(struct fr_run_source){&none, 0}, &row, name, a, n, out, err);
}

/* The expression of a statement; NULL: nothing. */
static const char *expression_of(const char *text) {
    static const char *const nothing[] = {"about", "source", "columns", "strict", "use", "end"},
                             *const first[] = {"do", "when", "let", "need", "skip"};
    const char *what = NULL;
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (fr_statement_after(text, nothing[i])) return NULL;
    for (size_t i = 0; i < sizeof first / sizeof *first && !what; i++)
        what = fr_statement_after(text, first[i]);
    if (fr_statement_after(text, "skip")) return strstr(what, " if ") + 4;
    if (fr_statement_after(text, "need")) what += strcspn(what, " ") + 1;
    if (!what) what = text;
    size_t key = strcspn(what, " ");
    return strncmp(what + key, " = ", 3) == 0 && !memchr(what, '(', key) ? what + key + 3
                                                                         : what;
}

static void every_statement_can_be_read(void **state) {
    (void)state;
    const struct fr_meaning scope = {any_name, any_call, NULL};
    int whole = 0;
    for (const struct fr_description *d = fr_run_readers; d->name; d++) {
        struct fr_run_reader reader;
        assert_int_equal(fr_run_reader_open(d, &reader, NULL), FR_OK);
        whole += fr_run_reader_says(&reader, "columns") != NULL;
        for (int i = 0; i < reader.statements.n; i++) {
            const char *what = expression_of(reader.statements.item[i].text);
            struct fr_term term;
            struct fr_error err = {0};
            if (what && fr_expression(what, &scope, &term, &err) != FR_OK)
                fail_msg("%s:%d: %s", d->name, reader.statements.item[i].line, err.detail);
        }
        fr_run_reader_close(&reader);
    }
    assert_true(whole > 20);
}

static void what_is_wrong_is_told(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        {"columns a\nneed no_time measured_s = number(", "reader mine:2", "expected a value"},
        {"# people\n\nskip late if a", "reader mine:3", "expected a reason"},
        {"use nobody", "reader mine:1", "no description \"nobody\""},
        {"when 1\nmodel.layers whole(a)\nend", "reader mine:2", "is no statement"},
        {"do watts()", "reader mine:1", "watts takes 1 values, not 0"}};
    struct fr_csv csv;
    assert_int_equal(fr_csv_parse("a\n1\n", 4, "t", &csv, NULL), FR_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct fr_description own = {"mine", rows[i][0]};
        struct fr_run_reader reader;
        struct fr_run_row row = {0};
        struct fr_error err = {0};
        fr_run_skip skip;
        assert_int_equal(fr_run_reader_open(&own, &reader, NULL), FR_OK);
        assert_int_equal(
            fr_run_reader_row(&reader, &(struct fr_run_source){&csv, 0}, &row, &skip, &err),
            FR_ERR_INPUT);
        assert_string_equal(err.where, rows[i][1]);
        FR_TRUE(strstr(err.detail, rows[i][2]) != NULL, "got \"%s\"", err.detail);
        fr_run_reader_close(&reader);
    }
    fr_csv_free(&csv);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_statement_can_be_read),

                                       cmocka_unit_test(what_is_wrong_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
