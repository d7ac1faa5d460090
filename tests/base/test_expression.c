/* Expressions of descriptions: arithmetic as C has it, none that goes on, words, and what is wrong told. */
#include "base/describe/expression.h"

#include <math.h>
#include <string.h>

#include "base/describe/statements.h"
#include "tests/cmocka.h"

static fr_status name_of(void *context, const char *name, struct fr_term *out,
                         struct fr_error *err) {
    (void)context;
    (void)err;
    if (strcmp(name, "x") == 0) return *out = fr_term_number(3), FR_OK;
    if (strcmp(name, "gain[2]") == 0) return *out = fr_term_number(7), FR_OK;
    if (strcmp(name, "gpus") == 0) return *out = fr_term_text("64"), FR_OK;
    if (strcmp(name, "release") == 0) return *out = fr_term_text("26.02.01 NeMo"), FR_OK;
    if (strcmp(name, "empty") == 0) return *out = fr_term_text(""), FR_OK;
    return FR_ERR_UNSUPPORTED;
}

static const struct fr_meaning scope = {.name = name_of};

static void values(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value; /* NaN: none */
    } rows[] = {{"1 + 2 * x", 7},
                {"(1 + 2) * x", 9},
                {"2 * x ^ 2", 18},
                {"-x ^ 2", -9},
                {"10 - 4 - 3", 3},
                {"16 / 4 / 2", 2},
                {"gain[x - 1]", 7},
                {"x if x > 2 else 0", 3},
                {"x if x > 5 else 0", 0},
                {"x if x > 5", NAN},
                {"1 + whole(empty)", NAN},
                {"first(whole(empty), 8)", 8},
                {"gpus > 8", 1},
                {"'64' > '8'", 1},
                {"release >= '26.02'", 1},
                {"release < '26.04'", 1},
                {"release starts '26.02.01 '", 1},
                {"'GPT3-175B v2' has 'gpt3 175b'", 1},
                {"'GPT3' has ''", 0},
                {"not empty and (x == 3 or y_is_not_read)", NAN},
                {"pick('b', 'a', 1, 'b', 2, 3)", 2},
                {"pick('c', 'a', 1, 'b', 2, 3)", 3},
                {"match('NVIDIA GB200', 'GB200', 1, 'B200', 2)", 1},
                {"number('250k (early)')", 250000},
                {"number('word(x)')", NAN},
                {"word('24 2048 16', 2)", 2048},
                {"max(sqrt(16), 2) + mod(7, 4)", 7},
                {"0x1p30", 0x1p30}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_term term;
        struct fr_error err = {0};
        fr_status status = fr_expression(rows[i].text, &scope, &term, &err);
        double got = fr_term_as_number(&term);
        bool unknown = strstr(rows[i].text, "y_is_not_read") != NULL;
        FR_TRUE((status == FR_OK) != unknown, "%s: %s", rows[i].text, err.detail);
        FR_TRUE(unknown || got == rows[i].value || (isnan(got) && isnan(rows[i].value)),
                "%s: got %g, wanted %g", rows[i].text, got, rows[i].value);
    }
}

static void templates(void **state) {
    (void)state;
    char out[80];
    assert_int_equal(
        fr_template("{gpus} GPUs, {x / 7:%.3f}, {x}", &scope, out, sizeof out, NULL), FR_OK);
    assert_string_equal(out, "64 GPUs, 0.429, 3");
}

static void what_is_wrong_is_told(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"1 +", "expected a value at \"the end\""}, {"(1", "expected )"},
        {"z", "nothing is called \"z\""},           {"f(1)", "no function \"f\""},
        {"x x", "expected an end at \"x\""},        {"'open", "expected an end of the text"},
        {"\"{x:%s}\"", "\"%s\" is no format"},      {"\"{x\"", "has no }"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_term term;
        struct fr_error err = {0};
        assert_int_equal(fr_expression(rows[i][0], &scope, &term, &err), FR_ERR_INPUT);
        FR_TRUE(strstr(err.detail, rows[i][1]) != NULL, "%s: got \"%s\"", rows[i][0],
                err.detail);
    }
    char deep[300] = "";
    for (int i = 0; i < 200; i++) deep[i] = '(';
    struct fr_term term;
    assert_int_equal(fr_expression(deep, &scope, &term, NULL), FR_ERR_INPUT);
}

static void lines_that_go_on(void **state) {
    (void)state;
    struct fr_statements s;
    assert_int_equal(fr_statements_read("# people\n\na = 1\n  + 2\n# more\nb = 3", &s, NULL),
                     FR_OK);
    assert_int_equal(s.n, 2);
    assert_string_equal(s.item[0].text, "a = 1 + 2");
    assert_string_equal(s.item[1].text, "b = 3");
    assert_int_equal(s.item[1].line, 6);
    assert_string_equal(fr_statement_after("use  it", "use"), "it");
    assert_null(fr_statement_after("user", "use"));
    fr_statements_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(templates),
                                       cmocka_unit_test(what_is_wrong_is_told),
                                       cmocka_unit_test(lines_that_go_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
