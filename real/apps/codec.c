#include "real/apps/codec.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static bool sparse(const struct fr_real_codec *c) { return c->kind == &fr_compression_topk; }

static size_t values_of(const struct fr_real_codec *c) {
    return (size_t)c->low.m * (size_t)c->low.n;
}

/* That top-k sends; a packet that is sent has fewer than all. */
static size_t saved(const struct fr_real_codec *c) {
    return (size_t)c->low.rank * (size_t)(c->low.m + c->low.n);
}

struct fr_real_codec fr_real_codec_of(const struct fr_compression *kind, int m, int n, int rank,
                                      bool lazy) {
    return (struct fr_real_codec){.kind = kind,
                                  .low = {.m = m, .n = n, .rank = rank, .lazy = lazy}};
}

size_t fr_real_codec_size_B(const struct fr_kernels *k, const struct fr_real_codec *c) {
    return saved(c) * (sparse(c) ? k->size_B + sizeof(uint32_t) : k->size_B);
}

bool fr_real_codec_shrinks(const struct fr_kernels *k, const struct fr_real_codec *c) {
    return fr_real_codec_size_B(k, c) < values_of(c) * k->size_B;
}

bool fr_real_codec_open(const struct fr_kernels *k, uint64_t seed, uint64_t stream,
                        struct fr_real_codec *c) {
    struct fr_lowrank *low = &c->low;
    if (!sparse(c))
        return fr_lowrank_open(k, low->m, low->n, low->rank, low->lazy, seed, stream, low);
    c->packet = fr_real_alloc(k, (int64_t)(2 * saved(c)));
    c->scratch = fr_calloc(4 * values_of(c), sizeof *c->scratch);
    c->error = low->lazy ? fr_real_alloc(k, (int64_t)values_of(c)) : NULL;
    return c->packet && c->scratch && (!low->lazy || c->error);
}

void fr_real_codec_close(struct fr_real_codec *c) {
    fr_lowrank_close(&c->low);
    free(c->packet);
    free(c->scratch);
    free(c->error);
    *c = (struct fr_real_codec){.kind = c->kind};
}

/* Places of a packet's values, behind them. */
static uint32_t *places_of(const struct fr_kernels *k, const struct fr_real_codec *c,
                           const void *packet) {
    return fr_at(k, packet, saved(c));
}

static const void *encode_sparse(struct fr_real *real, struct fr_real_codec *c, void *matrix) {
    const struct fr_kernels *k = real->k;
    size_t n = values_of(c);
    uint32_t *places = places_of(k, c, c->packet);
    if (c->error) FR_COMPUTE(real, k->add(n, c->error, matrix));
    FR_COMPUTE(real, k->select_largest(n, saved(c), matrix, c->scratch, c->packet, places));
    if (!c->error) return c->packet;
    fr_real_codec_decode(real, c, c->packet, 1, 0, c->error);
    FR_COMPUTE(real, k->subtract(n, matrix, c->error));
    return c->packet;
}

const void *fr_real_codec_encode(struct fr_real *real, struct fr_real_codec *c, void *matrix) {
    const void *packet = c->low.factors;
    if (sparse(c))
        packet = encode_sparse(real, c, matrix);
    else
        fr_lowrank_encode(real, &c->low, matrix);
    if (c->watcher) c->watcher->tell(c->watcher, real, c, matrix, packet);
    return packet;
}

void fr_real_codec_decode(struct fr_real *real, const struct fr_real_codec *c,
                          const void *packets, int n, size_t stride_B, void *matrix) {
    const struct fr_kernels *k = real->k;
    if (!sparse(c)) {
        fr_lowrank_decode(real, &c->low, packets, 1, matrix);
        return;
    }
    FR_COMPUTE(real, memset(matrix, 0, values_of(c) * k->size_B));
    for (int i = 0; i < n; i++) {
        const void *packet = (const char *)packets + (size_t)i * stride_B;
        FR_COMPUTE(real, k->scatter_add(saved(c), packet, places_of(k, c, packet), matrix));
    }
}
