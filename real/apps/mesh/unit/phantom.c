/* Phantom parallelism of a fully connected layer (real/apps/mesh/ghost_neurons.h):
 *
 *      forward   z_j as there, y_j = relu(z_j + b_j)
 *      backward  delta_j = dy_j where y_j > 0, db_j = row sums                 Eqs. 14 to 16
 *
 * A rank's block: that of the product, b_j. */
#include "real/apps/ffn.h"
#include "real/apps/mesh/ghost_neurons.h"

static struct fr_ghost_neurons product_of(const struct fr_unit *u) {
    return (struct fr_ghost_neurons){.p = u->tp,
                                     .rank = u->tp_rank,
                                     .k = u->ghost,
                                     .in = u->in,
                                     .out = u->out,
                                     .columns = u->columns};
}

static fr_status check(const struct fr_unit *u, struct fr_error *err) {
    return fr_ghost_neurons_check(u->layer.inputs, u->layer.outputs, u->tp, u->ghost, err);
}

static size_t b_at(const struct fr_unit *u) {
    const struct fr_ghost_neurons g = product_of(u);
    return (size_t)fr_ghost_neurons_parameters(&g);
}

static int64_t parameters(const struct fr_unit *u) { return (int64_t)b_at(u) + u->out; }

static void fill(const struct fr_real *real, struct fr_unit *u) {
    const struct fr_ghost_neurons g = product_of(u);
    fr_ghost_neurons_fill(real->k, &g, real->run->seed,
                          (uint64_t)(FR_STREAM_LAYER + 64 * u->index), u->w);
}

static size_t ghost_neurons(const struct fr_unit *u) {
    return (size_t)u->ghost * (size_t)u->columns;
}

/* A bias' gradients; the ghost neurons' gradients of all ranks; ghost neurons of this rank, or
 * their gradients where these need not last. */
static int64_t scratch(const struct fr_unit *u) {
    return u->out + (int64_t)((size_t)(u->tp + 1) * ghost_neurons(u));
}
static void *all_scratch(const struct fr_real *real, const struct fr_unit *u) {
    return fr_at(real->k, u->scratch, (size_t)u->out);
}
static void *own_scratch(const struct fr_real *real, const struct fr_unit *u) {
    return fr_at(real->k, all_scratch(real, u), (size_t)u->tp * ghost_neurons(u));
}

/* Ghost neurons of all ranks; delta and dg where they must last. */
static void keeps(const struct fr_unit *u, int64_t n[3]) {
    n[0] = (int64_t)((size_t)u->tp * ghost_neurons(u));
    n[1] = u->splits ? (int64_t)u->out * u->columns : 0;
    n[2] = u->splits ? (int64_t)ghost_neurons(u) : 0;
}

static fr_status forward(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                         void *next) {
    const struct fr_kernels *k = real->k;
    const struct fr_ghost_neurons g = product_of(u);
    saved->y = next;
    FR_TRY(fr_ghost_neurons_forward(real, &g, u->w, saved->x, own_scratch(real, u),
                                    saved->own[0], next));
    FR_COMPUTE(real, k->bias_relu(u->out, u->columns, fr_at(k, u->w, b_at(u)), next));
    return FR_OK;
}

static fr_status input(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                       void *dy, void *dx) {
    const struct fr_kernels *k = real->k;
    const struct fr_ghost_neurons g = product_of(u);
    int values = u->out * u->columns;
    saved->d = u->splits ? saved->own[1] : dy;
    saved->more = u->splits ? saved->own[2] : own_scratch(real, u);
    if (u->splits) FR_COMPUTE(real, k->copy(1, values, dy, values, saved->d, values));
    fr_unit_relu_backward(real, u, u->out, saved->y, saved->d, fr_at(k, u->g, b_at(u)),
                          u->scratch);
    return fr_ghost_neurons_input(real, &g, u->w, saved->d, all_scratch(real, u), saved->more,
                                  dx);
}

static void weight(struct fr_real *real, struct fr_unit *u, const struct fr_unit_saved *saved) {
    const struct fr_ghost_neurons g = product_of(u);
    fr_ghost_neurons_weight(real, &g, u->weights, saved->x, saved->d, saved->own[0],
                            saved->more, u->g);
    u->weights = true;
}

static int matrices(const struct fr_real *real, const struct fr_unit *u,
                    struct fr_unit_matrix *out, int capacity) {
    const struct fr_ghost_neurons g = product_of(u);
    return fr_ghost_neurons_matrices(real, &g, u->g, out, capacity);
}

const struct fr_unit_kind fr_unit_phantom = {
    .name = "phantom",
    .divided = true,
    .check = check,
    .parameters = parameters,
    .fill = fill,
    .scratch = scratch,
    .keeps = keeps,
    .forward = forward,
    .input = input,
    .weight = weight,
    .matrices = matrices,
};
