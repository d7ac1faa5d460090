/** @file
 *  Random numbers, the same on every machine.
 *
 *  A stream is its state, one number, which is the caller's and starts as the seed.  splitmix64 serves whoever draws
 *  one number after another; by place, numbers at index i of a stream are a function of (seed, stream, i) alone, so that
 *  whoever needs a part makes just that part.  The two others are kept where published outputs hang on their numbers.
 *
 *      splitmix64    s := s + g,  mix(s)                            Steele, Lea, Flood, OOPSLA 2014
 *      by place      mix(mix(mix(seed + g) + stream c) + (i + 1) g)    the same over a counter
 *      xorshift64*   Marsaglia, J. Stat. Software 2003; Vigna, ACM TOMS 2016; no state of 0
 *      lcg           s := s a + c, its upper 31 bits                Knuth, The Art of Computer Programming 2, MMIX
 */
#ifndef FR_BASE_RANDOM_H
#define FR_BASE_RANDOM_H

#include <math.h>
#include <stdint.h>

#include "base/digest.h"

/** The output function of splitmix64; inline, for loops that are to run in vector registers. */
static inline uint64_t fr_random_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/** The next number of splitmix64. */
static inline uint64_t fr_random_next(uint64_t *state) {
    return fr_random_mix(*state += FR_DIGEST_GOLDEN);
}

/** Bits of (seed, stream, i). */
static inline uint64_t fr_random_at(uint64_t seed, uint64_t stream, uint64_t i) {
    uint64_t start = fr_random_mix(seed + FR_DIGEST_GOLDEN) + stream * 0xd1342543de82ef95u;
    return fr_random_mix(fr_random_mix(start) + (i + 1) * FR_DIGEST_GOLDEN);
}

/** Uniform in [0, 1) of some bits. */
static inline double fr_random_uniform(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; }

/** Uniform in (0, 1) of some bits, for logarithms. */
static inline double fr_random_open(uint64_t bits) {
    return ((double)(bits >> 11) + 0.5) * 0x1p-53;
}

/** A standard normal number of the next two of splitmix64: Box and Muller, Ann. Math. Stat. 29, 1958. */
static inline double fr_random_normal(uint64_t *state) {
    double radius = sqrt(-2 * log(fr_random_open(fr_random_next(state))));
    return radius * cos(6.283185307179586 * fr_random_open(fr_random_next(state)));
}

/** The next number of xorshift64*. */
static inline uint64_t fr_random_xorshift(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

/** The next number of the linear congruential generator, below 2^31. */
static inline uint64_t fr_random_lcg(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

#endif
