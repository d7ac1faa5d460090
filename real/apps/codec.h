/** @file
 *  A codec of the plan's table (models/plan/compression.h) on real numbers: a matrix as a packet that is
 *  sent.
 *
 *      powersgd   factors of rank r (lowrank.h); those of several replicas are added up
 *      topk       the (m + n) r values largest in magnitude, then their places, 4 B each; replicas gather
 *                 each other's
 *
 *  Lazy: what a packet lost is added to the next matrix.
 */
#ifndef FR_REAL_APPS_CODEC_H
#define FR_REAL_APPS_CODEC_H

#include "models/plan/compression.h"
#include "real/apps/lowrank.h"

struct fr_real_codec;

/** Somebody who is called for every encoding, behind it: @p matrix is what was encoded, what was lost before in
 *  it, @p packet what is sent of it. */
struct fr_codec_watcher {
    void (*tell)(struct fr_codec_watcher *watcher, struct fr_real *real,
                 const struct fr_real_codec *c, const void *matrix, const void *packet);
};

struct fr_real_codec {
    const struct fr_compression *kind;
    struct fr_lowrank low; /**< m, n, rank and lazy of both; the rest powersgd's */
    void *packet, *error;  /**< topk's */
    uint32_t *scratch;
    struct fr_codec_watcher *watcher; /**< or NULL */
};

/** Of m x n, without memory. */
struct fr_real_codec fr_real_codec_of(const struct fr_compression *kind, int m, int n, int rank,
                                      bool lazy);
/** Bytes of a packet, of which there is none where it would not be smaller than the matrix. */
size_t fr_real_codec_size_B(const struct fr_kernels *k, const struct fr_real_codec *c);
bool fr_real_codec_shrinks(const struct fr_kernels *k, const struct fr_real_codec *c);

/** Give it memory. @return false when there is none; fr_real_codec_close in any case. */
bool fr_real_codec_open(const struct fr_kernels *k, uint64_t seed, uint64_t stream,
                        struct fr_real_codec *c);
void fr_real_codec_close(struct fr_real_codec *c);
/** Has it memory? */
static inline bool fr_real_codec_is_open(const struct fr_real_codec *c) {
    return c->packet || c->low.factors;
}

/** @return the packet for @p matrix, which gets what was lost before added. */
const void *fr_real_codec_encode(struct fr_real *real, struct fr_real_codec *c, void *matrix);
/** matrix := the sum of @p n packets, @p stride_B from one to the next; of powersgd of one. */
void fr_real_codec_decode(struct fr_real *real, const struct fr_real_codec *c,
                          const void *packets, int n, size_t stride_B, void *matrix);

#endif
