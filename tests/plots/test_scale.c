/* Axes: what ticks say, and that every range gets some and never too many. */
#include "plots/scale.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/outcome/outcome.h"

static void reads(double si, fr_quantity quantity, const char *wanted) {
    char text[40];
    fr_scale_text(si, quantity, text, sizeof text);
    if (strcmp(text, wanted) != 0) fail_msg("%g: got \"%s\", wanted \"%s\"", si, text, wanted);
}

static void values_with_their_unit(void **state) {
    (void)state;
    reads(0.0363061, FR_QUANTITY_TIME, "36.3 ms");
    reads(1e-6, FR_QUANTITY_TIME, "1 us");
    reads(0.9996, FR_QUANTITY_TIME, "1 s");
    reads(5400, FR_QUANTITY_TIME, "5,400 s");
    reads(11850, FR_QUANTITY_ENERGY, "11.9 kJ");
    reads(1e6, FR_QUANTITY_ENERGY, "1 MJ");
    reads(4096, FR_QUANTITY_SIZE, "4 KiB");
    reads(8, FR_QUANTITY_SIZE, "8 B");
    reads(1048576.0 * 16, FR_QUANTITY_SIZE, "16 MiB");
    reads((double)NAN, FR_QUANTITY_ENERGY, "-");
}

static void numbers_are_plain(void **state) {
    (void)state;
    static const struct {
        double value;
        int digits;
        const char *text;
    } rows[] = {{1640, 3, "1,640"},    {16437, 3, "16,400"}, {1234567, 15, "1,234,567"},
                {0.0123, 3, "0.0123"}, {0, 3, "0"},          {-1640, 4, "-1,640"},
                {999.96, 4, "1,000"},  {131.1, 4, "131.1"},  {100, 3, "100"},
                {0.5, 3, "0.5"},       {12.30, 3, "12.3"},   {1e6, 3, "1,000,000"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[40];
        fr_scale_number(rows[i].value, rows[i].digits, text, sizeof text);
        if (strcmp(text, rows[i].text) != 0)
            fail_msg("%g: got \"%s\", wanted \"%s\"", rows[i].value, text, rows[i].text);
    }
    for (int e = -3; e < 15; e++) { /* never an exponent */
        char text[40];
        fr_scale_number(1.64 * pow(10, e), 3, text, sizeof text);
        if (strchr(text, 'e')) fail_msg("%s", text);
    }
}

/* gnuplot stops at a colour that it does not know. */
static void every_part_has_a_colour(void **state) {
    (void)state;
    for (int i = 0; fr_part_names[i]; i++)
        if (!fr_picture_colour_of(fr_part_names[i]))
            fail_msg("%s has no colour", fr_part_names[i]);
}

/* Ticks of an axis over [low, high]: one quoted label each. */
static int ticks_of(double low, double high, fr_quantity quantity, int ticks_max) {
    struct fr_picture p = {0};
    struct fr_scale seen = FR_SCALE_EMPTY;
    int quotes = 0;
    fr_scale_include(&seen, low);
    fr_scale_include(&seen, high);
    fr_scale_axis(&p, "y", seen, quantity, ticks_max);
    for (const char *c = p.script.data; *c; c++) quotes += *c == '\'';
    fr_text_free(&p.script);
    return quotes / 2;
}

static void every_range_has_ticks(void **state) {
    static const fr_quantity quantities[] = {FR_QUANTITY_TIME, FR_QUANTITY_ENERGY,
                                             FR_QUANTITY_SIZE};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (double low = 1e-12; low < 1e12; low *= 1.37)
            for (double ratio = 1; ratio < 1e20; ratio *= 2.9) {
                if (quantities[i] == FR_QUANTITY_SIZE && low < 1) continue;
                int n = ticks_of(low, low * ratio, quantities[i], 8);
                int least = quantities[i] == FR_QUANTITY_SIZE ? 1 : 2;
                if (n < least || n > 8) fail_msg("%g to %g: %d ticks", low, low * ratio, n);
            }
}

static void what_no_axis_can_show_is_passed_over(void **state) {
    struct fr_scale seen = FR_SCALE_EMPTY;
    (void)state;
    fr_scale_include(&seen, 0);
    fr_scale_include(&seen, -1);
    fr_scale_include(&seen, (double)NAN);
    fr_scale_include(&seen, (double)INFINITY);
    assert_true(fr_scale_padded(seen).low == 1); /* a stand-in: nothing seen */
    fr_scale_include(&seen, 7);
    assert_true(seen.low == 7 && seen.high == 7);
    struct fr_scale padded = fr_scale_padded(seen);
    assert_true(padded.low < 7 && padded.high > 7);
    assert_true(fabs(padded.high / padded.low - 2) < 1e-12);
}

/* Rank counts of a run: powers of two when there are too many. */
static void counts(void **state) {
    static const int64_t few[] = {1, 3, 12}, many[] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct fr_picture p = {0};
    (void)state;
    fr_scale_counts(&p, few, 3, 9);
    assert_non_null(strstr(p.script.data, "'1' 1, '3' 3, '12' 12"));
    fr_text_free(&p.script);
    fr_scale_counts(&p, many, 8, 5);
    assert_non_null(strstr(p.script.data, "'1' 1, '2' 2, '4' 4, '8' 8"));
    fr_text_free(&p.script);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_with_their_unit),
        cmocka_unit_test(numbers_are_plain),
        cmocka_unit_test(every_part_has_a_colour),
        cmocka_unit_test(every_range_has_ticks),
        cmocka_unit_test(what_no_axis_can_show_is_passed_over),
        cmocka_unit_test(counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
