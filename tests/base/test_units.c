/* The grammar of quantities: what is taken, what is refused and in which words. */
#include "base/units.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char place[] = "cluster.json#/levels/1/bandwidth";

static void accepts(const char *text, fr_quantity quantity, double want) {
    struct fr_error err = {0};
    double got = -1;
    fr_status status = fr_quantity_parse(text, quantity, place, &got, &err);
    if (status == FR_OK && fabs(got - want) <= 1e-15 * fabs(want)) return;
    fail_msg("\"%s\": got %.17g, wanted %.17g (%s)", text, got, want, err.detail);
}

/* Refused as input, at the place, with @p says in the sentence; the value stays untouched. */
static void refuses(const char *text, fr_quantity quantity, const char *says) {
    struct fr_error err = {0};
    double got = -1;
    fr_status status = fr_quantity_parse(text, quantity, place, &got, &err);
    if (status != FR_ERR_INPUT) fail_msg("\"%s\" was taken as %.17g", text, got);
    assert_true(got == -1);
    assert_string_equal(err.where, place);
    if (!strstr(err.detail, says))
        fail_msg("\"%s\": \"%s\" lacks \"%s\"", text, err.detail, says);
}

static void case_and_prefix_carry_meaning(void **state) {
    (void)state;
    accepts("1 B", FR_QUANTITY_SIZE, 1);
    accepts("8 b", FR_QUANTITY_SIZE, 1);
    accepts("64 GB", FR_QUANTITY_SIZE, 64e9);
    accepts("64 GiB", FR_QUANTITY_SIZE, 64.0 * 1073741824.0);
    accepts("1 KB", FR_QUANTITY_SIZE, 1e3);
    accepts("1 kB", FR_QUANTITY_SIZE, 1e3);
    accepts("1 KiB", FR_QUANTITY_SIZE, 1024);
    accepts("200 Gb/s", FR_QUANTITY_RATE, 25e9);
    accepts("25 GB/s", FR_QUANTITY_RATE, 25e9);
    accepts("1 GiB/s", FR_QUANTITY_RATE, 1073741824.0);
    accepts("312 TFLOP/s", FR_QUANTITY_WORK_RATE, 312e12);
    accepts("0.52 ns/B", FR_QUANTITY_INVERSE_RATE, 0.52e-9);
    accepts("560 W", FR_QUANTITY_POWER, 560);
    accepts("1 kWh", FR_QUANTITY_ENERGY, 3.6e6);
    accepts("2 mJ", FR_QUANTITY_ENERGY, 2e-3);
}

static void times(void **state) {
    (void)state;
    accepts("2 us", FR_QUANTITY_TIME, 2e-6);
    accepts("2 \xc2\xb5s", FR_QUANTITY_TIME, 2e-6);
    accepts("2 \xce\xbcs", FR_QUANTITY_TIME, 2e-6);
    accepts("3 ms", FR_QUANTITY_TIME, 3e-3);
    accepts("3 min", FR_QUANTITY_TIME, 180);
    accepts("1.5 h", FR_QUANTITY_TIME, 5400);
    accepts("1 d", FR_QUANTITY_TIME, 86400);
    refuses("1 mmin", FR_QUANTITY_TIME, "unknown unit \"mmin\"");
    refuses("1 ks", FR_QUANTITY_TIME, "unknown unit \"ks\"");
    refuses("1 Ms", FR_QUANTITY_TIME, "unknown unit \"Ms\"");
}

static void blanks_and_forms_of_numbers(void **state) {
    (void)state;
    accepts("2us", FR_QUANTITY_TIME, 2e-6);
    accepts("  2   us  ", FR_QUANTITY_TIME, 2e-6);
    accepts(".5 s", FR_QUANTITY_TIME, 0.5);
    accepts("5. s", FR_QUANTITY_TIME, 5);
    accepts("+1e-3 s", FR_QUANTITY_TIME, 1e-3);
    accepts("1E3 W", FR_QUANTITY_POWER, 1e3);
    accepts("-1 s", FR_QUANTITY_TIME, -1); /* the sign is the reader's business */
    accepts("0 B", FR_QUANTITY_SIZE, 0);
    accepts("1 EB", FR_QUANTITY_SIZE, 1e18); /* not 1e<nothing> of bytes */
}

static void a_missing_unit_is_named_with_an_example(void **state) {
    (void)state;
    refuses("25", FR_QUANTITY_RATE, "\"25\" has no unit; write e.g. \"25 GB/s\"");
    refuses("25 ", FR_QUANTITY_TIME, "has no unit; write e.g. \"2 us\"");
    refuses("64", FR_QUANTITY_SIZE, "\"64 GiB\"");
    refuses("560", FR_QUANTITY_POWER, "\"560 W\"");
}

static void another_quantity_is_refused(void **state) {
    (void)state;
    refuses("25 GB", FR_QUANTITY_RATE, "is size, where data rate is expected");
    refuses("2 us", FR_QUANTITY_SIZE, "is time, where size is expected");
    refuses("560 W", FR_QUANTITY_ENERGY, "is power, where energy is expected");
    refuses("1 GB/s", FR_QUANTITY_INVERSE_RATE, "time per byte");
}

