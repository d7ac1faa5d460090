/* Single values replaced from the command line (--set), and how errors tell of it. */
#include "tests/base/json_check.h"

static void must_set(struct fr_json_document *document, const char *path, const char *text) {
    struct fr_error err = {0};
    if (fr_json_set(document, path, text, "--set", &err) != FR_OK)
        fail_msg("%s: %s", path, err.detail);
}

static void set_reaches_objects_and_arrays(void **state) {
    struct fr_json_document *document =
        parsed("{\"levels\": [{\"ranks\": 8}, {\"ranks\": 16}]}");
    (void)state;
    must_set(document, "levels.1.ranks", "many");
    must_set(document, "device.launch", "8 us");
    must_set(document, "layers", "[1, 2, 3]");
    must_set(document, "layers.0", "7");
    struct fr_json root = fr_json_root(document), levels = fr_json_member(&root, "levels");
    struct fr_json level = fr_json_element(&levels, 1),
                   device = fr_json_member(&root, "device");
    struct fr_json layers = fr_json_member(&root, "layers"),
                   first = fr_json_element(&layers, 0);
    struct fr_error err = {0};
    int64_t whole = 0;
    double time_s = 0;
    assert_int_equal(fr_json_get_integer(&level, "ranks", true, 1, 9, &whole, &err),
                     FR_ERR_INPUT);
    must_say(&err, "c.json#/levels/1/ranks (--set)", "expected a whole number, found \"many\"");
    assert_int_equal(
        fr_json_get_quantity(&device, "launch", true, FR_QUANTITY_TIME, 0, 1, &time_s, &err),
        FR_OK);
    assert_int_equal(fr_json_integer(&first, 0, 9, &whole, &err), FR_OK);
    assert_int_equal(whole, 7);
    fr_json_free(document);
}

/* Only the root counts; a missing path does not matter. */
static void what_is_dropped_is_gone(void **state) {
    struct fr_json_document *document = parsed("{\"a\": 1, \"b\": {\"a\": 2}}");
    (void)state;
    fr_json_drop(document, "a");
    fr_json_drop(document, "c");
    struct fr_json root = fr_json_root(document), a = fr_json_member(&root, "a"),
                   b = fr_json_member(&root, "b"), inner = fr_json_member(&b, "a");
    assert_true(!fr_json_present(&a) && fr_json_present(&inner));
    fr_json_free(document);
}

static void only_what_was_set_is_marked(void **state) {
    struct fr_json_document *document = parsed("{\"t\": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}");
    (void)state;
    must_set(document, "t.1", "\"x\"");
    must_set(document, "o", "{\"a\": {\"b\": 1}}");
    struct fr_json root = fr_json_root(document), t = fr_json_member(&root, "t");
    struct fr_json one = fr_json_element(&t, 1), ten = fr_json_element(&t, 10);
    struct fr_json o = fr_json_member(&root, "o"), a = fr_json_member(&o, "a");
    char where[384];
    assert_string_equal(fr_json_where(&one, where, sizeof where), "c.json#/t/1 (--set)");
    assert_string_equal(fr_json_where(&ten, where, sizeof where), "c.json#/t/10");
    assert_string_equal(fr_json_where(&a, where, sizeof where), "c.json#/o/a (--set)");
    assert_string_equal(fr_json_where(&t, where, sizeof where), "c.json#/t");
    fr_json_free(document);
}

static void set_refuses_ways_that_lead_nowhere(void **state) {
    static const char *const paths[] = {"",    "t.2",   "t.-1", "t.x", "t.99999999999999999999",
                                        "s.x", "t.0.x", "t.",   "n.x"};
    struct fr_json_document *document = parsed("{\"t\": [0, 1], \"s\": \"text\", \"n\": null}");
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct fr_error err = {0};
        if (fr_json_set(document, paths[i], "1", "--set", &err) != FR_ERR_USAGE)
            fail_msg("\"%s\" was set", paths[i]);
        assert_string_equal(err.where, "--set");
    }
    char *deep = nested(1000);
    assert_int_equal(fr_json_set(document, "s", deep, "--set", NULL), FR_ERR_INPUT);
    free(deep);
    fr_json_free(document);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_reaches_objects_and_arrays),
        cmocka_unit_test(what_is_dropped_is_gone),
        cmocka_unit_test(only_what_was_set_is_marked),
        cmocka_unit_test(set_refuses_ways_that_lead_nowhere),
    };
    return cmocka_run_group_tests_name("base.json_set", tests, NULL, NULL);
}
