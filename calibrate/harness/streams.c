#include "calibrate/harness/streams.h"

#include <math.h>

void fr_stream_triad(float *restrict a, const float *restrict b, const float *restrict c,
                     float s, size_t n) {
    for (size_t i = 0; i < n; i++) a[i] = b[i] + s * c[i];
}

void fr_stream_adam(float *restrict w, float *restrict m, float *restrict v,
                    const float *restrict g, size_t n) {
    const float rate = 1e-3f, b1 = 0.9f, b2 = 0.999f, epsilon = 1e-8f;
    for (size_t i = 0; i < n; i++) {
        m[i] = b1 * m[i] + (1 - b1) * g[i];
        v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
        w[i] -= rate * m[i] / (sqrtf(v[i]) + epsilon);
    }
}
