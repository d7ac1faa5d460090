/** @file
 *  What a fuzz target supplies, to libFuzzer or to replay.c. */
#ifndef FR_TESTS_FUZZ_H
#define FR_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/** One input; must come back whatever it holds.  @return 0 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** A broken promise ends the program: what libFuzzer and ctest both take for a find. */
#define FR_FUZZ_REQUIRE(condition)                                                             \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);            \
            abort();                                                                           \
        }                                                                                      \
    } while (0)

#endif
