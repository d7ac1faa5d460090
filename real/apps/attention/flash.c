/* Attention in tiles, whose scores are never all in memory (Dao et al., "FlashAttention", 2022, Algorithms 1 and 4).
 * Where they have tiles of keys, ours are two: the keys before a tile of queries, and its own.
 *
 *      forward    for each tile of queries the tiles of keys: each row's largest score and sum of exponentials run
 *                 along, and what was made under a smaller one shrinks; these two are kept of each row
 *      backward   weights are made again from them; for a row dp the softmax needs sum p dp over all keys, which is
 *                 dc c of its token
 *
 * With a mask only tiles up to the diagonal are made: of n tiles a side (1 + 1/n)/2 of all scores, where models/work/share.c
 * counts half. */
#include <math.h>

#include "real/apps/attention/context.h"

/* ROWS_MAX was set after a look at errors of long sequences (docs/evidence/2026-11-27-compositions-run.md): with more tiles
 * the share of scores that are made comes near that half. */
enum { TILES = 8, ROWS_MIN = 3, ROWS_MAX = 32 };

/* Rows of a tile. */
static int rows_of(const struct fr_block_sizes *z) {
    int rows = (z->sequence + TILES - 1) / TILES;
    return rows < ROWS_MIN ? ROWS_MIN : rows > ROWS_MAX ? ROWS_MAX : rows;
}

/* A head of a sample, and where its data are. */
struct tiles {
    struct fr_real *real;
    const struct fr_block_sizes *z;
    int head, sample, rows, s, d, t;
    double alpha;
    void *scores, *dp, *factor, *top, *sum, *inner; /* scratch memory */
};

/* Lay out scratch memory from @p base on; k NULL: none is there.  @return its values */
static int64_t lay_out(const struct fr_kernels *k, const struct fr_block_sizes *z,
                       const void *base, struct tiles *h) {
    const int64_t rows = rows_of(z), s = z->sequence;
    const struct fr_block_part all[] = {{&h->scores, rows * s}, {&h->dp, rows * s},
                                        {&h->factor, rows},     {&h->top, rows},
                                        {&h->sum, rows},        {&h->inner, s}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all, base);
}

static struct tiles tiles_of(struct fr_real *real, const struct fr_block_sizes *z,
                             void *scratch, int i) {
    struct tiles h = {.real = real,
                      .z = z,
                      .head = i % z->heads,
                      .sample = i / z->heads,
                      .rows = rows_of(z),
                      .s = z->sequence,
                      .d = z->head_dim,
                      .t = fr_block_tokens(z),
                      .alpha = 1 / sqrt(z->head_dim)};
    lay_out(real->k, z, scratch, &h);
    return h;
}

int64_t fr_flash_scratch_size(const struct fr_block_sizes *z) {
    struct tiles unused;
    return lay_out(NULL, z, NULL, &unused);
}

/* Tokens from @p from on of the head's rows of part @p part: of queries, keys, values; or of one alone. */
static void *part_at(const struct tiles *h, const void *x, int part, int from) {
    size_t row = (size_t)(part * h->z->heads + h->head) * (size_t)h->d;
    return fr_at(h->real->k, x, row * (size_t)h->t + (size_t)(h->sample * h->s) + (size_t)from);
}

/* The largest score (0) or the sum (1) of each query, from @p from on. */
static void *kept_at(const struct tiles *h, const void *p, int which, int from) {
    size_t place = (size_t)(which * h->z->samples + h->sample) * (size_t)h->z->heads;
    return fr_at(h->real->k, p, (place + (size_t)h->head) * (size_t)h->s + (size_t)from);
}

static int length_of(const struct tiles *h, int from) {
    return h->s - from < h->rows ? h->s - from : h->rows;
}

/* Keys of the tile that begins with key @p key, for queries from @p from on; 0: they see none there. */
static int keys_of(const struct tiles *h, int from, int key) {
    if (!h->z->causal) return h->s - key;
    return key < from ? from : key == from ? length_of(h, from) : 0;
}

