/* Attention of a rank's own heads to all tokens of their samples. */
#include <math.h>

#include "real/apps/block.h"

/* Head @p i of sample @p j in rows of T tokens: part 0 queries, 1 keys, 2 values. */
static void *head(const struct fr_kernels *k, const struct fr_block_sizes *z, const void *qkv,
                  int part, int i, int j) {
    size_t row = (size_t)(part * z->heads + i) * (size_t)z->head_dim;
    return fr_at(k, qkv, row * (size_t)fr_block_tokens(z) + (size_t)(j * z->sequence));
}

static void *scores(const struct fr_kernels *k, const struct fr_block_sizes *z, const void *p,
                    int i, int j) {
    size_t s = (size_t)z->sequence;
    return fr_at(k, p, (size_t)(j * z->heads + i) * s * s);
}

void fr_attention_forward(struct fr_real *real, const struct fr_block_sizes *z, const void *qkv,
                          void *p, void *c) {
    const struct fr_kernels *k = real->k;
    int s = z->sequence, d = z->head_dim, t = fr_block_tokens(z);
    double alpha = 1 / sqrt(d);
    for (int j = 0; j < z->samples; j++)
        for (int i = 0; i < z->heads; i++) {
            void *pij = scores(k, z, p, i, j);
            FR_COMPUTE(real, k->gemm(true, false, s, s, d, 1, head(k, z, qkv, 0, i, j), t,
                                     head(k, z, qkv, 1, i, j), t, 0, pij, s));
            FR_COMPUTE(real, k->softmax(s, s, z->causal, alpha, pij));
            FR_COMPUTE(real, k->gemm(false, true, d, s, s, 1, head(k, z, qkv, 2, i, j), t, pij,
                                     s, 0, head(k, z, c, 0, i, j), t));
        }
}

void fr_attention_backward(struct fr_real *real, const struct fr_block_sizes *z,
                           const void *qkv, const void *p, const void *dc, void *dp,
                           void *dqkv) {
    const struct fr_kernels *k = real->k;
    int s = z->sequence, d = z->head_dim, t = fr_block_tokens(z);
    double alpha = 1 / sqrt(d);
    for (int j = 0; j < z->samples; j++)
        for (int i = 0; i < z->heads; i++) {
            const void *pij = scores(k, z, p, i, j), *dcij = head(k, z, dc, 0, i, j);
            FR_COMPUTE(real, k->gemm(true, false, s, s, d, 1, dcij, t, head(k, z, qkv, 2, i, j),
                                     t, 0, dp, s));
            FR_COMPUTE(real, k->gemm(false, false, d, s, s, 1, dcij, t, pij, s, 0,
                                     head(k, z, dqkv, 2, i, j), t));
            FR_COMPUTE(real, k->softmax_backward(s, s, alpha, pij, dp));
            FR_COMPUTE(real, k->gemm(false, true, d, s, s, 1, head(k, z, qkv, 1, i, j), t, dp,
                                     s, 0, head(k, z, dqkv, 0, i, j), t));
            FR_COMPUTE(real, k->gemm(false, false, d, s, s, 1, head(k, z, qkv, 0, i, j), t, dp,
                                     s, 0, head(k, z, dqkv, 1, i, j), t));
        }
}
