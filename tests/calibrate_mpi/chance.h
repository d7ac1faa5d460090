/** @file
 *  Random moments: numbers of a seed, and waiting for a while. */
#ifndef FR_TESTS_CALIBRATE_MPI_CHANCE_H
#define FR_TESTS_CALIBRATE_MPI_CHANCE_H

#include <stdint.h>
#include <time.h>

static inline uint64_t draw(uint64_t *state) { /* splitmix64 */
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline void nap(double s) {
    struct timespec t = {.tv_sec = (time_t)s, .tv_nsec = (long)((s - (double)(time_t)s) * 1e9)};
    nanosleep(&t, NULL);
}

#endif
