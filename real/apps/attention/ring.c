#include "real/apps/attention/context.h"

#include <math.h>
#include <string.h>

enum { TAG_KEYS, TAG_GRADIENTS };

static int values_of(const struct fr_block_sizes *z) { return z->heads * z->head_dim; }

/* Keys and values of a rank. */
static int64_t pair_of(const struct fr_block_sizes *z) {
    return 2 * (int64_t)values_of(z) * fr_block_tokens(z);
}

static int64_t lay_out(const struct fr_kernels *k, const struct fr_block_sizes *z,
                       const void *base, struct fr_ring_scratch *r) {
    int64_t pair = pair_of(z), rows = (int64_t)z->heads * fr_block_tokens(z);
    const struct fr_block_part all[] = {
        {&r->here[0], pair}, {&r->here[1], pair},
        {&r->d[0], pair},    {&r->d[1], pair},
        {&r->coming, pair},  {&r->top, z->cp * rows},
        {&r->sum, rows},     {&r->factor, fr_block_sequence(z)}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all, base);
}

int64_t fr_ring_scratch_size(const struct fr_block_sizes *z) {
    struct fr_ring_scratch r;
    return lay_out(NULL, z, NULL, &r);
}

struct fr_ring_scratch fr_ring_scratch_at(const struct fr_kernels *k,
                                          const struct fr_block_sizes *z, const void *base) {
    struct fr_ring_scratch r = {0};
    lay_out(k, z, base, &r);
    return r;
}

/* ---- places ------------------------------------------------------------------------------------ */

/* A head of a sample, and the rank whose keys are here. */
struct at {
    int head, sample, from;
    int s, d, t; /* tokens of a sample, values of a head, tokens of a rank */
    double alpha;
};

static struct at place_of(const struct fr_block_sizes *z, int from, int i) {
    return (struct at){.head = i % z->heads,
                       .sample = i / z->heads,
                       .from = from,
                       .s = fr_block_sequence(z),
                       .d = z->head_dim,
                       .t = fr_block_tokens(z),
                       .alpha = 1 / sqrt(z->head_dim)};
}
static int places(const struct fr_block_sizes *z) { return z->heads * z->samples; }

/* Its rows among those of all heads, part by part: of queries, keys, values; or of keys, values alone. */
static void *rows_of(const struct fr_kernels *k, const struct fr_block_sizes *z, const void *x,
                     int part, const struct at *at) {
    size_t row = (size_t)((part * z->heads + at->head) * at->d);
    return fr_at(k, x, row * (size_t)at->t + (size_t)(at->sample * at->s));
}

/* Weights of its queries on the keys of a rank. */
static void *weights_of(const struct fr_kernels *k, const struct fr_block_sizes *z,
                        const void *p, const struct at *at) {
    size_t block = (size_t)((at->sample * z->heads + at->head) * z->cp + at->from);
    return fr_at(k, p, block * (size_t)at->s * (size_t)at->s);
}

/* A value a query, as it was after @p step. */
static void *queries_of(const struct fr_kernels *k, const struct fr_block_sizes *z,
                        const void *x, int step, const struct at *at) {
    size_t head = (size_t)((step * z->samples + at->sample) * z->heads + at->head);
    return fr_at(k, x, head * (size_t)at->s);
}

/* ---- steps ------------------------------------------------------------------------------------- */

static int rank_of(const struct fr_real *real, const struct fr_block_sizes *z, int before) {
    return (real->cp_rank - before + 2 * z->cp) % z->cp;
}

/* What is here goes to the rank behind, in two requests with what comes from the one before. */
static fr_status pass_on(struct fr_real *real, const struct fr_block_sizes *z, int tag,
                         const void *here, void *next, MPI_Request request[2]) {
    FR_TRY(fr_real_receive_begin(real, real->cp, rank_of(real, z, 1), tag, next, pair_of(z),
                                 &request[0]));
    return fr_real_send_begin(real, real->cp, rank_of(real, z, -1), tag, here, pair_of(z),
                              &request[1]);
}
static fr_status arrive(struct fr_real *real, MPI_Request request[2]) {
    FR_TRY(fr_real_wait(real, &request[0]));
    return fr_real_wait(real, &request[1]);
}

