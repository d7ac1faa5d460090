/* Verdicts in colour: where a line begins with one, or says "verdict" before it; nowhere else. */
#include <unistd.h>

#include "base/text/colour.h"
#include "tests/cmocka.h"

static void verdicts_alone(void **state) {
    static const char plain[] =
        "PASS  a PASS\nFAIL: b\nWARN\nPASSED  c\n fine\nverdict WARN: d\nverdict is WARN\nFAIL";
    static const char wanted[] =
        "\033[32mPASS\033[0m  a PASS\n\033[31mFAIL\033[0m: b\n\033[33mWARN\033[0m\nPASSED  c\n"
        " fine\nverdict \033[33mWARN\033[0m: d\nverdict is WARN\n\033[31mFAIL\033[0m";
    struct fr_text out = {0};
    (void)state;
    fr_colour_verdicts(plain, &out);
    assert_string_equal(fr_text_get(&out), wanted);
    fr_text_free(&out);
}

/* A file is no terminal, whatever the environment says. */
static void no_terminal(void **state) {
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_false(fr_colours(ends[1]));
    close(ends[0]), close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts_alone),
                                       cmocka_unit_test(no_terminal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
