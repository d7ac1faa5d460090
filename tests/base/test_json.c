/* JSON in: every refusal names file, place and reason. */
#include <math.h>

#include "tests/base/json_check.h"

static void refuses(const char *text, const char *says) {
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    fr_status status = fr_json_parse(text, strlen(text), "c.json", &document, &err);
    if (status != FR_ERR_INPUT) fail_msg("taken: %.60s", text);
    assert_null(document);
    must_say(&err, "c.json", says);
}

static void broken_documents_are_refused(void **state) {
    (void)state;
    refuses("", "line 1");
    refuses("{\"a\": 1", "line 1");
    refuses("{\"a\":\n [1, 2", "line 2");
    refuses("{\"a\": \"x", "line 1");
    refuses("{} {}", "end of file expected");
    refuses("{\"a\": 1} x", "end of file expected");
    refuses("{\"a\": 1, \"a\": 2}", "duplicate");
    refuses("{\"a\": 1e400}", "real number overflow");
    refuses("{\"a\": 18446744073709551616}", "too big integer");
    refuses("{\"a\": Nan}", "line 1");
    refuses("{\"a\": +Infinity}", "line 1");
    refuses("{\"a\": 0x10}", "line 1");
    refuses("{\"a\": \"\\u0000\"}", "line 1");
    refuses("{\"a\": \"\xff\"}", "line 1");
    refuses("12", "line 1");
    refuses("{\"a\": 1,}", "line 1");
}

/* NaN and Infinity, which Python's json module writes, are null; what a text says stays. */
static void python_numbers_are_null(void **state) {
    static const char *const texts[] = {"{\"a\": NaN, \"b\": \"NaN, -Infinity \\\" NaN\"}",
                                        "{\"a\": Infinity, \"b\": \"NaN, -Infinity \\\" NaN\"}",
                                        ("{\"b\": \"NaN, -Infinity \\\" NaN\", \"c\": [0.0, "
                                         "Infinity, NaN,NaN,NaN], \"a\": -Infinity}")};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct fr_json_document *document = parsed(texts[i]);
        struct fr_json root = fr_json_root(document), a = fr_json_member(&root, "a");
        assert_true(fr_json_is_null(&a));
        assert_string_equal(fr_json_text_at(&root, "b"), "NaN, -Infinity \" NaN");
        fr_json_free(document);
    }
}

static void depth_has_a_limit(void **state) {
    struct fr_json_document *document;
    (void)state;
    char *text = nested(FR_JSON_MAX_DEPTH);
    fr_json_free(parsed(text));
    free(text);
    text = nested(FR_JSON_MAX_DEPTH + 1);
    refuses(text, "nested deeper than 64 levels");
    free(text);
    text = nested(100000);
    refuses(text, "nested deeper");
    text[100000] = '\0'; /* never closed */
    refuses(text, "nested deeper");
    free(text);
    document = parsed(
        "{\"a\": "
        "\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[\"}");
    fr_json_free(document); /* brackets in a string nest nothing */
}

static void an_unknown_key_is_refused_with_the_nearest(void **state) {
    static const char *const keys[] = {"latency", "bandwidth", "ranks", NULL};
    struct fr_json_document *document =
        parsed("{\"levels\": [{\"ranks\": 8}, {\"bandwith\": \"1 GB/s\"}, {\"qqqqqqqq\": 0}]}");
    struct fr_json root = fr_json_root(document), levels = fr_json_member(&root, "levels");
    struct fr_json good = fr_json_element(&levels, 0), near = fr_json_element(&levels, 1),
                   far = fr_json_element(&levels, 2);
    struct fr_error err = {0};
    (void)state;
    assert_int_equal(fr_json_object(&good, keys, &err), FR_OK);
    assert_int_equal(fr_json_object(&near, keys, &err), FR_ERR_INPUT);
    must_say(&err, "c.json#/levels/1/bandwith", "did you mean \"bandwidth\"?");
    assert_int_equal(fr_json_object(&far, keys, &err), FR_ERR_INPUT);
    must_say(&err, "c.json#/levels/2/qqqqqqqq", "known here: latency, bandwidth, ranks");
    assert_int_equal(fr_json_object(&levels, keys, &err), FR_ERR_INPUT);
    must_say(&err, "c.json#/levels", "expected an object, found an array");
    fr_json_free(document);
}

