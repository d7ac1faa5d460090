/** @file
 *  Laws over tables: statements that every row keeps, whoever wrote it.
 *
 *  A law is a function that a row keeps or breaks, with a sentence where it breaks it, so that the
 *  same law walks the table and is shown to refuse rows that are wrong on purpose. */
#ifndef FR_TESTS_LAWS_LAW_H
#define FR_TESTS_LAWS_LAW_H

#include <stdbool.h>
#include <stdio.h>

#include "tests/cmocka.h"

struct law_why {
    char text[400];
};

/** Break the law here, unless @p condition. */
#define LAW(condition, ...)                                                                    \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            snprintf(why->text, sizeof why->text, __VA_ARGS__);                                \
            return false;                                                                      \
        }                                                                                      \
    } while (0)

static inline bool law_near(double a, double b, double relative) {
    return fabs(a - b) <= relative * fmax(fabs(a), fabs(b));
}

#endif
