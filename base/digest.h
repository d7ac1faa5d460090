/** @file
 *  A number made of whole numbers, or of bytes: FNV-1a (Fowler, Noll and Vo, 1991), byte by byte from the lowest, the same
 *  on every machine.
 *
 *      h := (h xor byte) * 0x100000001b3     [mod 2^64]
 *  Both steps can be undone, so texts of one length that differ in one byte never have the same digest.
 *  A place in a table comes from whole words at once, which is faster and is written nowhere. */
#ifndef FR_BASE_DIGEST_H
#define FR_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define FR_DIGEST_START ((uint64_t)0xcbf29ce484222325)
/** 2^64 over the golden ratio: multiples of it are spread evenly (Knuth, The Art of Computer Programming 3, 6.4). */
#define FR_DIGEST_GOLDEN ((uint64_t)0x9e3779b97f4a7c15)

/** One step, of a byte or of a whole number as it is.
 *  @param so_far  FR_DIGEST_START, or the digest of what comes before */
static inline uint64_t fr_digest_one(uint64_t so_far, uint64_t value) {
    return (so_far ^ value) * 0x100000001b3;
}

static inline uint64_t fr_digest(uint64_t so_far, const int64_t *values, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        for (int byte = 0; byte < 8; byte++)
            so_far = fr_digest_one(so_far, (uint64_t)values[i] >> 8 * byte & 255);
    return so_far;
}

/** The same of @p n bytes. */
static inline uint64_t fr_digest_bytes(uint64_t so_far, const void *bytes, size_t n) {
    const unsigned char *at = (const unsigned char *)bytes;
    for (size_t i = 0; i < n; i++) so_far = fr_digest_one(so_far, at[i]);
    return so_far;
}

/** Upper bits for a place in a table, of @p n words and a start: four sums side by side, since a key has
 *  some hundred words. */
static inline uint64_t fr_digest_place(uint64_t start, const uint64_t *words, size_t n) {
    uint64_t h[4] = {start, 1, 2, 3};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++)
            h[k] = (h[k] ^ words[i + k]) * FR_DIGEST_GOLDEN + (h[k] >> 29);
    for (size_t k = 0; i + k < n; k++)
        h[k] = (h[k] ^ words[i + k]) * FR_DIGEST_GOLDEN + (h[k] >> 29);
    uint64_t all = (h[0] ^ h[1] >> 17) * 0xbf58476d1ce4e5b9u ^ (h[2] ^ h[3] >> 23);
    return (all ^ all >> 31) * 0x94d049bb133111ebu >> 20;
}

#endif