/* h->scores (m queries x n keys) := exponentials under the largest so far. */
static void weigh(const struct tiles *h, const void *qkv, int from, int key, const void *before,
                  void *top, void *sum) {
    const struct fr_kernels *k = h->real->k;
    int m = length_of(h, from), n = keys_of(h, from, key);
    bool diagonal = h->z->causal && key == from;
    FR_COMPUTE(h->real, k->gemm(true, false, m, n, h->d, 1, part_at(h, qkv, 0, from), h->t,
                                part_at(h, qkv, 1, key), h->t, 0, h->scores, n));
    FR_COMPUTE(h->real, k->softmax_next(m, n, diagonal, h->alpha, before, top, sum, h->factor,
                                        h->scores));
}

static void attend(const struct tiles *h, const void *qkv, int from, void *p, void *c) {
    const struct fr_kernels *k = h->real->k;
    void *top = kept_at(h, p, 0, from), *sum = kept_at(h, p, 1, from),
         *out = part_at(h, c, 0, from);
    int m = length_of(h, from);
    for (int key = 0, n; (n = keys_of(h, from, key)) > 0; key += n) {
        weigh(h, qkv, from, key, key ? top : NULL, top, sum);
        if (key) FR_COMPUTE(h->real, k->scale_columns(h->d, m, h->t, false, h->factor, out));
        FR_COMPUTE(h->real, k->gemm(false, true, h->d, m, n, 1, part_at(h, qkv, 2, key), h->t,
                                    h->scores, n, key > 0, out, h->t));
    }
    FR_COMPUTE(h->real, k->scale_columns(h->d, m, h->t, true, sum, out));
}

void fr_flash_forward(struct fr_real *real, const struct fr_block_sizes *z, void *scratch,
                      const void *qkv, void *p, void *c) {
    for (int i = 0; i < z->heads * z->samples; i++) {
        struct tiles h = tiles_of(real, z, scratch, i);
        for (int from = 0; from < h.s; from += h.rows) attend(&h, qkv, from, p, c);
    }
}

/* Weights once more, and all gradients of a tile; those of keys and values begin with the first queries that see them. */
static void attend_back(const struct tiles *h, const void *qkv, const void *p, const void *dc,
                        int from, int key, void *dqkv) {
    struct fr_real *real = h->real;
    const struct fr_kernels *k = real->k;
    const void *top = kept_at(h, p, 0, from), *sum = kept_at(h, p, 1, from),
               *out = part_at(h, dc, 0, from);
    int m = length_of(h, from), n = keys_of(h, from, key), d = h->d, t = h->t;
    bool first = h->z->causal ? from == key : from == 0;
    weigh(h, qkv, from, key, top, h->top, h->sum);
    FR_COMPUTE(real, k->softmax_end(m, n, h->alpha, top, top, sum, h->scores));
    FR_COMPUTE(real, k->gemm(true, false, m, n, d, 1, out, t, part_at(h, qkv, 2, key), t, 0,
                             h->dp, n));
    FR_COMPUTE(real, k->gemm(false, false, d, n, m, 1, out, t, h->scores, n, !first,
                             part_at(h, dqkv, 2, key), t));
    FR_COMPUTE(real, k->softmax_back(m, n, h->alpha, h->scores,
                                     fr_at(k, h->inner, (size_t)from), h->dp));
    FR_COMPUTE(real, k->gemm(false, true, d, m, n, 1, part_at(h, qkv, 1, key), t, h->dp, n,
                             key > 0, part_at(h, dqkv, 0, from), t));
    FR_COMPUTE(real, k->gemm(false, false, d, n, m, 1, part_at(h, qkv, 0, from), t, h->dp, n,
                             !first, part_at(h, dqkv, 1, key), t));
}

void fr_flash_backward(struct fr_real *real, const struct fr_block_sizes *z, void *scratch,
                       const void *qkv, const void *p, const void *c, const void *dc,
                       void *dqkv) {
    for (int i = 0; i < z->heads * z->samples; i++) {
        struct tiles h = tiles_of(real, z, scratch, i);
        FR_COMPUTE(real, real->k->column_dots(h.d, h.s, h.t, part_at(&h, c, 0, 0),
                                              part_at(&h, dc, 0, 0), h.inner));
        for (int from = 0; from < h.s; from += h.rows)
            for (int key = 0, n; (n = keys_of(&h, from, key)) > 0; key += n)
                attend_back(&h, qkv, p, dc, from, key, dqkv);
    }
}
