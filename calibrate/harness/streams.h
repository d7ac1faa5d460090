/** @file
 *  The loops that row memory times; compiled like those of the programs under calibrate/apps. */
#ifndef FR_CALIBRATE_HARNESS_STREAMS_H
#define FR_CALIBRATE_HARNESS_STREAMS_H

#include <stddef.h>

/** a[i] = b[i] + s c[i], i < n. */
void fr_stream_triad(float *restrict a, const float *restrict b, const float *restrict c,
                     float s, size_t n);
/** Adam's step of n weights w with moments m and v from gradients g, late in training: the
 *  corrections of the first steps are 1. */
void fr_stream_adam(float *restrict w, float *restrict m, float *restrict v,
                    const float *restrict g, size_t n);

#endif
