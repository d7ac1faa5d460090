#include "trust/numbers/random_at.h"

uint64_t fr_random_at(uint64_t seed, uint64_t stream, uint64_t i) {
    uint64_t start = fr_mix(seed + 0x9e3779b97f4a7c15u) + stream * 0xd1342543de82ef95u;
    return fr_mix(fr_mix(start) + (i + 1) * 0x9e3779b97f4a7c15u);
}
