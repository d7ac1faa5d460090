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
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/litter.h"

/** A program of which every test was skipped says so to ctest (SKIP_RETURN_CODE in fr_test), which
 *  then reports it as skipped and not as passed. */
#define FR_TEST_SKIPPED 77

static size_t fr_skips; /* so far */

/* A group's exit code: skipped where all its tests were. */
static inline int fr_group_code(int failed, size_t tests) {
    return failed ? 1 : tests > 0 && fr_skips == tests ? FR_TEST_SKIPPED : 0;
}

/** The whole of it (FR_WHOLE is set: ctest -C slow, ./test.sh nightly), or the sample of every day. */
static inline int fr_sample(int whole, int everyday) {
    return getenv("FR_WHOLE") ? whole : everyday;
}

/* The tests that FR_SHARE asks for: "2/4" is every fourth from the second on.  So ctest runs a long program side by side
 * (fr_spread of cmake/forerun.cmake). */
static inline int fr_group_run(const char *group, const struct CMUnitTest *tests, size_t n,
                               CMFixtureFunction setup, CMFixtureFunction teardown) {
    struct CMUnitTest own[256];
    const char *share = getenv("FR_SHARE");
    size_t first = 1, of = 1, n_user_plans = 0;
    if (share && (sscanf(share, "%zu/%zu", &first, &of) != 2 || first < 1 || of < first)) {
        print_error("FR_SHARE is \"%s\"; it is to be e.g. 2/4\n", share);
        return 1;
    }
    for (size_t i = first - 1; i < n && n_user_plans < sizeof own / sizeof *own; i += of)
        own[n_user_plans++] = tests[i];
    return fr_group_code(_cmocka_run_group_tests(group, own, n_user_plans, setup, teardown),
                         n_user_plans);
}

#undef skip
#define skip() (fr_skips++, _skip(__FILE__, __LINE__))
#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, setup, teardown)                                         \
    fr_group_run(#tests, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

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
