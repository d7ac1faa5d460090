#include "real/apps/attention/context.h"

static bool shared(const struct fr_block_sizes *z) { return z->cp > 1; }
static bool exchanges(const struct fr_block_sizes *z) { return shared(z) && !z->ring; }

/* A ring has the scores of a rank's queries on the keys of one. */
static int64_t lay_out(const struct fr_kernels *k, const struct fr_block_sizes *z,
                       const void *base, struct fr_context_scratch *r, void **ring) {
    int64_t t = fr_block_tokens(z), s = z->sequence,
            exchanged = exchanges(z) ? (int64_t)z->heads * z->head_dim * t : 0;
    const struct fr_block_part all[] = {
        {&r->dp, z->flash ? fr_flash_scratch_size(z) : s * s},
        {&r->qkv, 3 * exchanged},
        {&r->heads, exchanged},
        {&r->sent, 3 * exchanged},
        {&r->arrived, 3 * exchanged},
        {ring, shared(z) && z->ring ? fr_ring_scratch_size(z) : 0}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all, base);
}

int64_t fr_context_scratch_size(const struct fr_block_sizes *z) {
    struct fr_context_scratch r;
    void *ring;
    return lay_out(NULL, z, NULL, &r, &ring);
}

struct fr_context_scratch fr_context_scratch_at(const struct fr_kernels *k,
                                                const struct fr_block_sizes *z,
                                                const void *base) {
    struct fr_context_scratch r = {0};
    void *ring = NULL;
    lay_out(k, z, base, &r, &ring);
    if (shared(z) && z->ring) r.ring = fr_ring_scratch_at(k, z, ring);
    return r;
}

/* ---- all-to-all -------------------------------------------------------------------------------- */

/* Sizes of a rank that has all tokens of 1/cp of the heads. */
static struct fr_block_sizes heads_of(const struct fr_block_sizes *z) {
    struct fr_block_sizes all = *z;
    if (z->cp > 1) all.heads /= z->cp;
    all.cp = 1;
    return all;
}

/* Between @p n groups of all the rank's heads, n q x t of its tokens, and packets for the cp ranks: of each
 * group 1/cp of its rows. */
static void move_heads(struct fr_real *real, const struct fr_block_sizes *z, int n, bool pack,
                       const void *from, void *to) {
    const struct fr_kernels *k = real->k;
    int t = fr_block_tokens(z), rows = z->heads / z->cp * z->head_dim;
    for (int r = 0; r < z->cp; r++)
        for (int i = 0; i < n; i++) {
            size_t packet = (size_t)((r * n + i) * rows) * (size_t)t,
                   own = (size_t)((i * z->cp + r) * rows) * (size_t)t;
            FR_COMPUTE(real, k->copy(rows, t, fr_at(k, from, pack ? own : packet), t,
                                     fr_at(k, to, pack ? packet : own), t));
        }
}

/* Between packets of the cp ranks, n q / cp x t each, and all tokens of these rows: of every sample those of
 * rank r are the r-th. */
static void move_samples(struct fr_real *real, const struct fr_block_sizes *z, int n, bool pack,
                         const void *from, void *to) {
    const struct fr_kernels *k = real->k;
    int t = fr_block_tokens(z), s = fr_block_sequence(z), all = t * z->cp,
        rows = n * z->heads / z->cp * z->head_dim;
    for (int r = 0; r < z->cp; r++)
        for (int j = 0; j < z->samples; j++) {
            size_t packet = (size_t)(r * rows) * (size_t)t + (size_t)(j * s),
                   whole = (size_t)(j * z->sequence + r * s);
            FR_COMPUTE(real,
                       k->copy(rows, s, fr_at(k, from, pack ? whole : packet), pack ? all : t,
                               fr_at(k, to, pack ? packet : whole), pack ? t : all));
        }
}

/* @p heads (n q / cp x all tokens) := from @p tokens (n q x the rank's), or back. */
static fr_status exchange(struct fr_real *real, const struct fr_block_sizes *z,
                          const struct fr_context_scratch *r, int n, bool back,
                          const void *from, void *to) {
    int64_t each = (int64_t)n * z->heads / z->cp * z->head_dim * fr_block_tokens(z);
    (back ? move_samples : move_heads)(real, z, n, true, from, r->sent);
    FR_TRY(fr_real_all_to_all(real, real->cp, r->sent, each, r->arrived));
    (back ? move_heads : move_samples)(real, z, n, false, r->arrived, to);
    return FR_OK;
}

/* ---- passes ------------------------------------------------------------------------------------ */

void *fr_context_made(const struct fr_block_sizes *z, const struct fr_context_scratch *r,
                      void *saved) {
    return exchanges(z) ? r->qkv : saved;
}

/* Where what the heads made of all tokens is: to be exchanged at once, or in tiles until the backward pass. */
static void *all_tokens(const struct fr_real *real, const struct fr_block_sizes *z,
                        const struct fr_context_scratch *r, const void *p) {
    if (!z->flash) return r->heads;
    return fr_at(real->k, p, 2 * (size_t)z->heads * (size_t)fr_block_tokens(z));
}

fr_status fr_context_again(struct fr_real *real, const struct fr_block_sizes *z,
                           const struct fr_context_scratch *r, const void *qkv, void *p,
                           void *c) {
    const struct fr_block_sizes all = heads_of(z);
    if (shared(z) && z->ring) return fr_ring_forward(real, z, &r->ring, qkv, p, c);
    void *made = exchanges(z) ? all_tokens(real, z, r, p) : c;
    if (z->flash)
        fr_flash_forward(real, &all, r->dp, qkv, p, made);
    else
        fr_attention_forward(real, &all, qkv, p, made);
    return FR_OK;
}

fr_status fr_context_forward(struct fr_real *real, const struct fr_block_sizes *z,
                             const struct fr_context_scratch *r, void *qkv, void *p, void *c) {
    if (exchanges(z)) FR_TRY(exchange(real, z, r, 3, false, r->qkv, qkv));
    FR_TRY(fr_context_again(real, z, r, qkv, p, c));
    return exchanges(z) ? exchange(real, z, r, 1, true, all_tokens(real, z, r, p), c) : FR_OK;
}

fr_status fr_context_backward(struct fr_real *real, const struct fr_block_sizes *z,
                              const struct fr_context_scratch *r, const void *qkv,
                              const void *p, const void *c, const void *dc, void *dqkv) {
    const struct fr_block_sizes all = heads_of(z);
    bool back = exchanges(z);
    if (shared(z) && z->ring)
        return fr_ring_backward(real, z, &r->ring, qkv, p, c, dc, r->dp, dqkv);
    const void *left = back ? r->heads : dc;
    void *made = back ? r->qkv : dqkv;
    if (back) FR_TRY(exchange(real, z, r, 1, false, dc, r->heads));
    if (z->flash)
        fr_flash_backward(real, &all, r->dp, qkv, p, back ? all_tokens(real, z, r, p) : c, left,
                          made);
    else
        fr_attention_backward(real, &all, qkv, p, left, r->dp, made);
    return back ? exchange(real, z, r, 3, true, r->qkv, dqkv) : FR_OK;
}
