#include "real/apps/division.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static int64_t share_of(int holders, int64_t n) { return (n + holders - 1) / holders; }

struct fr_division fr_division_none(const int holders[FR_HOLDERS]) {
    struct fr_division d = {0};
    for (int i = 0; i < FR_HOLDERS; i++) d.holders[i] = holders[i];
    return d;
}

struct fr_division fr_division_of(int replicas, int64_t n) {
    struct fr_division d = {.holders = {replicas, 1}};
    d.part[FR_DIVISION_SCATTERED] =
        (struct fr_division_part){.n_spans = 1, .n = n, .share = share_of(replicas, n)};
    return d;
}

bool fr_division_add(struct fr_division *d, int part, size_t at, int64_t n) {
    struct fr_division_part *p = &d->part[part];
    if (n <= 0) return true;
    struct fr_division_span *more =
        fr_realloc(p->span, (size_t)p->n_spans + 1, sizeof *p->span);
    if (!more) return false;
    p->span = more;
    p->span[p->n_spans++] = (struct fr_division_span){at, n, p->n};
    p->n += n;
    p->share = share_of(fr_division_holders(d, part), p->n);
    return true;
}

void fr_division_free(struct fr_division *d) {
    for (int i = 0; i < FR_DIVISION_PARTS; i++) free(d->part[i].span);
    *d = (struct fr_division){0};
}

int64_t fr_division_before(const struct fr_division *d, int part) {
    int64_t sum = 0;
    for (int i = 0; i < part; i++) sum += d->part[i].share;
    return sum;
}

int64_t fr_division_share(const struct fr_division *d) {
    return fr_division_before(d, FR_DIVISION_PARTS);
}

int64_t fr_division_piece(const struct fr_division *d, int part, int own, int i, size_t *at,
                          size_t *to) {
    const struct fr_division_part *p = &d->part[part];
    const struct fr_division_span all =
        p->span ? p->span[i] : (struct fr_division_span){0, p->n, 0};
    int64_t first = own * p->share, end = first + p->share, stop = all.before + all.n,
            from = first > all.before ? first : all.before;
    if (end < stop) stop = end;
    *at = all.at + (size_t)(from - all.before);
    *to = (size_t)(from - first);
    return stop > from ? stop - from : 0;
}

void fr_division_copy(const struct fr_kernels *k, const struct fr_division *d, int part,
                      int own, bool into_block, void *block, void *packed) {
    for (int i = 0; i < d->part[part].n_spans; i++) {
        size_t at, to;
        int64_t n = fr_division_piece(d, part, own, i, &at, &to);
        void *inside = fr_at(k, block, at), *outside = fr_at(k, packed, to);
        if (n > 0)
            memcpy(into_block ? inside : outside, into_block ? outside : inside,
                   (size_t)n * k->size_B);
    }
}
