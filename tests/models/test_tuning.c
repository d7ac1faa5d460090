/* A cluster file's uncertainty of its coefficients is read as written: a tuning row by row, widths each by its path.
 * */
#include "models/device/tuning.h"

#include <stdio.h>

#include "models/job/uncertainty.h"
#include "tests/cmocka.h"

static fr_status read(const char *text, struct fr_tuning *tuning, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    fr_status status = fr_json_parse(text, strlen(text), "tuning", &document, err);
    if (status != FR_OK) return status;
    struct fr_json root = fr_json_root(document);
    status = fr_tuning_read(&root, tuning, err);
    fr_json_free(document);
    return status;
}

#define COEFFICIENTS                                                                           \
    "\"coefficients\": [{\"name\": \"a\", \"fitted\": true}, "                                 \
    "{\"name\": \"kept\", \"fitted\": false}, {\"name\": \"b\", \"fitted\": true}]"

/* Names of what was fitted, in order, those of what was kept passed over; the matrix row by row. */
static void names_and_rows_are_read(void **state) {
    struct fr_tuning t;
    struct fr_error err = {0};
    (void)state;
    if (read("{\"spread\": 0.25, \"stretch\": 1.75, \"experts\": false, " COEFFICIENTS
             ", \"covariance\": [[1, 2], [3, 4]]}",
             &t, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    assert_true(t.present && !t.experts && t.sharded);
    assert_int_equal(t.n, 2);
    assert_string_equal(t.name[0], "a");
    assert_string_equal(t.name[1], "b");
    for (int i = 0; i < 4; i++) assert_true(t.covariance[i] == i + 1);
    assert_true(t.spread == 0.25 && t.stretch == 1.75);
}

static void older_files_had_seen_everything(void **state) {
    struct fr_tuning t;
    struct fr_error err = {0};
    (void)state;
    assert_int_equal(read("{\"spread\": 0, \"stretch\": 0, \"covariance\": []}", &t, &err),
                     FR_OK);
    assert_true(t.present && t.experts && t.sharded && t.n == 0);
    assert_int_equal(
        read("{\"spread\": 0, \"stretch\": 0, \"sharded\": false, \"covariance\": []}", &t,
             &err),
        FR_OK);
    assert_true(t.experts && !t.sharded);
}

/* More rows than names, rows of another length, a variance below 0, what is beyond its range. */
static void what_does_not_fit_is_refused(void **state) {
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"{\"spread\": 0, \"stretch\": 1, " COEFFICIENTS
         ", \"covariance\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}",
         "has 3 rows, but only 2 coefficients are known"},
        {"{\"spread\": 0, \"stretch\": 1, " COEFFICIENTS ", \"covariance\": [[1, 0], [0, -1]]}",
         "a variance cannot be negative"},
        {"{\"spread\": 0, \"stretch\": 1, " COEFFICIENTS ", \"covariance\": [[1, 0], [0]]}",
         ""},
        {"{\"spread\": 11, \"stretch\": 1, \"covariance\": []}", ""},
        {"{\"spread\": 0, \"stretch\": 101, \"covariance\": []}", ""},
        {"{\"stretch\": 1, \"covariance\": []}", ""},
        {"{\"spread\": 0, \"covariance\": []}", ""},
        {"{\"spread\": 0, \"stretch\": 1}", ""},
        {"{\"spread\": 0, \"stretch\": 1, \"covariance\": [], \"other\": 1}", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct fr_tuning t;
        struct fr_error err = {0};
        FR_TRUE(read(wrong[i].text, &t, &err) == FR_ERR_INPUT, "%s was accepted",
                wrong[i].text);
        FR_TRUE(strstr(err.detail, wrong[i].message), "got \"%s\"", err.detail);
    }
}

/* A covariance may be negative off the diagonal, and a variance 0. */
static void covariances_may_be_negative(void **state) {
    struct fr_tuning t;
    struct fr_error err = {0};
    (void)state;
    assert_int_equal(read("{\"spread\": 0, \"stretch\": 1, " COEFFICIENTS
                          ", \"covariance\": [[0, -2], [-2, 9]]}",
                          &t, &err),
                     FR_OK);
    assert_true(t.covariance[1] == -2 && t.covariance[2] == -2 && t.covariance[0] == 0);
}

#define WITH(seen)                                                                             \
    "{\"spread\": 0, \"stretch\": 1, " COEFFICIENTS                                            \
    ", \"covariance\": [[1, 2], [2, 9]], \"seen\": " seen "}"

/* Models and plans with what they share: the coefficients, then those before; both ways round. */
static void models_and_plans_are_read(void **state) {
    struct fr_tuning t;
    struct fr_error err = {0};
    (void)state;
    if (read(WITH("[{\"model\": [4096, 32], \"covariance\": [-1, 0.5, 3]}, {\"plan\": [8, 4, "
                  "1, 2, 3, 5], \"missed\": -0.25, "
                  "\"covariance\": [4, 5, -6, 7]}]"),
             &t, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    static const double wanted[] = {-1, 0.5, 3, -6, 4, 5, -6, 7};
    static const int64_t plan[] = {8, 4, 1, 2, 3, 5};
    assert_int_equal(t.n_seen, 2);
    assert_true(t.seen[0].what == FR_SEEN_MODEL && t.seen[0].key[0] == 4096 &&
                t.seen[0].key[1] == 32 && t.seen[0].key[2] == 0);
    assert_true(t.seen[0].model_error == 0 && t.seen[1].model_error == -0.25);
    assert_true(t.seen[1].what == FR_SEEN_PLAN &&
                memcmp(t.seen[1].key, plan, sizeof plan) == 0);
    for (int i = 0; i < 8; i++) assert_true(t.seen_covariance[i] == wanted[i]);
}

/* A key too short, neither a model nor a plan, a row too short, a variance below 0, more than the capacity. */
static void models_that_do_not_fit_are_refused(void **state) {
    static const char *const wrong[] = {
        WITH("[{\"model\": [4096], \"covariance\": [0, 0, 1]}]"),
        WITH("[{\"plan\": [1, 1, 1, 1, 0], \"covariance\": [0, 0, 1]}]"),
        WITH(
            "[{\"plan_of_model\": [1, 1, 1, 1, 0, 1, 1, 1, 1, 1], \"covariance\": [0, 0, 1]}]"),
        WITH("[{\"covariance\": [0, 0, 1]}]"),
        WITH("[{\"model\": [4096, 32], \"missed\": 11, \"covariance\": [0, 0, 1]}]"),
        WITH("[{\"model\": [4096, 32], \"covariance\": [0, 1]}]"),
        WITH("[{\"model\": [4096, 32], \"covariance\": [0, 0, -1]}]"),
        WITH("[{\"model\": [4096, -1], \"covariance\": [0, 0, 1]}]"),
        WITH("[{\"model\": [4096, 32], \"covariance\": [0, 0, 1], \"other\": 1}]"),
        WITH("[1]"),
        WITH("1")};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct fr_tuning t;
        struct fr_error err = {0};
        FR_TRUE(read(wrong[i], &t, &err) == FR_ERR_INPUT, "%s was accepted", wrong[i]);
    }
}

/* ---- widths ---- */

static fr_status read_at(const char *text, int n_levels, struct fr_uncertainty *widths,
                         struct fr_error *err) {
    const struct fr_levels levels = {.count = n_levels};
    struct fr_json_document *document = NULL;
    fr_status status = fr_json_parse(text, strlen(text), "widths", &document, err);
    if (status != FR_OK) return status;
    struct fr_json root = fr_json_root(document);
    status = fr_uncertainty_read(&root, &levels, widths, err);
    fr_json_free(document);
    return status;
}

/* Under its path each value is read, of its dtype or of all, and no other; written it reads the same. */
static void each_is_read_under_its_path(void **state) {
    static const bool none[FR_VALUE_COUNT];
    (void)state;
    for (int levels = 2; levels <= 3; levels++)
        for (int v = 0; v < FR_VALUE_COUNT; v++)
            for (int d = 0; d < FR_DTYPE_COUNT; d++) {
                char path[FR_VALUE_PATH], other[FR_VALUE_PATH], text[96];
                const struct fr_levels of = {.count = levels};
                struct fr_uncertainty widths, back;
                struct fr_text put = {0};
                struct fr_json_writer w = {.text = &put};
                bool dropped[FR_VALUE_COUNT] = {false};
                assert_non_null(fr_value_path((fr_value)v, (fr_dtype)d, &of, path));
                fr_value_path((fr_value)v, d ? FR_FP64 : FR_FP32, &of, other);
                bool alike = strcmp(path, other) == 0;
                snprintf(text, sizeof text, "{\"%s\": 0.25}", path);
                assert_int_equal(read_at(text, levels, &widths, NULL), FR_OK);
                assert_true(widths.present);
                for (int a = 0; a < FR_VALUE_COUNT; a++)
                    for (int b = 0; b < FR_DTYPE_COUNT; b++)
                        FR_TRUE(widths.sigma[a][b] == (a == v && (alike || b == d) ? 0.25 : 0),
                                "%s: %d of %s is %g", path, a, fr_dtype_names[b],
                                widths.sigma[a][b]);
                assert_true(fr_uncertainty_put(&widths, &of, none, &w));
                assert_string_equal(fr_text_get(&put), text);
                assert_int_equal(read_at(fr_text_get(&put), levels, &back, NULL), FR_OK);
                assert_memory_equal(&back, &widths, sizeof back);
                fr_text_free(&put);
                w = (struct fr_json_writer){.text = &put};
                dropped[v] = true;
                assert_false(fr_uncertainty_put(&widths, &of, dropped, &w));
                assert_string_equal(fr_text_get(&put), "{}");
                fr_text_free(&put);
            }
}

static void nothing_said_is_no_width(void **state) {
    struct fr_uncertainty widths = {.present = true};
    const struct fr_levels levels = {.count = 1};
    const struct fr_json absent = {0};
    (void)state;
    assert_int_equal(fr_uncertainty_read(&absent, &levels, &widths, NULL), FR_OK);
    assert_false(widths.present);
    assert_int_equal(read_at("{}", 1, &widths, NULL), FR_OK);
    assert_false(widths.present);
}

#define TOGETHER(of, more) "{\"together\": [{\"of\": {" of "}, \"width\": 0.02" more "}]}"

/* Values together are read with their powers, in the order of the table, and written back the same, but for those of which
 * one is left out. */
static void together_is_read_and_written(void **state) {
    static const char text[] =
        "{\"levels.0.bandwidth\": 0.1, \"together\": [{\"of\": "
        "{\"device.gemm.fp8.efficiency\": 1, \"device.memory_bandwidth\": "
        "0.25, \"levels.1.latency\": -0.5}, \"width\": 0.02}, "
        "{\"of\": {\"device.interference\": 2, \"device.launch\": "
        "-100}, \"width\": 2}]}";
    static const struct fr_levels two = {.count = 2};
    static const bool none[FR_VALUE_COUNT];
    bool dropped[FR_VALUE_COUNT] = {false};
    struct fr_uncertainty widths, back;
    struct fr_text put = {0};
    struct fr_json_writer w = {.text = &put};
    (void)state;
    assert_int_equal(read_at(text, 2, &widths, NULL), FR_OK);
    assert_true(widths.present && widths.n_correlated == 2);
    const struct fr_correlated *first = &widths.correlated[0], *second = &widths.correlated[1];
    assert_true(first->sigma == 0.02 && first->n == 3 && second->sigma == 2 && second->n == 2);
    for (int v = 0; v < FR_VALUE_COUNT; v++) {
        FR_TRUE(fr_correlated_power(first, (fr_value)v) == (v == FR_VALUE_EFFICIENCY    ? 1
                                                            : v == FR_VALUE_MEMORY_RATE ? 0.25
                                                            : v == FR_VALUE_NETWORK_LATENCY
                                                                ? -0.5
                                                                : 0),
                "value %d", v);
        FR_TRUE(fr_correlated_power(second, (fr_value)v) == (v == FR_VALUE_INTERFERENCE ? 2
                                                             : v == FR_VALUE_LAUNCH     ? -100
                                                                                        : 0),
                "value %d", v);
    }
    for (int d = 0; d < FR_DTYPE_COUNT; d++) {
        assert_true(fr_correlated_is_of(first, (fr_dtype)d) == (d == FR_FP8));
        assert_true(fr_correlated_is_of(second, (fr_dtype)d));
    }
    assert_true(fr_uncertainty_put(&widths, &two, none, &w));
    assert_string_equal(fr_text_get(&put), text);
    assert_int_equal(read_at(fr_text_get(&put), 2, &back, NULL), FR_OK);
    assert_memory_equal(&back, &widths, sizeof back);
    fr_text_free(&put);
    w = (struct fr_json_writer){.text = &put};
    dropped[FR_VALUE_NODE_RATE] = dropped[FR_VALUE_LAUNCH] = true;
    assert_true(fr_uncertainty_put(&widths, &two, dropped, &w));
    assert_int_equal(read_at(fr_text_get(&put), 2, &back, NULL), FR_OK);
    assert_int_equal(back.n_correlated, 1);
    assert_memory_equal(&back.correlated[0], first, sizeof *first);
    fr_text_free(&put);
    w = (struct fr_json_writer){.text = &put};
    dropped[FR_VALUE_MEMORY_RATE] = true;
    assert_false(fr_uncertainty_put(&widths, &two, dropped, &w));
    assert_string_equal(fr_text_get(&put), "{}");
    fr_text_free(&put);
}

/* Refuses a path that is no value, a level between or one that is not there, an empty one and one with too much. */
static void what_is_no_width_is_refused(void **state) {
    static const struct {
        const char *text, *where, *detail;
        int levels;
    } wrong[] = {
        {"{\"device.attention.flahs\": 0.1}", "widths#/device.attention.flahs",
         "did you mean \"device.attention.flash\"", 2},
        {"{\"device.memory\": 0.1}", "widths#/device.memory", "unknown key", 2},
        {"{\"device.gemm.int8.tail\": 0.1}", "widths#/device.gemm.int8.tail", "unknown key", 2},
        {"{\"efficiency\": 0.1}", "widths#/efficiency", "unknown key", 2},
        {"{\"levels.1.latency\": 0.1}", "widths#/levels.1.latency", "unknown key", 1},
        {"{\"levels.1.latency\": 0.1}", "widths#/levels.1.latency", "unknown key", 3},
        {"{\"levels.2.latency\": 0.1}", "widths#/levels.2.latency", "unknown key", 2},
        {"{\"device.launch\": 0}", "widths#/device.launch", "is 0", 2},
        {"{\"device.launch\": 2.5}", "widths#/device.launch", "is 2.5", 2},
        {"{\"device.launch\": \"5 %\"}", "widths#/device.launch", "expected a number", 2},
        {"[]", "widths#", "expected an object", 2},
        {"{\"together\": {}}", "widths#/together", "expected an array", 2},
        {"{\"together\": []}", "widths#/together", "", 2},
        {"{\"together\": [{\"width\": 0.1}]}", "widths#/together/0", "\"of\"", 2},
        {"{\"together\": [{\"of\": {\"device.launch\": 1, \"device.fixed\": 1}}]}",
         "widths#/together/0/width", "is missing", 2},
        {TOGETHER("\"device.launch\": 1", ""), "widths#/together/0/of", "has 1 value:", 2},
        {TOGETHER("", ""), "widths#/together/0/of", "has 0 values:", 2},
        {TOGETHER("\"device.launch\": 1, \"together\": []", ""),
         "widths#/together/0/of/together", "unknown key", 2},
        {TOGETHER("\"device.launch\": 1, \"device.lunch\": 1", ""),
         "widths#/together/0/of/device.lunch", "did you mean \"device.launch\"", 2},
        {TOGETHER("\"device.launch\": 1, \"device.fixed\": 0", ""),
         "widths#/together/0/of/device.fixed", "leave it out", 2},
        {TOGETHER("\"device.launch\": 1, \"device.fixed\": 100.5", ""),
         "widths#/together/0/of/device.fixed", "is 100.5", 2},
        {TOGETHER("\"device.gemm.bf16.tail\": 1, \"device.gemm.fp8.tail\": 1", ""),
         "widths#/together/0/of/device.gemm.fp8.tail", "another dtype", 2},
        {TOGETHER("\"device.launch\": 1, \"device.fixed\": 1", ", \"source\": \"\""),
         "widths#/together/0/source", "unknown key", 2}};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct fr_uncertainty widths;
        struct fr_error err = {0};
        FR_TRUE(read_at(wrong[i].text, wrong[i].levels, &widths, &err) == FR_ERR_INPUT,
                "%s was accepted", wrong[i].text);
        FR_TRUE(strstr(err.where, wrong[i].where) && strstr(err.detail, wrong[i].detail),
                "%s: %s: %s", wrong[i].text, err.where, err.detail);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_rows_are_read),
        cmocka_unit_test(older_files_had_seen_everything),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(covariances_may_be_negative),
        cmocka_unit_test(models_and_plans_are_read),
        cmocka_unit_test(models_that_do_not_fit_are_refused),
        cmocka_unit_test(each_is_read_under_its_path),
        cmocka_unit_test(together_is_read_and_written),
        cmocka_unit_test(nothing_said_is_no_width),
        cmocka_unit_test(what_is_no_width_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
