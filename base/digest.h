/** @file
 *  A number made of whole numbers, or of bytes: FNV-1a (Fowler, Noll and Vo, 1991), byte by byte from the lowest, the same
 *  on every machine.
 *
 *      h := (h xor byte) * 0x100000001b3     [mod 2^64]
 *  Both steps can be undone, so texts of one length that differ in one byte never have the same digest. */
#ifndef FR_BASE_DIGEST_H
#define FR_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define FR_DIGEST_START ((uint64_t)0xcbf29ce484222325)

/** @param so_far  FR_DIGEST_START, or the digest of what comes before */
static inline uint64_t fr_digest(uint64_t so_far, const int64_t *values, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        for (int byte = 0; byte < 8; byte++)
            so_far = (so_far ^ ((uint64_t)values[i] >> 8 * byte & 255)) * 0x100000001b3;
    return so_far;
}

/** The same of @p n bytes. */
static inline uint64_t fr_digest_bytes(uint64_t so_far, const void *bytes, size_t n) {
    const unsigned char *at = (const unsigned char *)bytes;
    for (size_t i = 0; i < n; i++) so_far = (so_far ^ at[i]) * 0x100000001b3;
    return so_far;
}

#endif
