#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/duration.h"

static void times_as_people_type_them(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double s;
    } cases[] = {{"90", 90},     {"90s", 90},  {"10m", 600},   {"10 min", 600},
                 {"1.5h", 5400}, {"0.5", 0.5}, {"1d", 86400.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_error err = {.status = FR_OK};
        double s = -1;
        if (fr_duration_parse(cases[i].text, "--budget", 0.1, 1e6, &s, &err) != FR_OK ||
            s != cases[i].s)
            fail_msg("%s: got %g s, wanted %g s %s", cases[i].text, s, cases[i].s, err.detail);
    }
}

static void nonsense_is_a_usage_error(void **state) {
    (void)state;
    static const char *const cases[] = {"",    "m",   "10 parsecs", "-5",  "0",
                                        "1e9", "nan", "inf",        "10M", "5 5"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_error err = {.status = FR_OK};
        double s = -1;
        if (fr_duration_parse(cases[i], "--budget", 0.1, 1e6, &s, &err) != FR_ERR_USAGE)
            fail_msg("%s was taken as %g s", cases[i], s);
        assert_string_equal(err.where, "--budget");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_as_people_type_them),
        cmocka_unit_test(nonsense_is_a_usage_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
