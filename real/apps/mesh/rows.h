/** @file
 *  Shared parts of the units tensor and grid: rank r of tp computes rows r of W x.
 *
 *  A rank's block: W_r (outputs/tp x inputs), b_r (outputs/tp). */
#ifndef FR_REAL_APPS_MESH_ROWS_H
#define FR_REAL_APPS_MESH_ROWS_H

#include "real/apps/mesh/unit.h"

fr_status fr_rows_check(const struct fr_unit *u, struct fr_error *err);
int64_t fr_rows_parameters(const struct fr_unit *u);
void fr_rows_fill(const struct fr_real *real, struct fr_unit *u);
int64_t fr_rows_scratch(const struct fr_unit *u);
void fr_rows_keeps(const struct fr_unit *u, int64_t n[3]);
/** y_r = relu(W_r x + b_r), all-gather of it. */
fr_status fr_rows_forward(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                          void *next);
/** dx = sum over ranks of @p share W_r^T d_r, d_r being in kept->d. */
fr_status fr_rows_input(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                        double share, void *dx);
void fr_rows_weight(struct fr_real *real, struct fr_unit *u, const struct fr_unit_saved *saved);
int fr_rows_matrices(const struct fr_real *real, const struct fr_unit *u,
                     struct fr_unit_matrix *out, int capacity);

/** This rank's rows of @p whole, outputs x columns. */
static inline void *fr_rows_of(const struct fr_real *real, const struct fr_unit *u,
                               const void *whole) {
    return fr_at(real->k, whole, (size_t)u->tp_rank * (size_t)u->rows * (size_t)u->columns);
}

#endif
