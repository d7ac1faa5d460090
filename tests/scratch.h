/** @file
 *  A folder of the test's own: made and entered before its tests, left and removed after them.  For cmocka's group set-up
 *  and tear-down. */
#ifndef FR_TESTS_SCRATCH_H
#define FR_TESTS_SCRATCH_H

#include <stdlib.h>
#include <unistd.h>

#include "tests/cmocka.h"

static char fr_scratch[] = "/tmp/forerun-test-XXXXXX";

static inline int fr_scratch_enter(void **state) {
    (void)state;
    return mkdtemp(fr_scratch) && chdir(fr_scratch) == 0 ? 0 : -1;
}

static inline int fr_scratch_leave(void **state) {
    (void)state;
    if (chdir("/") != 0) return -1;
    fr_litter_remove(fr_scratch);
    return access(fr_scratch, F_OK) == 0 ? -1 : 0;
}

#endif