static void errors_keep_the_way_through_nested_arrays(void **state) {
    struct fr_json_document *document = parsed("{\"t\": [[1, 2], [3, [4, \"x\"]]]}");
    struct fr_json root = fr_json_root(document), t = fr_json_member(&root, "t");
    struct fr_json row = fr_json_element(&t, 1), cell = fr_json_element(&row, 1);
    struct fr_json last = fr_json_element(&cell, 1), past = fr_json_element(&cell, 7);
    struct fr_error err = {0};
    double number = 9;
    (void)state;
    assert_int_equal(fr_json_number(&last, 0, 10, &number, &err), FR_ERR_INPUT);
    must_say(&err, "c.json#/t/1/1/1", "expected a number, found \"x\"");
    assert_int_equal(fr_json_number(&past, 0, 10, &number, &err), FR_ERR_INPUT);
    must_say(&err, "c.json#/t/1/1/7", "is missing; expected a number");
    assert_int_equal(fr_json_array(&cell, 3, 4, &err), FR_ERR_INPUT);
    must_say(&err, "c.json#/t/1/1", "has 2 elements; expected 3 to 4");
    assert_int_equal(fr_json_array(&cell, 3, INT64_MAX, &err), FR_ERR_INPUT);
    must_say(&err, "c.json#/t/1/1", "expected at least 3");
    assert_int_equal(fr_json_fail(&root, &err, "is odd"), FR_ERR_INPUT);
    must_say(&err, "c.json#/", "is odd");
    assert_true(number == 9);
    fr_json_free(document);
}

static void a_long_file_name_keeps_its_end(void **state) {
    char name[600], where[384];
    struct fr_json_document *document = NULL;
    (void)state;
    memset(name, 'd', sizeof name);
    snprintf(name + sizeof name - 20, 20, "/cluster.json");
    assert_int_equal(fr_json_parse("{}", 2, name, &document, NULL), FR_OK);
    struct fr_json root = fr_json_root(document), key = fr_json_member(&root, "device");
    fr_json_where(&key, where, sizeof where);
    assert_non_null(strstr(where, "/cluster.json#/device"));
    fr_json_free(document);
}

static void numbers_have_bounds(void **state) {
    struct fr_json_document *document =
        parsed("{\"i\": 4, \"r\": 4.0, \"h\": 4.5, \"n\": -1, \"b\": true, \"z\": null}");
    struct fr_json root = fr_json_root(document);
    struct fr_error err = {0};
    int64_t whole = 0;
    double real = 7;
    bool flag = false;
    (void)state;
    assert_int_equal(fr_json_get_integer(&root, "i", true, 1, 8, &whole, &err), FR_OK);
    assert_int_equal(fr_json_get_integer(&root, "r", true, 4, 4, &whole, &err), FR_OK);
    assert_int_equal(whole, 4);
    assert_int_equal(fr_json_get_integer(&root, "h", true, 1, 8, &whole, &err), FR_ERR_INPUT);
    must_say(&err, "c.json#/h", "expected a whole number, found 4.5");
    assert_int_equal(fr_json_get_integer(&root, "n", true, 1, INT64_MAX, &whole, &err),
                     FR_ERR_INPUT);
    must_say(&err, "c.json#/n", "is -1; expected at least 1");
    assert_int_equal(fr_json_get_number(&root, "h", true, 0, 1, &real, &err), FR_ERR_INPUT);
    must_say(&err, "c.json#/h", "is 4.5; expected 0 to 1");
    assert_int_equal(fr_json_get_number(&root, "z", false, 0, 1, &real, &err), FR_ERR_INPUT);
    must_say(&err, "c.json#/z", "found null");
    assert_int_equal(fr_json_get_number(&root, "none", false, 0, 1, &real, &err), FR_OK);
    assert_true(real == 7); /* the default stays */
    assert_int_equal(fr_json_get_number(&root, "none", true, 0, 1, &real, &err), FR_ERR_INPUT);
    must_say(&err, "c.json#/none", "is missing");
    assert_int_equal(fr_json_get_bool(&root, "b", true, &flag, &err), FR_OK);
    assert_true(flag);
    assert_int_equal(fr_json_get_bool(&root, "i", true, &flag, &err), FR_ERR_INPUT);
    must_say(&err, "c.json#/i", "expected true or false, found 4");
    fr_json_free(document);
}

