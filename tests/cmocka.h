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
