/* Verdicts in colour: where a line begins with one, or says "verdict" before it; nowhere else. */
#include <unistd.h>

#include "base/text/colour.h"
#include "tests/app/command.h"

static void verdicts_alone(void **state) {
    static const char plain[] =
        "PASS  a PASS\nFAIL: b\nWARN\nPASSED  c\n fine\nverdict WARN: d\nverdict is WARN\nFAIL";
    static const char wanted[] =
        "\033[32mPASS\033[0m  a PASS\n\033[31mFAIL\033[0m: b\n\033[33mWARN\033[0m\nPASSED  c\n"
        " fine\nverdict \033[33mWARN\033[0m: d\nverdict is WARN\n\033[31mFAIL\033[0m";
    struct fr_text out = {0};
    (void)state;
    fr_colour_answer(plain, &out);
    assert_string_equal(fr_text_get(&out), wanted);
    fr_text_free(&out);
}

/* A file is no terminal, whatever the environment says. */
static void no_terminal(void **state) {
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_false(fr_colours(ends[1]));
    fr_colour_set(FR_COLOUR_ALWAYS);
    assert_true(fr_colours(ends[1]));
    fr_colour_set(FR_COLOUR_AUTO);
    close(ends[0]), close(ends[1]);
}

static void best_and_likely_word(void **state) {
    static const char *const cases[][2] = {{"best       tp 8\n2          tp 4\n",
                                            "\033[1mbest       tp 8\033[0m\n2          tp 4\n"},
                                           {"the best\n", "the best\n"},
                                           {"{\n\"best\": 1\n}\n", "{\n\"best\": 1\n}\n"},
                                           {"[\nFAIL\n", "[\nFAIL\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_text out = {0};
        fr_colour_answer(cases[i][0], &out);
        assert_string_equal(fr_text_get(&out), cases[i][1]);
        fr_text_free(&out);
    }
    struct fr_text out = {0};
    fr_colour_error("unknown \"a\"; did you mean \"b\"? Or c", &out);
    fr_colour_error("\nno word", &out);
    assert_string_equal(fr_text_get(&out),
                        "unknown \"a\"; did you mean \033[32m\"b\"\033[0m? Or c\nno word");
    fr_text_free(&out);
}

/* Every verb takes it, in either form. */
static void the_option(void **state) {
    (void)state;
    fr_test_expect("forerun predict --color=always -c frontiere -m ffn-16384", 3, NULL,
                   "did you mean \033[32m\"frontier\"\033[0m?");
    fr_test_expect("forerun --color always predict -c frontiere -m ffn-16384", 3, NULL,
                   "\033[31mforerun predict:\033[0m");
    fr_test_expect("forerun predict -c frontiere -m ffn-16384 --color never", 3, NULL,
                   "did you mean \"frontier\"?");
    fr_test_expect("forerun predict -c frontiere -m ffn-16384", 3, NULL,
                   "did you mean \"frontier\"?");
    fr_test_expect("forerun search -c frontier -m ffn-16384 --ranks 8 --color always", 0,
                   "\033[1mbest ", NULL);
    fr_test_expect("forerun search -c frontier -m ffn-16384 --ranks 8 --color alway", 2, NULL,
                   "did you mean \"always\"?");
    fr_test_expect("forerun list forms --color", 2, NULL, "--color: \"\" is no time to colour");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_alone), cmocka_unit_test(no_terminal),
        cmocka_unit_test(best_and_likely_word), cmocka_unit_test(the_option)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