static void quantities_and_choices(void **state) {
    static const char *const methods[] = {"tensor", "phantom", "grid", NULL};
    struct fr_json_document *document =
        parsed("{\"lat\": \"2 us\", \"bare\": 25, \"neg\": \"-1 s\", \"method\": \"fantom\", "
               "\"big\": \"9 h\"}");
    struct fr_json root = fr_json_root(document);
    struct fr_error err = {0};
    double time_s = 0;
    int choice = -1;
    char text[3] = "";
    (void)state;
    assert_int_equal(
        fr_json_get_quantity(&root, "lat", true, FR_QUANTITY_TIME, 0, 1, &time_s, &err), FR_OK);
    assert_true(time_s == 2 * 1e-6);
    fr_json_get_quantity(&root, "bare", true, FR_QUANTITY_RATE, 0, 1e12, &time_s, &err);
    must_say(&err, "c.json#/bare", "25 has no unit; write e.g. \"25 GB/s\"");
    fr_json_get_quantity(&root, "neg", true, FR_QUANTITY_TIME, 0, 1, &time_s, &err);
    must_say(&err, "c.json#/neg", "\"-1 s\" is negative");
    fr_json_get_quantity(&root, "big", true, FR_QUANTITY_TIME, 1e-3, 1, &time_s, &err);
    must_say(&err, "c.json#/big", "\"9 h\" is outside 1 ms to 1 s");
    fr_json_get_choice(&root, "method", true, methods, &choice, &err);
    must_say(&err, "c.json#/method", "did you mean \"phantom\"?");
    assert_int_equal(choice, -1);
    fr_json_get_string(&root, "lat", true, text, sizeof text, &err);
    must_say(&err, "c.json#/lat", "is longer than 2 bytes");
    fr_json_free(document);
}

/* Absent and null are unknown; what is there and no number is refused, as is one out of range. */
static void unknown_is_not_wrong(void **state) {
    struct fr_json_document *document =
        parsed("{\"null\": null, \"one\": 1, \"much\": 11, \"text\": \"1\", \"flag\": true}");
    struct fr_json root = fr_json_root(document), null = fr_json_member(&root, "null"),
                   absent = fr_json_member(&root, "absent"), one = fr_json_member(&root, "one");
    static const char *const unknown[] = {"null", "absent"}, *const wrong[] = {"much", "text",
                                                                               "flag"};
    double got = 0;
    (void)state;
    assert_true(fr_json_is_null(&null));
    assert_false(fr_json_is_null(&absent) || fr_json_is_null(&one));
    for (int i = 0; i < 2; i++) {
        got = 7;
        assert_int_equal(fr_json_get_known(&root, unknown[i], 0, 10, &got, NULL), FR_OK);
        assert_true(isnan(got) && isnan(fr_json_number_at(&root, unknown[i])));
    }
    assert_int_equal(fr_json_get_known(&root, "one", 0, 10, &got, NULL), FR_OK);
    assert_true(got == 1 && fr_json_number_at(&root, "one") == 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(fr_json_get_known(&root, wrong[i], 0, 10, &got, NULL), FR_ERR_INPUT);
    assert_string_equal(fr_json_text_at(&root, "text"), "1");
    assert_string_equal(fr_json_text_at(&root, "one"), "");
    fr_json_free(document);
}

static void keys_come_in_file_order(void **state) {
    struct fr_json_document *document = parsed("{\"z\": 1, \"a\": 2, \"m\": 3}");
    struct fr_json root = fr_json_root(document);
    (void)state;
    assert_string_equal(fr_json_key_at(&root, 0), "z");
    assert_string_equal(fr_json_key_at(&root, 1), "a");
    assert_string_equal(fr_json_key_at(&root, 2), "m");
    assert_null(fr_json_key_at(&root, 3));
    assert_string_equal(fr_json_key_after(&root, NULL), "z");
    assert_string_equal(fr_json_key_after(&root, "z"), "a");
    assert_null(fr_json_key_after(&root, "m"));
    fr_json_free(document);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_documents_are_refused),
        cmocka_unit_test(python_numbers_are_null),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(an_unknown_key_is_refused_with_the_nearest),
        cmocka_unit_test(errors_keep_the_way_through_nested_arrays),
        cmocka_unit_test(a_long_file_name_keeps_its_end),
        cmocka_unit_test(numbers_have_bounds),
        cmocka_unit_test(quantities_and_choices),
        cmocka_unit_test(unknown_is_not_wrong),
        cmocka_unit_test(keys_come_in_file_order),
    };
    return cmocka_run_group_tests_name("base.json", tests, NULL, NULL);
}
