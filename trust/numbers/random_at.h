/** @file
 *  Random bits by place: those at index i of a stream are a function of (seed, stream, i) alone, so
 *  that whoever needs a part makes just that part. */
#ifndef FR_TRUST_NUMBERS_RANDOM_AT_H
#define FR_TRUST_NUMBERS_RANDOM_AT_H

#include <stdint.h>

/** The output function of splitmix64; inline, for loops that are to run in vector registers. */
static inline uint64_t fr_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/** Mixed bits of (seed, stream, i): the output function of splitmix64 (Steele, Lea, Flood,
 *  OOPSLA 2014) over a counter. */
uint64_t fr_random_at(uint64_t seed, uint64_t stream, uint64_t i);

/** Uniform in [0, 1) from them. */
static inline double fr_uniform_at(uint64_t seed, uint64_t stream, uint64_t i) {
    return (double)(fr_random_at(seed, stream, i) >> 11) * 0x1p-53;
}

#endif