/* Exponentials of scores under the largest so far, and what was made under a smaller one shrinks; hidden
 * ones have no weight. */
static void weigh(struct fr_real *real, const struct fr_block_sizes *z,
                  const struct fr_ring_scratch *r, int step, const struct at *at, void *p,
                  void *c) {
    const struct fr_kernels *k = real->k;
    void *top = queries_of(k, z, r->top, step, at), *sum = queries_of(k, z, r->sum, 0, at);
    const void *before = step ? queries_of(k, z, r->top, step - 1, at) : NULL;
    size_t size_B = (size_t)at->s * k->size_B;
    if (z->causal && at->from > real->cp_rank) {
        FR_COMPUTE(real, memcpy(top, before, size_B));
        FR_COMPUTE(real, memset(p, 0, (size_t)at->s * size_B));
        return;
    }
    bool diagonal = z->causal && at->from == real->cp_rank;
    FR_COMPUTE(real, k->softmax_next(at->s, at->s, diagonal, at->alpha, before, top, sum,
                                     r->factor, p));
    if (step) FR_COMPUTE(real, k->scale_columns(at->d, at->s, at->t, false, r->factor, c));
}

static void attend(struct fr_real *real, const struct fr_block_sizes *z,
                   const struct fr_ring_scratch *r, int step, const void *qkv, const void *pair,
                   void *p, void *c) {
    const struct fr_kernels *k = real->k;
    for (int i = 0; i < places(z); i++) {
        struct at at = place_of(z, rank_of(real, z, step), i);
        void *own = weights_of(k, z, p, &at), *out = rows_of(k, z, c, 0, &at);
        int s = at.s, d = at.d, t = at.t;
        FR_COMPUTE(real, k->gemm(true, false, s, s, d, 1, rows_of(k, z, qkv, 0, &at), t,
                                 rows_of(k, z, pair, 0, &at), t, 0, own, s));
        weigh(real, z, r, step, &at, own, out);
        FR_COMPUTE(real, k->gemm(false, true, d, s, s, 1, rows_of(k, z, pair, 1, &at), t, own,
                                 s, step > 0, out, t));
    }
}

/* Exponentials become weights, and what they made with values a mean. */
static void normalise(struct fr_real *real, const struct fr_block_sizes *z,
                      const struct fr_ring_scratch *r, void *p, void *c) {
    const struct fr_kernels *k = real->k;
    for (int i = 0; i < places(z); i++)
        for (int step = 0; step < z->cp; step++) {
            struct at at = place_of(z, rank_of(real, z, step), i);
            const void *sum = queries_of(k, z, r->sum, 0, &at);
            FR_COMPUTE(real,
                       k->softmax_end(at.s, at.s, at.alpha, queries_of(k, z, r->top, step, &at),
                                      queries_of(k, z, r->top, z->cp - 1, &at), sum,
                                      weights_of(k, z, p, &at)));
            if (step == 0)
                FR_COMPUTE(real, k->scale_columns(at.d, at.s, at.t, true, sum,
                                                  rows_of(k, z, c, 0, &at)));
        }
}

fr_status fr_ring_forward(struct fr_real *real, const struct fr_block_sizes *z,
                          const struct fr_ring_scratch *r, const void *qkv, void *p, void *c) {
    const void *here = fr_at(real->k, qkv, (size_t)pair_of(z) / 2);
    MPI_Request request[2];
    for (int step = 0; step < z->cp; step++) {
        bool more = step + 1 < z->cp;
        if (more) FR_TRY(pass_on(real, z, TAG_KEYS, here, r->here[step % 2], request));
        attend(real, z, r, step, qkv, here, p, c);
        if (more) FR_TRY(arrive(real, request));
        here = r->here[step % 2];
    }
    normalise(real, z, r, p, c);
    return FR_OK;
}

/* ---- backward ---------------------------------------------------------------------------------- */

/* Half the places see the own keys before all others, while the first of these come, the other half last, while
 * the own keys' gradients come home. */
static int half(const struct fr_block_sizes *z) { return places(z) / 2; }

