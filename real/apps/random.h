/** @file
 *  Random numbers by place: the value at index i of a stream is a function of (seed, stream,
 *  i) alone.  So every division of a matrix over ranks holds the same numbers, and so does a
 *  serial run beside it.
 */
#ifndef FR_REAL_APPS_RANDOM_H
#define FR_REAL_APPS_RANDOM_H

#include <stdint.h>

#include "base/random.h"
#include "calibrate/measure/harness/kernels.h"

/** Standard normal number at i: Box and Muller, Ann. Math. Stat. 29, 1958. */
double fr_normal_at(uint64_t seed, uint64_t stream, uint64_t i);

/** Fill the rows x columns part at (row0, column0) of a matrix of @p ld columns that the stream
 *  stands for with normal numbers of deviation @p sd. */
void fr_fill_normal(const struct fr_kernels *k, uint64_t seed, uint64_t stream, int64_t row0,
                    int64_t rows, int64_t column0, int64_t columns, int64_t ld, double sd,
                    void *out);

/** Fill @p out with @p n standard normal numbers of a stream of its own, in single precision: for
 *  data that no division has to find again by place.  A compiler keeps the loop in vector
 *  registers; about ten times faster than fr_fill_normal.  @p n is even. */
void fr_stream_normal(uint64_t seed, uint64_t stream, int64_t n, float *out);

#endif
