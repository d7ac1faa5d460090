/*
 *      split, sum      all-gather and reduce-scatter; cSub: broadcast and reduce
 *      slice, concat   all-to-all, or all-gather and discard; cSub: scatter and gather */
#include "real/apps/subgrid.h"

/* A group's tokens lie beside one another, rank after rank: columns of part @p i of a matrix of
 * rows x (g tokens) go to or come from a packed rows x tokens block. */
static void columns(struct fr_real *real, const struct fr_subgrid *s, int rows, int tokens,
                    void *whole, void *packed, bool pack) {
    const struct fr_kernels *k = real->k;
    for (int i = 0; i < s->g; i++) {
        void *part = fr_at(k, packed, (size_t)i * (size_t)rows * (size_t)tokens);
        void *at = fr_at(k, whole, (size_t)(i * tokens));
        if (pack)
            FR_COMPUTE(real, k->copy(rows, tokens, at, s->g * tokens, part, tokens));
        else
            FR_COMPUTE(real, k->copy(rows, tokens, part, tokens, at, s->g * tokens));
    }
}

fr_status fr_subgrid_spread(struct fr_real *real, const struct fr_subgrid *s, bool slices,
                            int values, int t, const void *x, void *y) {
    const struct fr_kernels *k = real->k;
    int64_t n = (int64_t)values * t;
    int rows = values / s->g;
    if (s->g == 1) {
        FR_COMPUTE(real, k->copy(1, (int)n, x, 0, y, 0));
        return FR_OK;
    }
    if (s->c_sub && slices) return fr_real_scatter(real, s->group, x, n / s->g, y);
    if (s->c_sub) {
        if (s->subgrid == 0) FR_COMPUTE(real, k->copy(1, (int)n, x, 0, y, 0));
        return fr_real_broadcast(real, s->group, y, n);
    }
    if (!slices || s->gather_all) {
        FR_TRY(fr_real_all_gather(real, s->group, x, n, s->buffer));
        if (!slices) {
            columns(real, s, values, t, y, s->buffer, false);
            return FR_OK;
        }
        for (int i = 0; i < s->g; i++) { /* of every block only the rows that are ours */
            size_t from = (size_t)i * (size_t)n + (size_t)(s->subgrid * rows) * (size_t)t;
            FR_COMPUTE(real, k->copy(rows, t, fr_at(k, s->buffer, from), t,
                                     fr_at(k, y, (size_t)(i * t)), s->g * t));
        }
        return FR_OK;
    }
    FR_TRY(fr_real_all_to_all(real, s->group, x, (int64_t)rows * t, s->buffer));
    columns(real, s, rows, t, y, s->buffer, false);
    return FR_OK;
}

fr_status fr_subgrid_collect(struct fr_real *real, const struct fr_subgrid *s, bool slices,
                             int values, int t, void *y, void *x) {
    const struct fr_kernels *k = real->k;
    int64_t n = (int64_t)values * t;
    int rows = values / s->g;
    if (s->g == 1) {
        FR_COMPUTE(real, k->copy(1, (int)n, y, 0, x, 0));
        return FR_OK;
    }
    if (s->c_sub && slices) return fr_real_gather(real, s->group, y, n / s->g, x);
    /* SMPI's reduce writes where ranks other than the root would receive, and x need not be there. */
    if (s->c_sub) return fr_real_reduce(real, s->group, y, s->subgrid == 0 ? x : s->buffer, n);
    if (!slices) {
        columns(real, s, values, t, y, s->buffer, true);
        return fr_real_reduce_scatter(real, s->group, s->buffer, x, n);
    }
    if (s->gather_all) { /* everyone's rows for everyone's samples; ours are kept */
        FR_TRY(fr_real_all_gather(real, s->group, y, n, s->buffer));
        for (int i = 0; i < s->g; i++)
            FR_COMPUTE(real, k->copy(rows, t,
                                     fr_at(k, s->buffer,
                                           (size_t)i * (size_t)n + (size_t)(s->subgrid * t)),
                                     s->g * t, fr_at(k, x, (size_t)(i * rows) * (size_t)t), t));
        return FR_OK;
    }
    columns(real, s, rows, t, y, s->buffer, true);
    return fr_real_all_to_all(real, s->group, s->buffer, (int64_t)rows * t, x);
}