static void unknown_units_are_refused(void **state) {
    (void)state;
    refuses("25 Gbps", FR_QUANTITY_RATE,
            "unknown unit \"Gbps\" in \"25 Gbps\"; write \"25 Gb/s\"");
    refuses("25GBps", FR_QUANTITY_RATE, "write \"25 GB/s\"");
    refuses("80 gb", FR_QUANTITY_SIZE, "write \"80 GB\"");
    refuses("80G", FR_QUANTITY_SIZE, "write \"80 GB\"");
    refuses("312 TFLOPS", FR_QUANTITY_WORK_RATE, "write \"312 TFLOP/s\"");
    refuses("5 hours", FR_QUANTITY_TIME, "write \"5 h\"");
    refuses("50,000 h", FR_QUANTITY_TIME, "write \"50000 h\"");
    refuses("1,000,000 W", FR_QUANTITY_POWER, "write \"1000000 W\"");
    refuses("25 GB/S", FR_QUANTITY_RATE, "unknown unit \"GB/S\"");
    refuses("1 mB", FR_QUANTITY_SIZE, "unknown unit");
    refuses("1 KiW", FR_QUANTITY_POWER, "unknown unit");
    refuses("1 GiFLOP/s", FR_QUANTITY_WORK_RATE, "unknown unit");
    refuses("2 us 3", FR_QUANTITY_TIME, "unknown unit \"us 3\"");
    refuses("2,5 us", FR_QUANTITY_TIME, "unknown unit \",5 us\"");
    refuses("1 e", FR_QUANTITY_TIME, "unknown unit");
    refuses("1 ssssssssssssssssssssssssssssssssssssssssssssssssss", FR_QUANTITY_TIME,
            "unknown");
}

static void only_finite_decimal_numbers(void **state) {
    static const char *const texts[] = {
        "nan s", "NaN", "inf s", "-inf s", "infinity", "0x10 s", "-0X1 s", "us",
        "",      " ",   "-",     "- 1 s",  ".s",       "\t2 s",  "+-1 s",  "e5 s"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        refuses(texts[i], FR_QUANTITY_TIME, "is no time; write e.g. \"2 us\"");
    refuses("1e400 s", FR_QUANTITY_TIME, "too large");
    refuses("-1e400 s", FR_QUANTITY_TIME, "too large");
    refuses("1e308 EB", FR_QUANTITY_SIZE, "too large"); /* finite until the prefix */
}

static void messages_hold_no_control_characters(void **state) {
    struct fr_error err = {0};
    double si;
    (void)state;
    fr_quantity_parse("1 \033[2J\xc2\x9bm", FR_QUANTITY_TIME, place, &si, &err);
    assert_null(strchr(err.detail, '\033'));
    assert_null(strstr(err.detail, "\xc2\x9b"));
}

/* xorshift64*; the same doubles on every run. */
static double random_double(uint64_t *seed) {
    *seed ^= *seed >> 12, *seed ^= *seed << 25, *seed ^= *seed >> 27;
    uint64_t bits = *seed * 0x2545F4914F6CDD1DULL;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void what_is_written_reads_back_exactly(void **state) {
    uint64_t seed = 20240501;
    (void)state;
    for (int i = 0; i < 50000; i++) {
        double value = random_double(&seed), back = 0;
        fr_quantity quantity = (fr_quantity)(i % 7);
        char text[64];
        struct fr_error err = {0};
        if (i % 2) value = ldexp(frexp(value, &(int){0}), i % 120 - 60); /* everyday sizes */
        if (!isfinite(value)) continue;
        fr_quantity_write(value, quantity, text, sizeof text);
        if (fr_quantity_parse(text, quantity, "", &back, &err) != FR_OK || back != value)
            fail_msg("%.17g was written \"%s\" and read back as %.17g (%s)", value, text, back,
                     err.detail);
    }
}

static void written(double si, fr_quantity quantity, const char *want) {
    char got[64];
    assert_string_equal(fr_quantity_write(si, quantity, got, sizeof got), want);
}

static void formatted(double si, fr_quantity quantity, const char *want) {
    char got[64];
    assert_string_equal(fr_quantity_format(si, quantity, got, sizeof got), want);
}

static void files_hold_convenient_units(void **state) {
    (void)state;
    written(2e-6, FR_QUANTITY_TIME, "2 us");
    written(25e9, FR_QUANTITY_RATE, "25 GB/s");
    written(0.5175e-9, FR_QUANTITY_INVERSE_RATE, "517.5 ps/B");
    written(86400, FR_QUANTITY_TIME, "86400 s");
    written(0, FR_QUANTITY_SIZE, "0 B");
    written(0.25, FR_QUANTITY_SIZE, "0.25 B");
}

static void people_see_four_digits(void **state) {
    (void)state;
    formatted(36.306e-3, FR_QUANTITY_TIME, "36.31 ms");
    formatted(65536000, FR_QUANTITY_SIZE, "65.54 MB");
    formatted(47.9e12, FR_QUANTITY_WORK_RATE, "47.90 TFLOP/s");
    formatted(999.96e-6, FR_QUANTITY_TIME, "1.000 ms");
    formatted(999.94e-6, FR_QUANTITY_TIME, "999.9 us");
    formatted(0, FR_QUANTITY_TIME, "0 s");
    formatted(-2e-3, FR_QUANTITY_TIME, "-2.000 ms");
    formatted(17, FR_QUANTITY_SIZE, "17 B");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_and_prefix_carry_meaning),
        cmocka_unit_test(times),
        cmocka_unit_test(blanks_and_forms_of_numbers),
        cmocka_unit_test(a_missing_unit_is_named_with_an_example),
        cmocka_unit_test(another_quantity_is_refused),
        cmocka_unit_test(unknown_units_are_refused),
        cmocka_unit_test(only_finite_decimal_numbers),
        cmocka_unit_test(messages_hold_no_control_characters),
        cmocka_unit_test(what_is_written_reads_back_exactly),
        cmocka_unit_test(files_hold_convenient_units),
        cmocka_unit_test(people_see_four_digits),
    };
    return cmocka_run_group_tests_name("base.units", tests, NULL, NULL);
}
