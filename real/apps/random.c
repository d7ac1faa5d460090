#include "real/apps/random.h"

#include <math.h>
#include <string.h>

/* Two numbers from the bits of a pair of places. */
static void normal_pair(uint64_t seed, uint64_t stream, uint64_t pair, double out[2]) {
    uint64_t bits = fr_random_at(seed, stream, pair);
    double u = ((double)(bits >> 32) + 0.5) * 0x1p-32;
    double angle = 2 * 3.14159265358979323846 * (double)(bits & 0xffffffffu) * 0x1p-32;
    double radius = sqrt(-2 * log(u));
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}

double fr_normal_at(uint64_t seed, uint64_t stream, uint64_t i) {
    double pair[2];
    normal_pair(seed, stream, i / 2, pair);
    return pair[i & 1];
}

void fr_fill_normal(const struct fr_kernels *k, uint64_t seed, uint64_t stream, int64_t row0,
                    int64_t rows, int64_t column0, int64_t columns, int64_t ld, double sd,
                    void *out) {
#ifdef SMPI_H
    rows = 0; /* nobody looks at the numbers of a simulated run */
#endif
    for (int64_t i = 0; i < rows; i++) {
        double pair[2] = {0, 0};
        uint64_t first = (uint64_t)((row0 + i) * ld + column0);
        for (uint64_t j = 0; j < (uint64_t)columns; j++) {
            uint64_t at = first + j;
            if (j == 0 || at % 2 == 0) normal_pair(seed, stream, at / 2, pair);
            k->set(out, (uint64_t)(i * columns) + j, sd * pair[at & 1]);
        }
    }
}

/* ---- many at once -------------------------------------------------------------------------- */

/* Logarithm of 0 < x <= 1, and sine and cosine of -pi/4 .. pi/4, by the polynomials of Cephes
 * (Moshier, 1989), without branches or calls; two units in the last place. */
static inline float logarithm(float x) {
    int32_t bits;
    float m;
    memcpy(&bits, &x, sizeof bits);
    int32_t exponent = (bits >> 23) - 126, mantissa = (bits & 0x7fffff) | 0x3f000000;
    memcpy(&m, &mantissa, sizeof m);
    int32_t low = m < 0.707106781f;
    float e = (float)(exponent - low), r = (low ? m + m : m) - 1, z = r * r;
    float y = 7.0376836292e-2f;
    y = y * r - 1.1514610310e-1f;
    y = y * r + 1.1676998740e-1f;
    y = y * r - 1.2420140846e-1f;
    y = y * r + 1.4249322787e-1f;
    y = y * r - 1.6668057665e-1f;
    y = y * r + 2.0000714765e-1f;
    y = y * r - 2.4999993993e-1f;
    y = y * r + 3.3333331174e-1f;
    y = y * r * z + e * -2.12194440e-4f - 0.5f * z;
    return r + y + e * 0.693359375f;
}

static inline float sine(float a) {
    float z = a * a;
    return ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * a + a;
}

static inline float cosine(float a) {
    float z = a * a;
    float y = (2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f;
    return y * z * z - 0.5f * z + 1;
}

/* Box and Muller again, 24 bits of radius, 24 of angle within a quarter turn, 2 of the quarter. */
void fr_stream_normal(uint64_t seed, uint64_t stream, int64_t n, float *out) {
    uint64_t start = fr_random_at(seed, stream, 0);
    for (int64_t i = 0; i < n / 2; i++) {
        uint64_t bits = fr_mix(start + (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u);
        float u = ((float)(int32_t)(bits >> 40) + 0.5f) * 0x1p-24f;
        float quarter = (float)(int32_t)(bits & 0xffffff) * 0x1p-24f - 0.5f;
        float angle = quarter * 1.57079632679f, radius = sqrtf(-2 * logarithm(u));
        float s = radius * sine(angle), c = radius * cosine(angle);
        int32_t turn = (int32_t)(bits >> 24) & 3;
        float x = turn & 1 ? s : c, y = turn & 1 ? c : s;
        out[2 * i] = turn & 2 ? -x : x;
        out[2 * i + 1] = (turn + 1) & 2 ? -y : y;
    }
}