/* Of places from @p i on: dq is added to but at first, d := gradients of keys and values that are here. */
static void attend_back(struct fr_real *real, const struct fr_block_sizes *z,
                        const struct fr_ring_scratch *r, int step, int i, int end,
                        const void *qkv, const void *pair, const void *p, const void *dc,
                        void *dp, void *dqkv, void *dpair) {
    const struct fr_kernels *k = real->k;
    for (; i < end; i++) {
        bool first = step == 0 ? i < half(z) : step == 1 && i >= half(z);
        struct at at = place_of(z, rank_of(real, z, step), i);
        const void *own = weights_of(k, z, p, &at), *out = rows_of(k, z, dc, 0, &at);
        int s = at.s, d = at.d, t = at.t;
        FR_COMPUTE(real, k->gemm(true, false, s, s, d, 1, out, t, rows_of(k, z, pair, 1, &at),
                                 t, 0, dp, s));
        FR_COMPUTE(real, k->gemm(false, false, d, s, s, 1, out, t, own, s, 0,
                                 rows_of(k, z, dpair, 1, &at), t));
        FR_COMPUTE(real,
                   k->softmax_back(s, s, at.alpha, own, queries_of(k, z, r->sum, 0, &at), dp));
        FR_COMPUTE(real, k->gemm(false, true, d, s, s, 1, rows_of(k, z, pair, 0, &at), t, dp, s,
                                 !first, rows_of(k, z, dqkv, 0, &at), t));
        FR_COMPUTE(real, k->gemm(false, false, d, s, s, 1, rows_of(k, z, qkv, 0, &at), t, dp, s,
                                 0, rows_of(k, z, dpair, 0, &at), t));
    }
}

/* Of each query dc c. */
static void sum_rows(struct fr_real *real, const struct fr_block_sizes *z,
                     const struct fr_ring_scratch *r, const void *c, const void *dc) {
    const struct fr_kernels *k = real->k;
    for (int i = 0; i < places(z); i++) {
        struct at at = place_of(z, 0, i);
        FR_COMPUTE(real,
                   k->column_dots(at.d, at.s, at.t, rows_of(k, z, c, 0, &at),
                                  rows_of(k, z, dc, 0, &at), queries_of(k, z, r->sum, 0, &at)));
    }
}

/* Step @p step's gradients, with what the ranks before added to those of the same keys, go on. */
static fr_status send_sum(struct fr_real *real, const struct fr_block_sizes *z,
                          const struct fr_ring_scratch *r, int step, MPI_Request request[2]) {
    void *d = r->d[step % 2];
    if (step > 1) {
        FR_TRY(arrive(real, request));
        FR_COMPUTE(real, real->k->add((size_t)pair_of(z), r->coming, d));
    }
    return pass_on(real, z, TAG_GRADIENTS, d, r->coming, request);
}

fr_status fr_ring_backward(struct fr_real *real, const struct fr_block_sizes *z,
                           const struct fr_ring_scratch *r, const void *qkv, const void *p,
                           const void *c, const void *dc, void *dp, void *dqkv) {
    const void *here = fr_at(real->k, qkv, (size_t)pair_of(z) / 2);
    void *own = fr_at(real->k, dqkv, (size_t)pair_of(z) / 2);
    MPI_Request keys[2], sums[2];
    sum_rows(real, z, r, c, dc);
    for (int step = 0; step < z->cp; step++) {
        bool more = step + 1 < z->cp;
        void *d = step ? r->d[step % 2] : own;
        if (more) FR_TRY(pass_on(real, z, TAG_KEYS, here, r->here[step % 2], keys));
        attend_back(real, z, r, step, 0, step ? places(z) : half(z), qkv, here, p, dc, dp, dqkv,
                    d);
        if (step) FR_TRY(send_sum(real, z, r, step, sums));
        if (more) FR_TRY(arrive(real, keys));
        here = r->here[step % 2];
    }
    here = fr_at(real->k, qkv, (size_t)pair_of(z) / 2);
    attend_back(real, z, r, 0, half(z), places(z), qkv, here, p, dc, dp, dqkv, own);
    FR_TRY(arrive(real, sums));
    FR_COMPUTE(real, real->k->add((size_t)pair_of(z), r->coming, own));
    return FR_OK;
}
