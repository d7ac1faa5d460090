#include "calibrate/measure/harness/streams.h"

void fr_stream_triad(float *restrict a, const float *restrict b, const float *restrict c,
                     float s, size_t n) {
    for (size_t i = 0; i < n; i++) a[i] = b[i] + s * c[i];
}
