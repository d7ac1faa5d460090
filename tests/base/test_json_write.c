/* JSON out: what is written reads back the same. */
#include "tests/base/json_check.h"

#include <math.h>

static void write_sample(struct fr_json_writer *w) {
    fr_json_begin_object(w);
    fr_json_add_string(w, "s", "a \"quote\", a \\, a\nline, \t, \001, \xc3\xa9");
    fr_json_add_number(w, "nan", NAN);
    fr_json_add_number(w, "inf", -INFINITY);
    fr_json_add_number(w, "tenth", 0.1);
    fr_json_add_integer(w, "least", INT64_MIN);
    fr_json_add_bool(w, "yes", true);
    fr_json_add_array(w, "list");
    fr_json_put_integer(w, 1);
    fr_json_begin_object(w);
    fr_json_end_object(w);
    fr_json_put_null(w);
    fr_json_end_array(w);
    fr_json_end_object(w);
}

static void what_is_written_reads_back(void **state) {
    (void)state;
    for (int indent = 0; indent <= 4; indent += 2) {
        struct fr_text text = {0};
        struct fr_json_writer w = {.text = &text, .indent = indent};
        write_sample(&w);
        assert_int_equal(w.depth, 0);
        struct fr_json_document *document = parsed(fr_text_get(&text));
        struct fr_json root = fr_json_root(document), s = fr_json_member(&root, "s");
        struct fr_json list = fr_json_member(&root, "list");
        struct fr_error err = {0};
        const char *string = NULL;
        double tenth = 0;
        int64_t least = 0;
        assert_int_equal(fr_json_text(&s, &string, &err), FR_OK);
        assert_string_equal(string, "a \"quote\", a \\, a\nline, \t, \001, \xc3\xa9");
        assert_int_equal(fr_json_get_number(&root, "tenth", true, 0, 1, &tenth, &err), FR_OK);
        assert_true(tenth == 0.1);
        assert_int_equal(fr_json_get_integer(&root, "least", true, INT64_MIN, 0, &least, &err),
                         FR_OK);
        assert_true(least == INT64_MIN);
        assert_int_equal(fr_json_array_length(&list), 3);
        assert_non_null(strstr(text.data, "\"nan\": null"));
        assert_non_null(strstr(text.data, "\"inf\": null"));
        assert_int_equal(strchr(text.data, '\n') != NULL, indent > 0);
        fr_json_free(document);
        fr_text_free(&text);
    }
}

static void numbers_take_the_fewest_digits(void **state) {
    static const double values[] = {0.1,     1.0 / 3, 1e22,    5e-324, 1.7976931348623157e308,
                                    1e15,    123456,  -2.5e-6, 0x1p53, 9007199254740993.0,
                                    1.1e-10, 0.3};
    char out[32];
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_true(strtod(fr_number_write(values[i], out, sizeof out), NULL) == values[i]);
    assert_string_equal(fr_number_write(0.1, out, sizeof out), "0.1");
    assert_string_equal(fr_number_write(0.3, out, sizeof out), "0.3");
    assert_string_equal(fr_number_write(123456, out, sizeof out), "123456");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(numbers_take_the_fewest_digits),
    };
    return cmocka_run_group_tests_name("base.json_write", tests, NULL, NULL);
}
