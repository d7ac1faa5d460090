/* 1.5D integrated model and data parallelism of a fully connected layer (Gholami et al. 2017) on a
 * grid of P_r = tp rows and P_c = dp columns; rows divide the outputs, columns the samples.
 *
 *      forward   y_r = relu(W_r x + b_r), all-gather of y over P_r          W x
 *      backward  partial dx = W_r^T dz_r, all-reduce of it over P_r         W^T dz
 *                dW_r = dz_r x^T, all-reduce of it with db_r over P_c       dz x^T */
#include "real/apps/mesh/rows.h"

static fr_status input(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                       void *dy, void *dx) {
    int values = u->rows * u->columns;
    void *local = fr_rows_of(real, u, dy);
    saved->d = u->splits ? saved->own[1] : local;
    if (u->splits) FR_COMPUTE(real, real->k->copy(1, values, local, values, saved->d, values));
    return fr_rows_input(real, u, saved, 1, dx);
}

const struct fr_unit_kind fr_unit_grid = {
    .name = "grid",
    .check = fr_rows_check,
    .parameters = fr_rows_parameters,
    .fill = fr_rows_fill,
    .scratch = fr_rows_scratch,
    .keeps = fr_rows_keeps,
    .forward = fr_rows_forward,
    .input = input,
    .weight = fr_rows_weight,
    .matrices = fr_rows_matrices,
};
