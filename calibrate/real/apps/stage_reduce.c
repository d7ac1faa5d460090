/* Gradients over replicas after the last backward pass: one all-reduce over dp; of the first
 * `stages` stages the matrices go as P, then Q (with error feedback).  A tied embedding is
 * all-reduced with the other gradients over dp and then between the two ends, or fused, once over
 * 2 dp ranks. */
#include <string.h>

#include "calibrate/real/apps/stage.h"

void fr_rank_stage_matrices(const struct fr_rank_stage *s, int l,
                            struct fr_rank_stage_matrix out[FR_STAGE_MATRICES]) {
    int h = s->sizes.hidden, q = s->sizes.heads * s->sizes.head_dim, f = s->sizes.ffn;
    out[0] = (struct fr_rank_stage_matrix){s->g[l].qkv, 3 * q, h};
    out[1] = (struct fr_rank_stage_matrix){s->g[l].out, h, q};
    out[2] = (struct fr_rank_stage_matrix){s->g[l].up, f, h};
    out[3] = (struct fr_rank_stage_matrix){s->g[l].down, h, f};
}

/* Copy the gradients from @p from on that are in no matrix between the block and @p packed. */
static void pack_rest(const struct fr_real *real, const struct fr_rank_stage *s, int64_t n,
                      bool out, void *packed) {
    const struct fr_kernels *k = real->k;
    char *at = real->gradients, *end = (char *)real->gradients + (size_t)n * k->size_B;
    char *to = packed;
    for (int l = 0; l <= s->n_layers; l++) {
        struct fr_rank_stage_matrix shape[4];
        int count = l < s->n_layers ? 4 : 0;
        if (count) fr_rank_stage_matrices(s, l, shape);
        for (int i = 0; i <= count; i++) {
            char *stop = i < count ? shape[i].at : l == s->n_layers ? end : at;
            size_t size_B = (size_t)(stop - at);
            if (out)
                memcpy(at, to, size_B);
            else
                memcpy(to, at, size_B);
            to += size_B;
            at = stop;
            if (i < count) at += (size_t)shape[i].m * (size_t)shape[i].n * k->size_B;
        }
    }
}

/* P of all matrices in one all-reduce, then Q of all with the rest in another.  What a rank keeps
 * as its error is its own M - P Q^T with its own Q: then the sum over ranks of what was decoded
 * and kept is exactly the sum of M.  (PowerSGD keeps M less the mean; ours is a derivation.) */
static fr_status reduce_compressed(struct fr_real *real, struct fr_rank_stage *s, int64_t n,
                                   struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    double share = 1.0 / (double)real->run->plan->dp;
    int64_t n_p = 0, n_q = 0, rest = n;
    for (int i = 0; i < s->n_matrices; i++) {
        struct fr_rank_stage_matrix shape[4];
        struct fr_lowrank *c = &s->matrix[i];
        fr_rank_stage_matrices(s, i / 4, shape);
        fr_lowrank_add_error(real, c, shape[i % 4].at);
        fr_lowrank_project(real, c, shape[i % 4].at);
        int size = c->rank * c->m;
        FR_COMPUTE(real,
                   k->copy(1, size, c->factors, size, fr_at(k, s->factors, (size_t)n_p), size));
        n_p += size;
        rest -= (int64_t)c->m * c->n;
    }
    FR_TRY(fr_real_all_reduce(real, real->dp, s->factors, n_p, err));
    for (int i = 0, at = 0; i < s->n_matrices; i++) {
        struct fr_rank_stage_matrix shape[4];
        struct fr_lowrank *c = &s->matrix[i];
        int size = c->rank * c->m, q = c->rank * c->n;
        fr_rank_stage_matrices(s, i / 4, shape);
        FR_COMPUTE(real,
                   k->copy(1, size, fr_at(k, s->factors, (size_t)at), size, c->factors, size));
        at += size;
        fr_lowrank_back_project(real, c, shape[i % 4].at);
        fr_lowrank_keep_error(real, c, shape[i % 4].at);
        n_q += q;
    }
    for (int i = 0, at = 0; i < s->n_matrices; i++) {
        struct fr_lowrank *c = &s->matrix[i];
        int q = c->rank * c->n;
        FR_COMPUTE(real, k->copy(1, q, fr_at(k, c->factors, (size_t)(c->rank * c->m)), q,
                                 fr_at(k, s->factors, (size_t)at), q));
        at += q;
    }
    FR_COMPUTE(real, pack_rest(real, s, n, false, fr_at(k, s->factors, (size_t)n_q)));
    FR_TRY(fr_real_all_reduce(real, real->dp, s->factors, n_q + rest, err));
    for (int i = 0, at = 0; i < s->n_matrices; i++) {
        struct fr_rank_stage_matrix shape[4];
        struct fr_lowrank *c = &s->matrix[i];
        int q = c->rank * c->n;
        fr_rank_stage_matrices(s, i / 4, shape);
        FR_COMPUTE(real, k->scale((size_t)q, share, fr_at(k, s->factors, (size_t)at),
                                  fr_at(k, c->factors, (size_t)(c->rank * c->m))));
        /* Gradients are sums over replicas, Q's mean is what the next iteration starts from. */
        fr_lowrank_decode(real, c, c->factors, 1 / share, shape[i % 4].at);
        at += q;
    }
    FR_COMPUTE(real, pack_rest(real, s, n, true, fr_at(k, s->factors, (size_t)n_q)));
    return FR_OK;
}

fr_status fr_rank_stage_reduce(struct fr_real *real, struct fr_rank_stage *s,
                               struct fr_error *err) {
    const struct fr_plan *plan = real->run->plan;
    bool tied = real->run->workload->transformer.tied && s->stages > 1 && s->n_embedding > 0;
    bool fused = plan->compression.fused_embedding && tied;
    int64_t n = real->n_parameters - (fused ? s->n_embedding : 0);
    if (plan->dp > 1) {
        if (s->n_matrices)
            FR_TRY(reduce_compressed(real, s, n, err));
        else
            FR_TRY(fr_real_all_reduce(real, real->dp, real->gradients, n, err));
    }
    if (!tied) return FR_OK;
    return fr_real_all_reduce(real, fused ? s->both : s->ends, s->d_embedding, s->n_embedding,
                              err);
}
