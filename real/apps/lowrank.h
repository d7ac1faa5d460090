/** @file
 *  PowerSGD on real numbers: an m x n matrix M as P Q^T of rank r, one power iteration from the
 *  last Q (Vogels, Karimireddy, Jaggi, NeurIPS 2019; Song et al. 2023, section 8).
 *
 *      encode   M' = M + e,  P = M' Q,  P orthonormalised by columns,  Q = M'^T P
 *      decode   P Q^T
 *      lazy     e = M' - P Q^T, saved for the next M: so the sum of what was decoded differs from
 *               the sum of what was encoded by the last e alone
 *
 *  Q starts random and is reused (warm start).  Columns of P are stored as rows, so that
 *  orthogonalising reads memory in order.
 */
#ifndef FR_REAL_APPS_LOWRANK_H
#define FR_REAL_APPS_LOWRANK_H

#include "real/apps/app.h"

struct fr_lowrank {
    int m, n, rank;
    bool lazy;
    void *factors; /* P^T (r x m), then Q^T (r x n): what is sent, in one piece */
    void *error;   /* e, m x n; NULL where not lazy */
};

/** Values sent for one matrix. */
static inline int64_t fr_lowrank_size(const struct fr_lowrank *c) {
    return (int64_t)c->rank * (c->m + c->n);
}

/** @return false when memory is exhausted; fr_lowrank_close in any case. */
bool fr_lowrank_open(const struct fr_kernels *k, int m, int n, int rank, bool lazy,
                     uint64_t seed, uint64_t stream, struct fr_lowrank *c);
void fr_lowrank_close(struct fr_lowrank *c);

/* The steps of an encoding; an all-reduce stands between them where ranks share Q. */
/** M += e in place. */
void fr_lowrank_add_error(struct fr_real *real, struct fr_lowrank *c, void *matrix);
/** P = M Q. */
void fr_lowrank_project(struct fr_real *real, struct fr_lowrank *c, const void *matrix);
/** Orthonormalise P, then Q = M^T P. */
void fr_lowrank_back_project(struct fr_real *real, struct fr_lowrank *c, const void *matrix);
/** e = M - P Q^T. */
void fr_lowrank_keep_error(struct fr_real *real, struct fr_lowrank *c, const void *matrix);

/** All of them: c->factors is what to send.  @p matrix gets e added. */
void fr_lowrank_encode(struct fr_real *real, struct fr_lowrank *c, void *matrix);
/** matrix := scale P Q^T of received factors. */
void fr_lowrank_decode(struct fr_real *real, const struct fr_lowrank *c, const void *factors,
                       double scale, void *matrix);

#endif
