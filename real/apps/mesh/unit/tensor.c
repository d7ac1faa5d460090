/* Tensor parallelism of a fully connected layer as Seal et al. 2025 has it (Eqs. 3 to 5, Table II):
 * rows of W over tp ranks, activations whole on every rank between layers.
 *
 *      forward   broadcast of the input x (n b), z_j = W_j x + b_j, y_j = relu(z_j),
 *                all-gather of y_j (n/p b from each)
 *      backward  reduce-scatter of dy (n b), dz_j = dy_j where y_j > 0, dW_j = dz_j x^T,
 *                partial dx = W_j^T dz_j, all-reduce of it (n b)
 *
 * The broadcast sends what all ranks have, and after the all-reduce every rank holds all of dx,
 * so that the reduce-scatter below it sums p equal copies: dx is scaled by 1/p, in its product.
 * Both are what that pipeline does and pays for (each collective's adjoint is the other's);
 * the lean division, all-gather forward and all-reduce backward, is the unit grid. */
#include "real/apps/mesh/rows.h"

static fr_status forward(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                         void *next) {
    if (u->tp > 1)
        FR_TRY(fr_real_broadcast(real, real->tp, saved->x, (int64_t)u->in * u->columns));
    return fr_rows_forward(real, u, saved, next);
}

static fr_status input(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                       void *dy, void *dx) {
    int64_t values = (int64_t)u->rows * u->columns;
    saved->d = u->splits   ? saved->own[1]
               : u->tp > 1 ? fr_at(real->k, u->scratch, (size_t)u->rows)
                           : dy;
    if (u->tp > 1)
        FR_TRY(fr_real_reduce_scatter(real, real->tp, dy, saved->d, values));
    else if (u->splits)
        FR_COMPUTE(real, real->k->copy(1, (int)values, dy, (int)values, saved->d, (int)values));
    return fr_rows_input(real, u, saved, 1.0 / u->tp, dx);
}

const struct fr_unit_kind fr_unit_tensor = {
    .name = "tensor",
    .shares = true,
    .check = fr_rows_check,
    .parameters = fr_rows_parameters,
    .fill = fr_rows_fill,
    .scratch = fr_rows_scratch,
    .keeps = fr_rows_keeps,
    .forward = forward,
    .input = input,
    .weight = fr_rows_weight,
    .matrices = fr_rows_matrices,
};
