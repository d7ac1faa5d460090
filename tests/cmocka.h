/** @file
 *  cmocka with what it forgets to include, and comparisons that print got and wanted. */
#ifndef FR_TESTS_CMOCKA_H
#define FR_TESTS_CMOCKA_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/litter.h"

/** A program of which every test was skipped says so to ctest (SKIP_RETURN_CODE in fr_test), which
 *  then reports it as skipped and not as passed. */
#define FR_TEST_SKIPPED 77

static size_t fr_skips; /* so far */

/* Of a group's exit code: skipped where all of it was. */
static inline int fr_group_code(int failed, size_t tests) {
    return failed ? 1 : tests > 0 && fr_skips == tests ? FR_TEST_SKIPPED : 0;
}

#undef skip
#define skip() (fr_skips++, _skip(__FILE__, __LINE__))
#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, setup, teardown)                                         \
    fr_group_code(_cmocka_run_group_tests(#tests, tests, sizeof(tests) / sizeof((tests)[0]),   \
                                          setup, teardown),                                    \
                  sizeof(tests) / sizeof((tests)[0]))

/** |got - want| <= relative * |want|, with the reason printed. */
#define FR_NEAR(got, want, relative)                                                           \
    do {                                                                                       \
        double got_ = (got), want_ = (want);                                                   \
        if (!(fabs(got_ - want_) <= (relative)*fabs(want_)))                                   \
            fail_msg("%s: got %.17g, want %.17g within %g", #got, got_, want_,                 \
                     (double)(relative));                                                      \
    } while (0)

#define FR_TRUE(condition, ...)                                                                \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            print_error("%s:%d: %s: ", __FILE__, __LINE__, #condition);                        \
            fail_msg(__VA_ARGS__);                                                             \
        }                                                                                      \
    } while (0)

#endif
