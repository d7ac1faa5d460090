/* Every status has a text and an exit code of the contract; messages are safe to print. */
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void exit_codes_are_those_of_the_contract(void **state) {
    (void)state;
#define CHECK(code, exit_code, text)                                                           \
    assert_int_equal(fr_status_exit_code(code), exit_code);                                    \
    assert_string_equal(fr_status_text(code), text);
    FR_STATUS_LIST(CHECK)
#undef CHECK
    assert_int_equal(fr_status_exit_code(FR_OK), 0);
    assert_int_equal(fr_status_exit_code(FR_ERR_IO), 1);
    assert_int_equal(fr_status_exit_code(FR_ERR_USAGE), 2);
    assert_int_equal(fr_status_exit_code(FR_ERR_INPUT), 3);
    assert_int_equal(fr_status_exit_code(FR_ERR_INFEASIBLE), 4);
    assert_int_equal(fr_status_exit_code(FR_ERR_PARTIAL), 5);
}

static void messages_cannot_drive_a_terminal(void **state) {
    struct fr_error err = {0};
    (void)state;
    fr_fail(&err, FR_ERR_INPUT, "a\nb", "x\033[2J\x7f\xc2\x9b \xc3\xa9 \xc2\xb5s%c", '\r');
    assert_string_equal(err.where, "a?b");
    assert_string_equal(err.detail, "x?[2J?? \xc3\xa9 \xc2\xb5s?");
}

static void long_messages_are_cut(void **state) {
    struct fr_error err = {0};
    char text[2000];
    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(fr_fail(&err, FR_ERR_IO, text, "%s", text), FR_ERR_IO);
    assert_int_equal(strlen(err.where), sizeof err.where - 1);
    assert_int_equal(strlen(err.detail), sizeof err.detail - 1);
    assert_int_equal(fr_fail(NULL, FR_ERR_IO, NULL, "nobody listens"), FR_ERR_IO);
    fr_fail(&err, FR_ERR_IO, NULL, "no place");
    assert_string_equal(err.where, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_codes_are_those_of_the_contract),
        cmocka_unit_test(messages_cannot_drive_a_terminal),
        cmocka_unit_test(long_messages_are_cut),
    };
    return cmocka_run_group_tests_name("base.status", tests, NULL, NULL);
}
