#include "models/outcome/messages/earliest.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

bool fr_earliest_make(int32_t n, struct fr_earliest *s) {
    int32_t shift = 3;
    while (shift < 6 && 1 << 2 * shift < n) shift++;
    const int32_t groups = (n + (8 << shift) - 1) >> (shift + 3);
    const size_t blocks = 8 * (size_t)groups, all = blocks + (blocks << shift);
    *s = (struct fr_earliest){shift, groups, fr_malloc(all, sizeof *s->time_s), NULL};
    if (!s->time_s) return false;
    s->least_s = s->time_s + (blocks << shift);
    for (size_t k = 0; k < all; k++) s->time_s[k] = INFINITY;
    return true;
}

void fr_earliest_free(struct fr_earliest *s) { free(s->time_s); }
