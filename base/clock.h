/** @file
 *  The clock that everything which is timed reads: monotonic, one per machine, in seconds.
 *
 *  Within a node its readings of different processes may be compared; between nodes only
 *  differences mean anything.  Under SimGrid's SMPI it is the simulated clock. */
#ifndef FR_BASE_CLOCK_H
#define FR_BASE_CLOCK_H

#include <time.h>

static inline double fr_now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** Shortest time that two readings were ever apart in a few thousand tries, but at least what
 *  the clock says of itself [s]. */
static inline double fr_clock_resolution_s(void) {
    struct timespec t = {0, 0};
    clock_getres(CLOCK_MONOTONIC, &t);
    double stated_s = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec, found_s = 1;
    for (int i = 0; i < 4000; i++) {
        double first_s = fr_now_s(), step_s = fr_now_s() - first_s;
        if (step_s > 0 && step_s < found_s) found_s = step_s;
    }
    return found_s > stated_s && found_s < 1 ? found_s : stated_s;
}

#endif
