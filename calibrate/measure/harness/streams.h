/** @file
 *  The loop whose rate is called memory bandwidth; compiled like kernels.c. */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_STREAMS_H
#define FR_CALIBRATE_MEASURE_HARNESS_STREAMS_H

#include <stddef.h>

/** a[i] = b[i] + s c[i], i < n. */
void fr_stream_triad(float *restrict a, const float *restrict b, const float *restrict c,
                     float s, size_t n);

#endif
