/* Ranges of the command line. */
#include "base/range.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static void gives(const char *text, bool sizes, const char *want) {
    int64_t *values = NULL;
    size_t count = 0;
    struct fr_error err = {0};
    struct fr_text got = {0};
    if (fr_range_parse(text, sizes, 1, "--ranks", &values, &count, &err) != FR_OK)
        fail_msg("\"%s\": %s", text, err.detail);
    for (size_t i = 0; i < count; i++)
        fr_text_addf(&got, "%s%lld", i ? " " : "", (long long)values[i]);
    if (strcmp(fr_text_get(&got), want) != 0)
        fail_msg("\"%s\": got %s, wanted %s", text, fr_text_get(&got), want);
    fr_text_free(&got);
    free(values);
}

static void refuses(const char *text, bool sizes, const char *says) {
    int64_t *values = NULL;
    size_t count = 77;
    struct fr_error err = {0};
    fr_status status = fr_range_parse(text, sizes, 1, "--ranks", &values, &count, &err);
    if (status != FR_ERR_USAGE || err.status != FR_ERR_USAGE)
        fail_msg("\"%s\": %d", text, (int)status);
    assert_null(values);
    assert_int_equal(count, 77);
    assert_string_equal(err.where, "--ranks");
    if (!strstr(err.detail, says))
        fail_msg("\"%s\": \"%s\" lacks \"%s\"", text, err.detail, says);
}

static void spans_steps_and_lists(void **state) {
    (void)state;
    gives("7", false, "7");
    gives("1..5", false, "1 2 3 4 5");
    gives("1..64*2", false, "1 2 4 8 16 32 64");
    gives("1..63*2", false, "1 2 4 8 16 32");
    gives("8..20+4", false, "8 12 16 20");
    gives("4,2,9", false, "4 2 9");
    gives("1..3,2..4,2", false, "1 2 3 4");
    gives("3..3*2", false, "3");
    gives("9223372036854775800..9223372036854775807+5", false,
          "9223372036854775800 9223372036854775805");
    gives("4611686018427387904..9223372036854775807*2", false, "4611686018427387904");
}

static void sizes_take_units(void **state) {
    (void)state;
    gives("8..512*4", true, "8 32 128 512");
    gives("1KiB..16KiB*4", true, "1024 4096 16384");
    gives("8 B,1 kB", true, "8 1000");
    gives("1KiB..3KiB+1KiB", true, "1024 2048 3072");
    refuses("1,024", false, "write 1024");
    refuses("1,000,000", false, "write 1000000");
    refuses("1e3", false, "write 1000");
    refuses("64.0", false, "write 64");
    refuses("64 gpus", false, "write 64");
    refuses("1.5 B", true, "no whole number of bytes");
    refuses("-1e300 B", true, "no whole number of bytes");
    refuses("8..16 s", true, "is time");
    refuses("16MiB", false, "no whole number");
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    refuses("", false, "ranges are written 1..64");
    refuses("1,,2", false, "no whole number");
    refuses("x", false, "no whole number");
    refuses("1..", false, "no whole number");
    refuses("..4", false, "no whole number");
    refuses("1...4", false, "no whole number");
    refuses("1..4*", false, "no whole number");
    refuses("8..1", false, "runs backwards");
    refuses("0..4", false, "too small");
    refuses("-3", false, "too small");
    refuses("1..8*1", false, "too small");
    refuses("1..8+0", false, "too small");
    refuses("1..99999999999", false, "more than 1000000 values");
    refuses("1..99999999999999999999", false, "no whole number");
}

static void long_lists_hold_each_value_once(void **state) {
    int64_t *values = NULL;
    size_t count = 0;
    (void)state;
    assert_int_equal(
        fr_range_parse("1..400000,200001..600000", false, 1, "", &values, &count, NULL), FR_OK);
    assert_int_equal(count, 600000);
    for (size_t i = 0; i < count; i++) assert_true(values[i] == (int64_t)i + 1);
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_steps_and_lists),
        cmocka_unit_test(sizes_take_units),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(long_lists_hold_each_value_once),
    };
    return cmocka_run_group_tests_name("base.range", tests, NULL, NULL);
}
