#include "calibrate/apps/random.h"

#include <math.h>

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t fr_random_at(uint64_t seed, uint64_t stream, uint64_t i) {
    uint64_t start = mix(seed + 0x9e3779b97f4a7c15u) + stream * 0xd1342543de82ef95u;
    return mix(mix(start) + (i + 1) * 0x9e3779b97f4a7c15u);
}

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
